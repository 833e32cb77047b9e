import type { Command } from "commander";
import type pg from "pg";
import type { Config } from "../../config.ts";
import { loadAppRules } from "../../db/app.ts";
import { countColdDays } from "../../db/cold-event.ts";
import { loadLakeApps } from "../../db/lake-app.ts";
import { loadLakeTotals } from "../../db/lake-file.ts";
import { countLakeMarks } from "../../db/lake-mark.ts";
import { type LakeState, loadLakeState } from "../../db/lake-state.ts";
import { UsageError } from "../../errors.ts";
import { print, tableOf } from "../output.ts";
import { withDatabase } from "../session.ts";
import { lakePushCommand } from "./lake-push-command.ts";

type Options = { json?: boolean; app?: string };

export function lakeCommands(program: Command): void {
  const lake = program.command("lake").description("Events, users, orders and costs in columns (docs/LAKE.md)");
  lake
    .command("status")
    .description("Show what is in files, up to which receipt, and how many days wait to be written")
    .option("--json", "print JSON")
    .action((options: Options) => withDatabase(({ pool, config }) => showStatus(pool, config, options)));
  lake
    .command("verify")
    .description("Compare the files with the tables, day by day, and the events with the ledger")
    .option("--app <id>", "only this app")
    .option("--json", "print JSON")
    .action((options: Options) => withDatabase(({ pool, config }) => verify(pool, config, options)));
  lakePushCommand(lake);
}

async function showStatus(pool: pg.Pool, { lakeBucket }: Config, options: Options): Promise<void> {
  const totals = await loadLakeTotals(pool);
  const marks = await countLakeMarks(pool);
  const cold = await countColdDays(pool);
  const rows = (await loadLakeApps(pool)).flatMap(({ appId, writtenUntilMs }) =>
    totals
      .filter((total) => total.appId === appId)
      .map(({ kind, days, files, rows: count, bytes }) => ({
        app_id: appId,
        table: kind,
        days,
        ...(kind === "events" && { cold_days: cold.find((one) => one.appId === appId)?.days ?? 0 }),
        files,
        rows: count,
        bytes,
        waiting_days: marks.find((mark) => mark.appId === appId && mark.kind === kind)?.days ?? 0,
        received_until: new Date(writtenUntilMs).toISOString(),
      })),
  );
  const files = await loadLakeState(pool, "files");
  const bucket = await loadLakeState(pool, "bucket");
  const status = { tables: rows, failure: files?.failure ?? "", bucket: bucket ? bucketStatus(bucket) : null };
  print(status, options, () =>
    [
      rows.length === 0 ? "Nothing has been written yet." : tableOf(rows),
      ...(status.failure === "" ? [] : [`The last attempt to write failed: ${status.failure}`]),
      ...(lakeBucket || status.bucket ? [bucketSentence(status.bucket)] : []),
    ].join("\n"),
  );
}

type BucketStatus = ReturnType<typeof bucketStatus>;

function bucketStatus({ workedAtMs, behindSinceMs, waitingFiles, files, bytes, failure }: LakeState) {
  return {
    files,
    bytes,
    waiting_files: waitingFiles,
    tried_at: new Date(workedAtMs).toISOString(),
    behind_since: behindSinceMs === null ? "" : new Date(behindSinceMs).toISOString(),
    failure,
  };
}

function bucketSentence(bucket: BucketStatus | null): string {
  if (!bucket) return "Nothing has been uploaded to the bucket yet.";
  const { files, bytes, waiting_files: waiting, tried_at: at, behind_since: since, failure } = bucket;
  const state = since === "" ? `in step at ${at}` : `not in step since ${since}, ${waiting} files wait`;
  return `The bucket has ${files} files (${bytes} bytes), ${state}.${failure === "" ? "" : ` ${failure}`}`;
}

async function verify(pool: pg.Pool, config: Config, options: Options): Promise<void> {
  // Loaded here: the engine is a package that an installation may leave out.
  const { checkLake } = await import("../../lake/check.ts");
  const appIds = (await loadAppRules(pool)).map(({ appId }) => appId);
  const wanted = options.app === undefined ? appIds : appIds.filter((appId) => String(appId) === options.app);
  if (wanted.length === 0) throw new UsageError(`There is no app ${options.app}.`);
  const rows = await checkLake(pool, config, wanted);
  print(rows, options, () => tableOf(rows));
  const wrong = rows.filter(({ different_days: days }) => days !== "").length;
  if (wrong > 0) throw new UsageError("Files and tables differ on the days that are named above.");
}
