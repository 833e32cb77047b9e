import { rm } from "node:fs/promises";
import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import type pg from "pg";
import { type Clock, elapsedMs } from "../clock.ts";
import type { Config } from "../config.ts";
import { loadColdLakes } from "../db/cold-event.ts";
import type { Database } from "../db/engine/database.ts";
import { openPool } from "../db/engine/pool.ts";
import { loadLakeApps } from "../db/lake-app.ts";
import { saveLakeState } from "../db/lake-state.ts";
import { DutyLock } from "../db/lock/duty-lock.ts";
import { messageOf } from "../errors.ts";
import { IntakePace } from "../intake/pace.ts";
import type { Log } from "../log.ts";
import { type Loop, startLoop } from "../loop.ts";
import { Asker } from "./asker.ts";
import { WRITING_THREADS } from "./engine.ts";
import { EngineProcess } from "./engine-process.ts";
import { Lake, type LogOfApps } from "./lake.ts";
import { LakeFolder, lakeFolderOf, readLakeId, roomIn } from "./lake-folder.ts";

const IDLE_MS = 1_000;
/** About how long a turn writes marked days. Then new events are looked for again. */
const TURN_MS = 5_000;
/** The rest after a turn, as a multiple of its length. Under heavy traffic the cores belong to collection and apply. */
const RESTS = { quiet: 0.5, busy: 4 };
/** A start is the time for other things. */
const FIRST_MS = 5_000;
/** Two snapshots and a transaction. */
const CONNECTIONS = 3;
/** How often a process looks whether it is its turn to write. */
const NOT_OURS_MS = 5_000;

export type LakeLoopOptions = {
  config: Pick<Config, "dataDir" | "diskFreeBytesMin" | "lakeMemoryBytes" | "eventHotDays">;
  log: Log;
  clock: Clock;
  database: Pick<Database, "kind" | "server" | "direct">;
  journal: LogOfApps;
  nodeId: string;
  writtenBytes: () => number;
};

/** The package of the engine, which an installation may leave out. */
export const ENGINE_PACKAGE = "@duckdb/node-api";

export function isEngineInstalled(): boolean {
  try {
    createRequire(import.meta.url).resolve(ENGINE_PACKAGE);
    return true;
  } catch {
    return false;
  }
}

async function assertRoom(root: string, freeBytesMin: number): Promise<void> {
  if ((await roomIn(root, freeBytesMin)) === 0)
    throw new Error("The disk is nearly full, so nothing is written to the lake.");
}

/** Removes the files of a lake that this process used to write: another one has begun its own, and tells it nothing. */
async function clearForeign(pool: pg.Pool, root: string): Promise<void> {
  const id = await readLakeId(root);
  const apps = id === undefined ? [] : await loadLakeApps(pool);
  if (apps.length === 0 || apps.some(({ lakeId }) => lakeId === id) || (await loadColdLakes(pool)).includes(id!))
    return;
  await rm(root, { recursive: true, force: true });
}

/**
 * Tells whether older days are only in a lake that is not here, and warns when that begins. A process that does not hold that
 * lake can write none of it.
 */
function watchColdDays(pool: pg.Pool, root: string, log: Log): () => Promise<boolean> {
  let was = false;
  return async () => {
    const cold = await loadColdLakes(pool);
    const is = cold.length > 0 && !cold.includes((await readLakeId(root)) ?? "");
    if (is && !was) log.warn({ root }, "Older days are only in a lake elsewhere: whoever holds it writes the files.");
    was = is;
    return is;
  };
}

/** How often it is noted that the files are written, where every process can read it. */
const NOTE_EVERY_MS = 60_000;

/** Notes how the turns go: at once when that changes. */
class TurnNotes {
  readonly #pool: pg.Pool;
  readonly #clock: Clock;
  /** Why the last turn failed, or undefined. */
  failure: string | undefined;
  #failingSinceMs: number | null = null;
  #noted: { failure: string; atMs: number } | undefined;

  constructor(pool: pg.Pool, clock: Clock) {
    this.#pool = pool;
    this.#clock = clock;
  }

  async note(failure: string): Promise<void> {
    this.failure = failure === "" ? undefined : failure;
    const workedAtMs = this.#clock();
    this.#failingSinceMs = failure === "" ? null : (this.#failingSinceMs ?? workedAtMs);
    if (this.#noted?.failure === failure && elapsedMs() - this.#noted.atMs < NOTE_EVERY_MS) return;
    const counts = { waitingFiles: 0, files: 0, bytes: 0 };
    const state = { workedAtMs, behindSinceMs: this.#failingSinceMs, failure };
    await saveLakeState(this.#pool, "files", { ...counts, ...state });
    this.#noted = { failure, atMs: elapsedMs() };
  }

  /** Another process works now, and notes how it goes. */
  forget(): void {
    this.failure = undefined;
    this.#failingSinceMs = null;
    this.#noted = undefined;
  }
}

/**
 * `asker`: answers questions; undefined where the engine is not installed. `isWriting`: whether this process writes the
 * files. `obstacle`: why it cannot, or undefined.
 */
export type RunningLake = Loop & {
  asker: Asker | undefined;
  isWriting: () => boolean;
  obstacle: () => string | undefined;
};

const NO_LAKE: RunningLake = {
  asker: undefined,
  isWriting: () => false,
  obstacle: () => undefined,
  stop: async () => {},
};

/** Keeps the lake in step with the tables, while no other process does, and answers questions about it. */
export function startLake(options: LakeLoopOptions): RunningLake {
  const { config, log, clock, database, journal, nodeId } = options;
  if (!isEngineInstalled()) {
    log.warn(`The package ${ENGINE_PACKAGE} is not installed: there is no lake, and no analysis.`);
    return NO_LAKE;
  }
  const givesWay = database.kind === "embedded";
  const pool = openPool(database.server, { log, connectionsMax: CONNECTIONS, name: "lake", givesWay });
  const duty = new DutyLock({ duty: "lake", server: database.direct, nodeId, log });
  const pace = new IntakePace(options.writtenBytes);
  const root = lakeFolderOf(config);
  const limits = { memoryBytes: config.lakeMemoryBytes, threads: availableParallelism(), root };
  const engine = new EngineProcess({ ...limits, threads: WRITING_THREADS });
  // Apart from the one that writes: a question that takes all memory, or has to be ended, delays no file.
  const answering = new EngineProcess(limits);
  const asker = new Asker({ engine: answering, root, freeBytesMin: config.diskFreeBytesMin });
  const enoughRoom = () => assertRoom(root, config.diskFreeBytesMin);
  let lake: Lake | undefined;
  const isColdElsewhere = watchColdDays(pool, root, log);
  let restUntilMs = elapsedMs() + FIRST_MS;
  const notes = new TurnNotes(pool, clock);
  const turn = async (signal: AbortSignal) => {
    const startedMs = elapsedMs();
    if (startedMs < restUntilMs) return "idle" as const;
    const isElsewhere = !lake && (await isColdElsewhere());
    if (isElsewhere) await duty.release();
    if (isElsewhere || !(await duty.isOurs())) {
      lake = undefined;
      notes.forget();
      await clearForeign(pool, root);
      restUntilMs = startedMs + NOT_OURS_MS;
      return "idle" as const;
    }
    try {
      if (!lake) {
        const folder = await LakeFolder.open(root);
        const { eventHotDays: hotDays } = config;
        const begun = new Lake({ pool, folder, engine, journal, clock, log, assertRoom: enoughRoom, hotDays });
        await begun.begin();
        lake = begun;
      }
      await enoughRoom();
      await lake.turn({ signal, forMs: TURN_MS });
      await notes.note("");
    } catch (error) {
      if (!signal.aborted) await notes.note(messageOf(error)).catch(() => {});
      throw error;
    }
    const nowMs = elapsedMs();
    restUntilMs = nowMs + (nowMs - startedMs) * (pace.isBusy() ? RESTS.busy : RESTS.quiet);
    return "idle" as const;
  };
  const loop = startLoop({ name: "lake", log, idleMs: IDLE_MS, turn });
  return {
    asker,
    isWriting: () => lake !== undefined,
    obstacle: () => notes.failure,
    async stop() {
      answering.close();
      // Ended at once: a file that is being written does not count yet.
      engine.close();
      await loop.stop();
      await duty.release();
      await pool.end();
    },
  };
}
