import { readFileSync } from "node:fs";
import { messageOf, UsageError } from "../errors.ts";

/** The secret of an option: the text itself, `@file`, or `-` for standard input. Other users can see a command line. */
export function readSecretOption(text: string): string {
  if (text !== "-" && !text.startsWith("@")) return text;
  try {
    return readFileSync(text === "-" ? 0 : text.slice(1), "utf8").replace(/\r?\n$/, "");
  } catch (error) {
    throw new UsageError(`The secret cannot be read: ${messageOf(error)}.`);
  }
}
