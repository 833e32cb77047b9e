import type { Random } from "./random.ts";

/** The part of a JSON schema that the interface uses. */
export type Schema = {
  type?: string | readonly string[];
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  items?: Schema;
  enum?: readonly unknown[];
  const?: unknown;
  anyOf?: readonly Schema[];
  pattern?: string;
  minLength?: number;
  minimum?: number;
};

type Parameter = { name: string; in: string; required?: boolean; schema?: Schema };

export type OpenApi = {
  paths: Readonly<
    Record<
      string,
      Readonly<
        Record<
          string,
          { parameters?: readonly Parameter[]; requestBody?: { content: Readonly<Record<string, { schema: Schema }>> } }
        >
      >
    >
  >;
};

/** One operation of the server. */
export type Operation = { method: string; path: string; query: readonly Parameter[]; body: Schema | undefined };

export function operationsOf(openApi: OpenApi): Operation[] {
  return Object.entries(openApi.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters = [], requestBody }]) => ({
      path,
      method: method.toUpperCase(),
      query: parameters.filter((parameter) => parameter.in === "query"),
      body: requestBody && Object.values(requestBody.content)[0]?.schema,
    })),
  );
}

/** Valid values for fields by name: the schema does not know which apps and clients exist. */
export type Hints = Readonly<Record<string, (random: Random) => unknown>>;

/** A value that the schema allows, usually a meaningful one. */
export function fittingValue(schema: Schema, random: Random, hints: Hints, name = ""): unknown {
  const hint = Object.hasOwn(hints, name) ? hints[name] : undefined;
  if (hint && random.chance(0.95)) return hint(random);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return random.pick(schema.enum);
  if (schema.anyOf) return fittingValue(random.pick(schema.anyOf), random, hints, name);
  switch ([schema.type].flat()[0]) {
    case "object":
      return fittingObject(schema, random, hints);
    case "array":
      return Array.from({ length: random.integer(3) }, () => fittingValue(schema.items ?? {}, random, hints));
    case "integer":
      return Math.max(schema.minimum ?? 0, random.integer(1_000));
    case "number":
      return random.integer(1_000);
    case "boolean":
      return random.chance(0.5);
    case "null":
      return null;
    default:
      return random.word();
  }
}

function fittingObject(schema: Schema, random: Random, hints: Hints): Record<string, unknown> {
  const fields = Object.entries(schema.properties ?? {}).filter(
    ([name]) => schema.required?.includes(name) || random.chance(0.5),
  );
  return Object.fromEntries(fields.map(([name, inner]) => [name, fittingValue(inner, random, hints, name)]));
}
