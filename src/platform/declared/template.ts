import { ApiError } from "../../errors.ts";
import { type Skip, skip } from "../connector/prepared.ts";
import { ACCOUNT_PREFIX } from "./placeholder.ts";

/** A place for a value. Without one, nothing is sent; if it is optional, its field is left out. */
type Hole = { kind: "hole"; name: string; isOptional: boolean };
type Part = { kind: "text"; text: string } | Hole;

/** A text with placeholders. `isNumber`: a single placeholder whose value stands in JSON without quotes. */
export type Template = { parts: readonly Part[]; isNumber: boolean };

/** Named templates, such as the parameters of a query. */
export type Entries = readonly (readonly [name: string, template: Template])[];

/** What a place allows: the names of placeholders there, and whether it can hold a number. */
export type Place = { where: string; names: readonly string[]; takesNumbers: boolean };

/** `{{` and `}}` are braces; everything else in braces is a placeholder. */
const TOKEN = /\{\{|\}\}|\{([^{}]*)\}|[{}]/g;
const INNER = /^([a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)?)(\?)?(:number)?$/;

export function readTemplate(text: string, { where, names, takesNumbers }: Place): Template {
  const parts: Part[] = [];
  let [at, isNumber] = [0, false];
  for (const found of text.matchAll(TOKEN)) {
    if (found.index > at) parts.push({ kind: "text", text: text.slice(at, found.index) });
    at = found.index + found[0].length;
    if (found[0] === "{{" || found[0] === "}}") {
      parts.push({ kind: "text", text: found[0].charAt(0) });
      continue;
    }
    if (found[1] === undefined)
      throw bad(`${where}: a single ${found[0]} is no placeholder; write ${found[0]}${found[0]} for the sign itself.`);
    const [, name = "", optional, number] = INNER.exec(found[1]) ?? [];
    if (!names.includes(name))
      throw bad(`${where}: ${found[0]} is not a placeholder here; these are: ${listed(names)}.`);
    parts.push({ kind: "hole", name, isOptional: optional !== undefined });
    if (number !== undefined) isNumber = true;
  }
  if (at < text.length) parts.push({ kind: "text", text: text.slice(at) });
  if (isNumber && (!takesNumbers || parts.length > 1))
    throw bad(
      `${where}: :number makes a whole value of JSON a number, such as "{time_s:number}"; it has no place here.`,
    );
  return { parts, isNumber };
}

function listed(names: readonly string[]): string {
  return names.map((name) => `{${name}}`).join(", ");
}

export function namesIn({ parts }: Template): string[] {
  return parts.flatMap((part) => (part.kind === "hole" ? [part.name] : []));
}

/** `left_out`: an optional placeholder has no value. */
export type Filled = { kind: "text"; text: string } | { kind: "left_out" } | Skip;

export function filled({ parts, isNumber }: Template, valueFor: (name: string) => string): Filled {
  let text = "";
  let isLeftOut = false;
  for (const part of parts) {
    const value = part.kind === "text" ? part.text : valueFor(part.name);
    if (part.kind === "hole" && value === "") {
      if (!part.isOptional) return lackOf(part.name);
      isLeftOut = true;
    }
    text += value;
  }
  if (isLeftOut) return { kind: "left_out" };
  if (isNumber && !NUMBER.test(text)) return skip(`The value of ${namesIn({ parts, isNumber })[0]} is not a number.`);
  return { kind: "text", text };
}

/** The text with nothing in place of missing optional values, as signatures are made. */
export function textIn(
  { parts }: Template,
  valueFor: (name: string) => string,
): Extract<Filled, { kind: "text" }> | Skip {
  let text = "";
  for (const part of parts) {
    const value = part.kind === "text" ? part.text : valueFor(part.name);
    if (part.kind === "hole" && value === "" && !part.isOptional) return lackOf(part.name);
    text += value;
  }
  return { kind: "text", text };
}

/** The forms of JSON, so that the digits of an id stay as they are. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;

function lackOf(name: string): Skip {
  return name.startsWith(ACCOUNT_PREFIX)
    ? skip(`The account has no \`${name.slice(ACCOUNT_PREFIX.length)}\`.`)
    : skip(`The conversion has no ${name}.`);
}

/** The entries that have a value. */
export function filledEntries(
  entries: Entries,
  valueFor: (name: string) => string,
): { kind: "entries"; entries: Record<string, string> } | Skip {
  const values: [string, string][] = [];
  for (const [name, template] of entries) {
    const value = filled(template, valueFor);
    if (value.kind === "skip") return value;
    if (value.kind === "text") values.push([name, value.text]);
  }
  return { kind: "entries", entries: Object.fromEntries(values) };
}

function bad(message: string): ApiError {
  return new ApiError("badParameter", message);
}
