import { readFileSync } from "node:fs";
import { messageOf, UsageError } from "../errors.ts";

/** A secret as an option gives it: itself, `@file` with it inside, or `-` for standard input. Best not on the command line. */
export function readSecretOption(text: string): string {
  if (text !== "-" && !text.startsWith("@")) return text;
  try {
    return readFileSync(text === "-" ? 0 : text.slice(1), "utf8").replace(/\r?\n$/, "");
  } catch (error) {
    throw new UsageError(`The secret cannot be read: ${messageOf(error)}.`);
  }
}
