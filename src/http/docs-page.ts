/** The part of an OpenAPI document that the docs show. */
export type OpenApi = {
  info: { title: string; description: string };
  paths: Record<string, Record<string, Operation>>;
};
type Schema = {
  type?: string | string[];
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  enum?: unknown[];
  anyOf?: Schema[];
  minLength?: number;
  maxLength?: number;
  maxItems?: number;
  pattern?: string;
};
type Operation = {
  /** Who may call an operation of the admin interface. */
  "x-access"?: string;
  summary?: string;
  description?: string;
  tags?: string[];
  deprecated?: boolean;
  parameters?: { name: string; in: string; required?: boolean; schema: Schema; description?: string }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
};

export type Section = { title: string; call: string; text: string; fields: Field[] };
type Field = { name: string; where: "query" | "body"; type: string; required: boolean; rule: string };

/** The operations as plain tables, from which both the docs page and docs/API.md are made. */
export function sectionsOf(openApi: OpenApi): Section[] {
  return Object.entries(openApi.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      title: `${operation.summary ?? path}${operation.deprecated ? " (deprecated)" : ""}`,
      call: `${method.toUpperCase()} ${path}`,
      text: operation.description ?? "",
      fields: [...queryFields(operation), ...bodyFields(operation)],
    })),
  );
}

function queryFields(operation: Operation): Field[] {
  return (operation.parameters ?? [])
    .filter((parameter) => parameter.in === "query")
    .map(({ name, schema, required, description }) => ({
      name,
      where: "query",
      type: typeOf(schema),
      required: required === true || name === "access_token",
      rule: ruleOf({ ...schema, description: description ?? schema.description ?? "" }),
    }));
}

function bodyFields(operation: Operation): Field[] {
  const schema = Object.values(operation.requestBody?.content ?? {})[0]?.schema;
  return Object.entries(schema?.properties ?? {}).map(([name, field]) => ({
    name,
    where: "body",
    type: typeOf(field),
    required: schema?.required?.includes(name) ?? false,
    rule: ruleOf(field),
  }));
}

function typeOf(schema: Schema): string {
  if (schema.anyOf) return schema.anyOf.map(typeOf).filter(Boolean).join(" or ");
  return [schema.type ?? ""]
    .flat()
    .filter((type) => type !== "null")
    .join(" or ");
}

function ruleOf(schema: Schema): string {
  const choices = schema.enum ? ` One of ${schema.enum.map((choice) => `\`${choice}\``).join(", ")}.` : "";
  return `${schema.description ?? ""}${choices}`;
}

export function docsPage(openApi: OpenApi): string {
  const sections = sectionsOf(openApi).map(
    (
      section,
    ) => `<section><h2>${escapeHtml(section.title)}</h2><p><code>${escapeHtml(section.call)}</code></p><p>${marked(section.text)}</p>
${section.fields.length === 0 ? "" : `<table><tr><th>Field</th><th>In</th><th>Type</th><th>Required</th><th>Rule</th></tr>${section.fields.map(row).join("")}</table>`}</section>`,
  );
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>${escapeHtml(openApi.info.title)}</title><style>${STYLE}</style>
<main><h1>${escapeHtml(openApi.info.title)}</h1><p>${marked(openApi.info.description)} The same as a file: <a href="/openapi.json">openapi.json</a>.</p>
${sections.join("\n")}</main></html>`;
}

function row(field: Field): string {
  return `<tr><td><code>${escapeHtml(field.name)}</code></td><td>${field.where}</td><td>${escapeHtml(field.type)}</td><td>${field.required ? "yes" : "no"}</td><td>${marked(field.rule)}</td></tr>`;
}

const STYLE = `:root{color-scheme:light dark}body{font:15px/1.5 system-ui,sans-serif;margin:0}main{max-width:60rem;margin:auto;padding:1rem}
table{border-collapse:collapse;width:100%}td,th{border-bottom:1px solid #8884;padding:.3rem .5rem;text-align:left;vertical-align:top}code{font-size:.92em}`;

function marked(text: string): string {
  return escapeHtml(text).replace(/`([^`]*)`/g, "<code>$1</code>");
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
