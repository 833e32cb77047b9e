import { once } from "node:events";
import { type Command, Option } from "commander";
import { addDays } from "../../domain/calendar.ts";
import { UsageError } from "../../errors.ts";
import { EXPORT_FORMATS, type ExportFormat, type ExportOf, exportRows } from "../../report/list/export.ts";
import { noteCommand } from "../desk.ts";
import { parseDay, parseInteger } from "../output.ts";
import { findApp, withDatabase } from "../session.ts";

type Days = { from: string; to: string };
type ExportOptions = { app: number; format: ExportFormat } & Days;

export function exportCommand(program: Command): void {
  const command = program.command("export").description("Write stored data to standard output, from one snapshot");

  add(command, "events", "Events of local days, both included", ({ from, to }) => ({
    kind: "events",
    fromDay: from,
    untilDay: addDays(to, 1),
  }));
  add(command, "orders", "Orders paid on local days, both included, as the order list shows them", ({ from, to }) => ({
    kind: "orders",
    filter: { user_filtering: {}, event_filtering: { PayEventTime: [from, to] } },
  }));
  add(command, "users", "Users registered on local days, both included, as the user list shows them", (days) => ({
    kind: "users",
    filter: { user_filtering: { create_date_list: [days.from, days.to] }, event_filtering: {} },
  }));
}

function add(command: Command, name: ExportOf["kind"], text: string, whatOf: (days: Days) => ExportOf): void {
  command
    .command(name)
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
        const app = await findApp(session, options.app);
        const { from, to, format } = options;
        await noteCommand(session, `export ${name}`, { appId: app.appId, details: { from, to, format } });
        const rows = await exportRows(session.pool, app, { what: whatOf(options), format: options.format, write });
        process.stderr.write(`${rows} ${name}\n`);
      }),
    );
}

async function write(text: string): Promise<void> {
  if (!process.stdout.write(text)) await once(process.stdout, "drain");
}
