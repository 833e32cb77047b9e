import { type Command, Option } from "commander";
import { beginExport } from "../../admin/report/exports.ts";
import { UsageError } from "../../errors.ts";
import { withColdReader } from "../../lake/cold-reader.ts";
import { EXPORT_FORMATS, type ExportFormat, type ExportOf, exportRows } from "../../report/list/export.ts";
import { deskOf } from "../desk.ts";
import { parseDay, parseInteger } from "../output.ts";
import { writeOut } from "../output-end.ts";
import { withDatabase } from "../session.ts";

type Days = { from: string; to: string };
type ExportOptions = { app: number; format: ExportFormat } & Days;

export function exportCommand(program: Command): void {
  const command = program.command("export").description("Write stored data to standard output, from one snapshot");

  add(command, "events", "Events of local days, both included", () => ({}));
  add(command, "orders", "Orders paid on local days, both included, as the console lists them", ({ from, to }) => ({
    event_filtering: { PayEventTime: [from, to] },
  }));
  add(command, "users", "Users registered on local days, both included, as the user list shows them", (days) => ({
    user_filtering: { create_date_list: [days.from, days.to] },
  }));
}

type Filter = Pick<Parameters<typeof beginExport>[1], "user_filtering" | "event_filtering">;

function add(command: Command, kind: ExportOf["kind"], text: string, filterOf: (days: Days) => Filter): void {
  command
    .command(kind)
    .description(text)
    .requiredOption("--app <app>", "app id", parseInteger)
    .requiredOption("--from <day>", "first day", parseDay)
    .requiredOption("--to <day>", "last day", parseDay)
    .addOption(
      new Option("--format <format>", "one JSON object per line, or CSV").choices(EXPORT_FORMATS).default("ndjson"),
    )
    .option("--json", "the same as --format ndjson")
    .action((options: ExportOptions) =>
      withDatabase(async (session) => {
        if (options.to < options.from) throw new UsageError("--to is before --from.");
        const { app: app_id, from, to, format } = options;
        const asked = { app_id, kind, from, to, format, ...filterOf({ from, to }) };
        const { app, what } = await beginExport(deskOf(session), asked);
        const rows = await withColdReader(session.config, (cold) =>
          exportRows(session.pool, app, { what, format, write: writeOut, cold }),
        );
        process.stderr.write(`${rows} ${kind}\n`);
      }),
    );
}
