import { setTimeout as sleep } from "node:timers/promises";
import type { Command } from "commander";
import { elapsedMs, systemClock } from "../../clock.ts";
import { loadInstallationSecrets } from "../../db/installation.ts";
import { loadLakeApps } from "../../db/lake-app.ts";
import { UsageError } from "../../errors.ts";
import type { PushPlan } from "../../lake/bucket/push.ts";
import type { Pusher } from "../../lake/bucket/pusher.ts";
import { ProgressBar, print, tableOf } from "../output.ts";
import { type DatabaseSession, withDatabase } from "../session.ts";

type Options = { dryRun?: boolean; verify?: boolean; json?: boolean };

/** About how long the bucket is held without a pause, so that a server that waits for it gets its turn. */
const TURN_MS = 60_000;
const AGAIN_MS = 500;
const IDLE_TURNS_MAX = 10;

export function lakePushCommand(lake: Command): void {
  lake
    .command("push")
    .description("Bring the bucket of LAKE_BUCKET_URL in step with the files now; the server may run or not")
    .option("--dry-run", "only show what would be uploaded and removed")
    .option("--verify", "list the bucket afterwards and compare names, sizes and checksums")
    .option("--json", "print JSON")
    .action((options: Options) => withDatabase((session) => run(session, options)));
}

async function run(session: DatabaseSession, options: Options): Promise<void> {
  // Loaded here: `lake status` needs none of it.
  const { BucketError } = await import("../../lake/bucket/bucket-error.ts");
  const pusher = await openPusher(session);
  try {
    const result = options.dryRun ? await planned(pusher) : await pushed(pusher);
    const checks = options.verify ? await checked(session, pusher) : undefined;
    print(checks ? { ...result.values, verified: checks } : result.values, options, () =>
      [result.text, ...(checks ? [tableOf(checks)] : [])].join("\n"),
    );
    if (checks?.some((check) => check.missing_objects !== "" || check.different_objects !== ""))
      throw new UsageError("The bucket differs from its manifests in the objects that are named above.");
  } catch (error) {
    if (!(error instanceof BucketError)) throw error;
    throw new UsageError(error.detail === "" ? error.message : `${error.message} (${error.detail})`);
  } finally {
    pusher.close();
  }
}

async function openPusher({ config, pool, vault }: DatabaseSession): Promise<Pusher> {
  const { lakeBucket: settings } = config;
  if (!settings) throw new UsageError("LAKE_BUCKET_URL is not set: there is no bucket. See docs/LAKE.md.");
  const { lakeFolderOf, readLakeId } = await import("../../lake/lake-folder.ts");
  const { bucketOwnerOf, Pusher: Pushers } = await import("../../lake/bucket/pusher.ts");
  const root = lakeFolderOf(config);
  const id = await readLakeId(root);
  const apps = await loadLakeApps(pool);
  if (apps.some(({ lakeId }) => lakeId !== id))
    throw new UsageError("The files of the lake are not in DATA_DIR: run this where the role lake runs.");
  const { erasure } = await loadInstallationSecrets(pool, vault);
  return new Pushers({ pool, settings, root, clock: systemClock, owner: bucketOwnerOf(erasure) });
}

type Result = { values: Record<string, unknown>; text: string };

async function planned(pusher: Pusher): Promise<Result> {
  const rows = (await planOf(pusher)).map(({ appId, upload, remove }) => ({
    app_id: appId,
    upload_files: upload.length,
    upload_bytes: upload.reduce((sum, { bytes }) => sum + bytes, 0),
    remove_objects: remove.length,
  }));
  return { values: { plan: rows }, text: rows.length === 0 ? "The bucket is in step." : tableOf(rows) };
}

async function planOf(pusher: Pusher): Promise<PushPlan[]> {
  return whenFree(() => pusher.locked((push) => push.plan()));
}

async function pushed(pusher: Pusher): Promise<Result> {
  const total = (await planOf(pusher)).reduce((sum, { upload }) => sum + upload.length, 0);
  const bar = new ProgressBar("Uploading");
  const sums = { uploaded: 0, removed: 0 };
  let [done, idleTurns] = [0, 0];
  const onFile = () => {
    done += 1;
    bar.show(Math.min(done, total), total);
  };
  for (;;) {
    const startedMs = elapsedMs();
    const isOut = () => elapsedMs() - startedMs > TURN_MS;
    const state = await whenFree(() => pusher.turn({ isOut, graceMs: 0, onFile }));
    sums.uploaded += state.uploaded;
    sums.removed += state.removed;
    if (!state.isInStep) {
      // Files were replaced meanwhile, or time is up. Without any progress, files are missing from the folder.
      idleTurns = state.uploaded === 0 ? idleTurns + 1 : 0;
      if (idleTurns > IDLE_TURNS_MAX)
        throw new UsageError(`${state.waitingFiles} files of the lake are missing here: the server writes them again.`);
      await sleep(AGAIN_MS);
      continue;
    }
    const { files, bytes } = state;
    const kept = state.keepsVersions ? " It keeps old versions, erased users included: see docs/LAKE.md." : "";
    return {
      values: { ...sums, files, bytes, keeps_versions: state.keepsVersions },
      text: `${sums.uploaded} files were uploaded and ${sums.removed} objects removed; the bucket has ${files} files (${bytes} bytes).${kept}`,
    };
  }
}

async function checked({ config, pool }: DatabaseSession, pusher: Pusher) {
  const { verifyBucket } = await import("../../lake/bucket/verify-bucket.ts");
  const { lakeFolderOf } = await import("../../lake/lake-folder.ts");
  const bucket = await pusher.bucket();
  return whenFree(() => pusher.locked(() => verifyBucket({ pool, bucket, root: lakeFolderOf(config) })));
}

/** Waits while the server is at the bucket. */
async function whenFree<T>(attempt: () => Promise<T | "busy">): Promise<T> {
  for (;;) {
    const result = await attempt();
    if (result !== "busy") return result;
    await sleep(AGAIN_MS);
  }
}
