import { open } from "node:fs/promises";
import type { Readable } from "node:stream";
import { messageOf, UsageError } from "../errors.ts";
import { print } from "./output.ts";

/** Passes a file to an import, and prints the number of its rows. */
export async function takeFile(
  path: string,
  options: { json?: boolean },
  run: (file: Readable) => Promise<number>,
): Promise<void> {
  // Opened before anything else, so that a missing file is reported in one sentence.
  const file = path === "-" ? process.stdin : (await open(path).catch(unreadable)).createReadStream();
  try {
    const rows = await run(file);
    print({ rows }, options, () => `${rows} rows were imported.`);
  } finally {
    file.destroy();
  }
}

function unreadable(error: unknown): never {
  throw new UsageError(`The file cannot be read: ${messageOf(error)}.`);
}
