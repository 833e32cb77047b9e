import { readFileSync } from "node:fs";
import type { JsonObject } from "../domain/json.ts";
import { messageOf, UsageError } from "../errors.ts";

/** JSON that a command gets as an option of its own name, or with `--file`; - is standard input. */
export function readJson(name: string, { text, file }: { text?: string; file?: string }): JsonObject {
  if ((text === undefined) === (file === undefined)) throw new UsageError(`Give --${name} or --file.`);
  const given = text ?? readFileSync(file === "-" ? 0 : file!, "utf8");
  try {
    return JSON.parse(given) as JsonObject;
  } catch (error) {
    throw new UsageError(`The ${name} is not JSON: ${messageOf(error)}`);
  }
}
