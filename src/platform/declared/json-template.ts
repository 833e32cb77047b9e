import { isObject, type JsonValue } from "../../domain/json.ts";
import { ApiError } from "../../errors.ts";
import type { Skip } from "../connector/prepared.ts";
import { assertNoSecret } from "./given.ts";
import { filled, namesIn, type Place, readTemplate, type Template } from "./template.ts";

/** A JSON body whose texts are templates. Everything else is written as it was given. */
export type JsonTemplate =
  | { kind: "literal"; json: string }
  | { kind: "text"; template: Template }
  | { kind: "list"; items: readonly JsonTemplate[] }
  | { kind: "object"; members: readonly (readonly [name: string, value: JsonTemplate])[] };

const DEPTH_MAX = 8;

export function readJsonTemplate(given: JsonValue, place: Place, depth = 0): JsonTemplate {
  if (depth > DEPTH_MAX) throw new ApiError("badParameter", `${place.where} is nested too deeply.`);
  if (typeof given === "string") return { kind: "text", template: readTemplate(given, place) };
  if (Array.isArray(given))
    return { kind: "list", items: given.map((item) => readJsonTemplate(item, place, depth + 1)) };
  if (!isObject(given)) return { kind: "literal", json: JSON.stringify(given) };
  const members = Object.entries(given).map(([name, member]) => {
    const inner = { ...place, where: `${place.where}.${name}` };
    const value = readJsonTemplate(member, inner, depth + 1);
    if (value.kind === "text" && namesIn(value.template).length === 0) assertNoSecret(inner.where, name);
    return [name, value] as const;
  });
  return { kind: "object", members };
}

export function templatesIn(node: JsonTemplate): Template[] {
  switch (node.kind) {
    case "literal":
      return [];
    case "text":
      return [node.template];
    case "list":
      return node.items.flatMap(templatesIn);
    case "object":
      return node.members.flatMap(([, value]) => templatesIn(value));
  }
}

/** The names of the members with such a text. */
export function membersWith(node: JsonTemplate, isSuch: (template: Template) => boolean): string[] {
  switch (node.kind) {
    case "literal":
    case "text":
      return [];
    case "list":
      return node.items.flatMap((item) => membersWith(item, isSuch));
    case "object":
      return node.members.flatMap(([name, value]) =>
        value.kind === "text" && isSuch(value.template) ? [name] : membersWith(value, isSuch),
      );
  }
}

type FilledJson = { kind: "json"; json: string } | { kind: "left_out" } | Skip;

/** The JSON text. An object or list of which everything was left out is left out too. */
export function filledJson(node: JsonTemplate, valueFor: (name: string) => string): FilledJson {
  switch (node.kind) {
    case "literal":
      return { kind: "json", json: node.json };
    case "text": {
      const value = filled(node.template, valueFor);
      if (value.kind !== "text") return value;
      return { kind: "json", json: node.template.isNumber ? value.text : JSON.stringify(value.text.toWellFormed()) };
    }
    case "list":
      return joined(
        node.items.map((item) => ["", filledJson(item, valueFor)]),
        "[]",
      );
    case "object":
      return joined(
        node.members.map(([name, value]) => [`${JSON.stringify(name)}:`, filledJson(value, valueFor)]),
        "{}",
      );
  }
}

function joined(parts: readonly (readonly [before: string, value: FilledJson])[], brackets: "[]" | "{}"): FilledJson {
  const texts: string[] = [];
  for (const [before, value] of parts) {
    if (value.kind === "skip") return value;
    if (value.kind === "json") texts.push(before + value.json);
  }
  if (texts.length === 0 && parts.length > 0) return { kind: "left_out" };
  return { kind: "json", json: `${brackets.charAt(0)}${texts.join(",")}${brackets.charAt(1)}` };
}
