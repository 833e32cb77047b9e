import { statfs } from "node:fs/promises";
import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { type Clock, elapsedMs } from "../clock.ts";
import type { Config } from "../config.ts";
import type { Database } from "../db/engine/database.ts";
import { openPool } from "../db/engine/pool.ts";
import { DutyLock } from "../db/lock/duty-lock.ts";
import { IntakePace } from "../intake/pace.ts";
import type { Log } from "../log.ts";
import { type Loop, startLoop } from "../loop.ts";
import { Asker } from "./asker.ts";
import { EngineProcess } from "./engine-process.ts";
import { Lake, type LogOfApps } from "./lake.ts";
import { LakeFolder, pathIn, spoolOf } from "./lake-folder.ts";

const IDLE_MS = 1_000;
/** About how long a turn writes marked days. Then new events are looked for again. */
const TURN_MS = 5_000;
/** The rest after a turn, as a multiple of its length. Under heavy traffic the cores belong to collection and apply. */
const RESTS = { quiet: 0.5, busy: 4 };
/** A start is the time for other things. */
const FIRST_MS = 5_000;
/** Two snapshots and a transaction. */
const CONNECTIONS = 3;

export type LakeLoopOptions = {
  config: Pick<Config, "dataDir" | "diskFreeBytesMin" | "lakeMemoryBytes">;
  log: Log;
  clock: Clock;
  database: Database;
  journal: LogOfApps;
  nodeId: string;
  writtenBytes: () => number;
};

/** The package of the engine, which an installation may leave out. */
const ENGINE_PACKAGE = "@duckdb/node-api";

export function isEngineInstalled(): boolean {
  try {
    createRequire(import.meta.url).resolve(ENGINE_PACKAGE);
    return true;
  } catch {
    return false;
  }
}

export function lakeFolderOf({ dataDir }: Pick<Config, "dataDir">): string {
  return join(dataDir, "lake");
}

/** The lake stops long before the disk is so full that new data is refused. */
async function assertRoom(root: string, freeBytesMin: number): Promise<void> {
  const { bavail, bsize } = await statfs(root);
  if (bavail * bsize < 2 * freeBytesMin) throw new Error("The disk is nearly full, so nothing is written to the lake.");
}

/** `asker`: answers questions; undefined where the engine is not installed. */
export type RunningLake = Loop & { asker: Asker | undefined };

/** Keeps the lake in step with the tables, while no other process does, and answers questions about it. */
export function startLake(options: LakeLoopOptions): RunningLake {
  const { config, log, clock, database, journal, nodeId } = options;
  if (!isEngineInstalled()) {
    log.warn(`The package ${ENGINE_PACKAGE} is not installed: there is no lake, and no analysis.`);
    return { asker: undefined, stop: async () => {} };
  }
  const givesWay = database.kind === "embedded";
  const pool = openPool(database.server, { log, connectionsMax: CONNECTIONS, name: "lake", givesWay });
  const duty = new DutyLock({ duty: "lake", server: database.direct, nodeId, log });
  const pace = new IntakePace(options.writtenBytes);
  const root = lakeFolderOf(config);
  const limits = { memoryBytes: config.lakeMemoryBytes, threads: availableParallelism(), spool: spoolOf(root) };
  const engine = new EngineProcess({ ...limits, threads: Math.max(1, limits.threads - 1) });
  // Apart from the one that writes: a question that takes all memory, or has to be ended, delays no file.
  const answering = new EngineProcess(limits);
  const asker = new Asker({ engine: answering, pathOf: (file) => pathIn(root, file), limits });
  let lake: Lake | undefined;
  let restUntilMs = elapsedMs() + FIRST_MS;
  const turn = async (signal: AbortSignal) => {
    const startedMs = elapsedMs();
    if (startedMs < restUntilMs) return "idle" as const;
    if (!(await duty.isOurs())) {
      lake = undefined;
      return "idle" as const;
    }
    if (!lake) {
      const folder = await LakeFolder.open(root);
      const begun = new Lake({ pool, folder, engine, journal, clock, log });
      await begun.begin();
      lake = begun;
    }
    await assertRoom(root, config.diskFreeBytesMin);
    await lake.turn({ signal, forMs: TURN_MS });
    const nowMs = elapsedMs();
    restUntilMs = nowMs + (nowMs - startedMs) * (pace.isBusy() ? RESTS.busy : RESTS.quiet);
    return "idle" as const;
  };
  const loop = startLoop({ name: "lake", log, idleMs: IDLE_MS, turn });
  return {
    asker,
    async stop() {
      answering.stop();
      // Ended at once: a file that is being written does not count yet.
      engine.stop();
      await loop.stop();
      await duty.release();
      await pool.end();
    },
  };
}
