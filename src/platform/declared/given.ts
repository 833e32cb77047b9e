import { isObject, type JsonObject, type JsonValue } from "../../domain/json.ts";
import { ApiError } from "../../errors.ts";

/** Refuses names that a part of a declaration does not have: a mistyped one would be ignored. */
export function assertNames(where: string, given: JsonObject, names: readonly string[]): void {
  const stray = Object.keys(given).find((name) => !names.includes(name));
  if (stray === undefined) return;
  throw bad(`${where} has no field ${JSON.stringify(stray)}; its fields are ${names.join(", ")}.`);
}

const SECRET_NAME = /^authorization$|token$|secret$|password$|[-_]key$|^key$|(?:^|[-_])sign$|signature$/i;

/** Refuses a fixed text under the name of a secret: everybody who reads settings sees declarations. */
export function assertNoSecret(where: string, name: string): void {
  if (!SECRET_NAME.test(name)) return;
  throw bad(`${where}: a secret belongs to the account, where it is encrypted; write {account.NAME} instead.`);
}

/** A list of texts; numbers and truth values count as their texts. */
export function textsOf(where: string, given: JsonValue): string[] {
  const texts = Array.isArray(given) ? given.map(textOf) : [undefined];
  const known = texts.filter((text) => text !== undefined);
  if (known.length < texts.length) throw bad(`${where} must be a list of texts.`);
  return known;
}

/** Named texts; a missing table is an empty one. */
export function tableOf(where: string, given: JsonValue | undefined): [name: string, text: string][] {
  if (given === undefined) return [];
  if (!isObject(given)) throw bad(`${where} must be an object of texts.`);
  return Object.entries(given).map(([name, value]) => {
    const text = textOf(value);
    if (text === undefined) throw bad(`${where}.${name} must be a text.`);
    return [name, text];
  });
}

/** One of a closed list; the first one when nothing is given. */
export function oneOf<Choice extends string>(
  where: string,
  given: JsonValue | undefined,
  choices: readonly [Choice, ...Choice[]],
): Choice {
  if (given === undefined) return choices[0];
  const chosen = choices.find((choice) => choice === given);
  if (chosen === undefined) throw bad(`${where} must be ${choices.join(" or ")}.`);
  return chosen;
}

function textOf(value: JsonValue): string | undefined {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
}

function bad(message: string): ApiError {
  return new ApiError("badParameter", message);
}
