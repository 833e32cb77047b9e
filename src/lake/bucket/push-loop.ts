import { type Clock, elapsedMs } from "../../clock.ts";
import type { Config } from "../../config.ts";
import type { Database } from "../../db/engine/database.ts";
import { openPool } from "../../db/engine/pool.ts";
import { forgetLakeState } from "../../db/lake-state.ts";
import { messageOf } from "../../errors.ts";
import { IntakePace } from "../../intake/pace.ts";
import type { Log } from "../../log.ts";
import { type Loop, startLoop } from "../../loop.ts";
import { lakeFolderOf } from "../lake-folder.ts";
import { BucketError } from "./bucket-error.ts";
import { Pusher } from "./pusher.ts";

const IDLE_MS = 1_000;
/** How often the bucket is brought in step. Each time costs a call for every new file. */
const EVERY_MS = 60_000;
/** About how long a turn uploads. What is left waits for the next one, which comes after a rest. */
const TURN_MS = 20_000;
/** The rest after a turn that left something, as a multiple of its length. */
const RESTS = { quiet: 0.1, busy: 2 };
/** How long objects that no longer count stay for those who are reading them. */
const GRACE_MS = 5 * 60_000;
const FAILURE_MS_MAX = 30_000;
/** The lock, and a snapshot. */
const CONNECTIONS = 2;

export type PushLoopOptions = {
  config: Pick<Config, "dataDir" | "lakeBucket">;
  log: Log;
  clock: Clock;
  database: Database;
  owner: string;
  /** Whether this process writes the files of the lake. */
  isWriting: () => boolean;
  writtenBytes: () => number;
};

/** `obstacle`: why the bucket is not brought in step, or undefined. */
export type RunningPush = Loop & { obstacle: () => string | undefined };

/**
 * Keeps the bucket in step with the lake that this process writes. Apart from the loop that writes: a bucket that is slow
 * or away delays no file.
 */
export function startPush(options: PushLoopOptions): RunningPush {
  const { config, log, clock, database, owner } = options;
  const pool = openPool(database.server, { log, connectionsMax: CONNECTIONS, name: "bucket" });
  const { lakeBucket: settings } = config;
  const pusher = settings && new Pusher({ pool, settings, root: lakeFolderOf(config), clock, owner });
  const pace = new IntakePace(options.writtenBytes);
  let dueMs = 0;
  let obstacle: string | undefined;
  const turn = async (signal: AbortSignal) => {
    const startedMs = elapsedMs();
    if (startedMs < dueMs || !options.isWriting()) return "idle" as const;
    // Nobody keeps a bucket in step any more: what is known about one is old.
    if (!pusher) await forgetLakeState(pool, "bucket");
    const isOut = () => signal.aborted || !options.isWriting() || elapsedMs() - startedMs > TURN_MS;
    const pushed = await pusher?.turn({ isOut, graceMs: GRACE_MS });
    obstacle = undefined;
    const nowMs = elapsedMs();
    const isMore = pushed === "busy" || pushed?.isInStep === false;
    const restMs = (nowMs - startedMs) * (pace.isBusy() ? RESTS.busy : RESTS.quiet);
    dueMs = isMore ? nowMs + restMs : pushed ? startedMs + EVERY_MS : Number.POSITIVE_INFINITY;
    return "idle" as const;
  };
  const loop = startLoop({
    name: "bucket",
    log,
    idleMs: IDLE_MS,
    failureMsMax: FAILURE_MS_MAX,
    turn,
    onTrouble: (trouble) => {
      obstacle = trouble && messageOf(trouble.failure);
      if (!trouble) return log.info("The bucket of the lake is kept in step again.");
      const detail = trouble.failure instanceof BucketError ? trouble.failure.detail : "";
      log.warn({ reason: obstacle, detail }, "The bucket of the lake cannot be brought in step; trying again.");
    },
  });
  return {
    obstacle: () => obstacle,
    async stop() {
      // Calls that are under way end at once, and the turn with them.
      pusher?.close();
      await loop.stop();
      await pool.end();
    },
  };
}
