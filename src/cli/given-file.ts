import { open } from "node:fs/promises";
import type { Readable } from "node:stream";
import type { Command } from "commander";
import type { Desk } from "../admin/desk.ts";
import { messageOf, UsageError } from "../errors.ts";
import { deskOf } from "./desk.ts";
import { parseInteger, print } from "./output.ts";
import { withDatabase } from "./session.ts";

type AppImport = (desk: Desk, given: { body: { app_id: number; csv: string }; file: Readable }) => Promise<number>;

/** Adds `import <file> --app <app>`. */
export function addImportCommand(parent: Command, description: string, take: AppImport): void {
  parent
    .command("import")
    .description(description)
    .argument("<file>", "the file; - for standard input")
    .requiredOption("--app <app>", "app id", parseInteger)
    .option("--json", "print JSON")
    .action((path: string, options: { app: number; json?: boolean }) =>
      withDatabase((session) => {
        const body = { app_id: options.app, csv: "" };
        return takeFile(path, options, (file) => take(deskOf(session), { body, file }));
      }),
    );
}

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
