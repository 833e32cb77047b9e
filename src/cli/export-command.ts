import { once } from "node:events";
import type { Command } from "commander";
import { fetchEvents, openEventCursor } from "../db/event.ts";
import { inTransaction } from "../db/pool.ts";
import { addDays } from "../domain/calendar.ts";
import { UsageError } from "../errors.ts";
import { parseDay, parseInteger } from "./output.ts";
import { findApp, withDatabase } from "./session.ts";

type ExportOptions = { app: number; from: string; to: string };

export function exportCommand(program: Command): void {
  program
    .command("export")
    .description("Write stored data to standard output")
    .command("events")
    .description("Events of local days, both included, as one JSON object a line")
    .requiredOption("--app <app>", "app id", parseInteger)
    .requiredOption("--from <day>", "first day", parseDay)
    .requiredOption("--to <day>", "last day", parseDay)
    .option("--json", "the output is JSON anyway")
    .action((options: ExportOptions) =>
      withDatabase(async (session) => {
        if (options.to < options.from) throw new UsageError("--to lies before --from.");
        const app = await findApp(session, options.app);
        const events = await inTransaction(session.pool, async (tx) => {
          // One cursor in one transaction: a consistent picture, in the memory of one page.
          await openEventCursor(tx, { appId: app.appId, fromDay: options.from, untilDay: addDays(options.to, 1) });
          let count = 0;
          for (let page = await fetchEvents(tx); page.length > 0; page = await fetchEvents(tx)) {
            const lines = page.map(
              (event) =>
                `{"client_id":${JSON.stringify(event.clientId)},"type":"${event.type}","event":${JSON.stringify(event.event)},"time":${event.atMs},"properties":${event.properties},"received_at":${event.receivedAtMs}}\n`,
            );
            if (!process.stdout.write(lines.join(""))) await once(process.stdout, "drain");
            count += page.length;
          }
          return count;
        });
        process.stderr.write(`${events} events\n`);
      }),
    );
}
