import { type Command, Option } from "commander";
import {
  beginSegmentExport,
  listSegments,
  removeSegment,
  renameSegment,
  savedSegments,
  saveSegment,
} from "../../admin/report/segments.ts";
import { systemClock } from "../../clock.ts";
import { SEGMENT_EXPORTS } from "../../contract/analysis/saved-segment.ts";
import { type SavedRef, type Segment, segment as segmentSchema } from "../../contract/analysis/segment.ts";
import { messageOfInvalid } from "../../contract/validation.ts";
import { everywhere } from "../../domain/access/role.ts";
import { UsageError } from "../../errors.ts";
import { textOf } from "../../report/analysis/duck-sql.ts";
import { segmentDays } from "../../report/analysis/saved-segment.ts";
import { segmentClientsSql } from "../../report/analysis/segment-sql.ts";
import { EXPORT_FORMATS, type ExportFormat } from "../../report/list/export.ts";
import { exportSegment } from "../../report/list/segment-users.ts";
import { commandLine, deskOf } from "../desk.ts";
import { readJson } from "../given-json.ts";
import { addListCommand } from "../list-command.ts";
import { parseDay, parseInteger, print } from "../output.ts";
import { writeOut } from "../output-end.ts";
import { type DatabaseSession, findApp, withDatabase } from "../session.ts";
import { withLake } from "./lake-session.ts";

type AppOptions = { app: number; json?: boolean };
type SaveOptions = AppOptions & { id?: number; condition?: string; file?: string };
type ExportOptions = AppOptions & {
  kind: (typeof SEGMENT_EXPORTS)[number];
  format: ExportFormat;
  from?: string;
  to?: string;
};

/** Conditions on users that are saved under a name. */
export function segmentCommands(program: Command): void {
  const segments = program.command("segments").description("Saved segments: users by what they did and who they are");

  addListCommand(segments, {
    description: "List the saved segments of an app",
    load: async ({ pool }, appId) => listSegments(pool, { appId, ...actor() }),
  });

  withApp(segments.command("save").description("Save a segment, or replace one"))
    .argument("<name>", "its name")
    .option("--id <id>", "id of the segment to replace", parseInteger)
    .option("--condition <json>", "the condition; docs/API.md describes it")
    .option("--file <path>", "a file with the condition; - for standard input")
    .action(save);

  withApp(segments.command("rename").description("Rename a segment"))
    .argument("<segment>", "its id or name", parseRef)
    .argument("<name>", "its new name")
    .action((ref: SavedRef, name: string, options: AppOptions) =>
      onSegment(ref, options, async (session, key) => {
        await renameSegment(segmentDesk(session), { ...key, name });
        return "renamed";
      }),
    );

  withApp(segments.command("remove").description("Remove a segment"))
    .argument("<segment>", "its id or name", parseRef)
    .option("--even-if-used", "also when saved views use it, which cannot be answered from then on")
    .action((ref: SavedRef, options: AppOptions & { evenIfUsed?: boolean }) =>
      onSegment(ref, options, async (session, key) => {
        await removeSegment(segmentDesk(session), { ...key, even_if_used: options.evenIfUsed ?? false });
        return "removed";
      }),
    );

  exportCommand(segments);
}

function exportCommand(segments: Command): void {
  segments
    .command("export")
    .description("Write the users of a segment, or their devices, to standard output")
    .argument("<segment>", "its id or name", parseRef)
    .requiredOption("--app <app>", "app id", parseInteger)
    .addOption(new Option("--kind <kind>", "client ids, or ids of devices").choices(SEGMENT_EXPORTS).default("clients"))
    .option("--from <day>", "first day for conditions without days; default: of the last 30 days", parseDay)
    .option("--to <day>", "last day; default today", parseDay)
    .addOption(
      new Option("--format <format>", "one JSON object per line, or CSV").choices(EXPORT_FORMATS).default("ndjson"),
    )
    .option("--json", "the same as --format ndjson")
    .action(exportUsers);
}

async function save(name: string, options: SaveOptions): Promise<void> {
  const { app: app_id, id, condition: text, file } = options;
  const given = readJson("condition", { ...(text !== undefined && { text }), ...(file !== undefined && { file }) });
  const problem = messageOfInvalid(segmentSchema, given);
  if (problem !== undefined) throw new UsageError(problem);
  const condition = given as unknown as Segment;
  await withDatabase(async (session) => {
    await findApp(session, app_id);
    const body = { app_id, name, condition, ...(id !== undefined && { segment_id: id }) };
    const { segmentId } = await saveSegment(segmentDesk(session), body);
    print({ segment_id: segmentId }, options, () => `Segment ${segmentId} was saved.`);
  });
}

async function exportUsers(ref: SavedRef, options: ExportOptions): Promise<void> {
  const { app: app_id, kind, format, from, to } = options;
  if ((from === undefined) !== (to === undefined)) throw new UsageError("Give both --from and --to, or neither.");
  const date_list = from === undefined ? undefined : [from, to!];
  const rows = await withLake(app_id, async ({ session, app, asker }) => {
    const body = { app_id, segment: ref, kind, format, ...(date_list && { date_list }) };
    const { condition } = await beginSegmentExport(deskOf(session), body);
    const days = segmentDays(date_list, { timeZone: app.timeZone, nowMs: systemClock() });
    const statement = textOf(segmentClientsSql({ segment: condition, date_list: days }));
    const pieces = await asker.askAll({ read: session.pool, app, statement });
    return exportSegment(session.pool, { appId: app_id, pieces, kind, format, write: writeOut });
  });
  process.stderr.write(`${rows} ${kind}\n`);
}

/** Works on a segment, and says what became of it. */
function onSegment(
  ref: SavedRef,
  options: AppOptions,
  work: (session: DatabaseSession, key: { app_id: number; segment_id: number }) => Promise<string>,
): Promise<void> {
  return withDatabase(async (session) => {
    const { appId } = await findApp(session, options.app);
    const [found] = await savedSegments(session.pool, { appId, wanted: [ref] });
    const { segmentId: segment_id, name } = found!;
    const done = await work(session, { app_id: appId, segment_id });
    print({ segment_id }, options, () => `The segment ${JSON.stringify(name)} was ${done}.`);
  });
}

/** Whoever has the command line may change everything. */
function actor() {
  return { name: commandLine().name, grants: everywhere("admin") };
}

function segmentDesk(session: DatabaseSession) {
  return { ...deskOf(session), actor: actor() };
}

function parseRef(text: string): SavedRef {
  return /^\d{1,9}$/.test(text) ? Number(text) : text;
}

function withApp(command: Command): Command {
  return command.requiredOption("--app <app>", "app id", parseInteger).option("--json", "print JSON");
}
