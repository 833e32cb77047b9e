import { rm } from "node:fs/promises";
import { availableParallelism } from "node:os";
import type { Config } from "../config.ts";
import {
  type ColdEvents,
  type ColdFile,
  type ColdPage,
  ColdUnreadable,
  type ColdWish,
  isBehindLake,
  loadColdFiles,
  loadGone,
} from "../db/cold-event.ts";
import type { Executor } from "../db/engine/sql.ts";
import type { EventKey, EventRow } from "../db/event.ts";
import type { UserKey } from "../domain/user/user-key.ts";
import { ApiError, messageOf } from "../errors.ts";
import { LIMITS } from "../limits.ts";
import { type ColdSource, coldActivity, coldDays, coldInOrder, coldKeys, coldRows } from "./cold-statements.ts";
import { Engine } from "./engine.ts";
import { EngineProcess, type EngineReads } from "./engine-process.ts";
import { holdFile, lakeFolderOf, makeHeldFolder, pathIn, readLakeId } from "./lake-folder.ts";

/** An engine that nobody has asked for so long is ended: it keeps memory. */
const IDLE_MS = 60_000;

export type ColdReaderOptions = {
  engine: EngineReads;
  /** The folder of the lake. */
  root: string;
};

/** A reader with an engine of its own, which starts when it is first asked. */
export function openColdReader(config: Pick<Config, "dataDir" | "lakeMemoryBytes">): ColdReader & { close(): void } {
  const root = lakeFolderOf(config);
  const threads = Math.max(1, availableParallelism() - 1);
  const engine = new EngineProcess({ memoryBytes: config.lakeMemoryBytes, threads, root });
  return Object.assign(new ColdReader({ engine, root }), { close: () => engine.close() });
}

/** For a command, which ends with its work: with an engine in this process, if it is asked at all. */
export async function withColdReader<T>(
  config: Pick<Config, "dataDir" | "lakeMemoryBytes">,
  work: (cold: ColdReader) => Promise<T>,
): Promise<T> {
  const root = lakeFolderOf(config);
  let started: Promise<Engine> | undefined;
  const engine = () => {
    started ??= Engine.start({ memoryBytes: config.lakeMemoryBytes, threads: availableParallelism(), root });
    return started;
  };
  const reads: EngineReads = {
    rows: async (statement) => (await engine()).rows(statement),
    open: async (statement) => (await engine()).open(statement),
    fetch: async (cursor) => (await engine()).fetch(cursor),
    end: async (cursor) => (await engine()).end(cursor),
    rest: () => {},
  };
  try {
    return await work(new ColdReader({ engine: reads, root }));
  } finally {
    await started?.then(
      (one) => one.close(),
      () => {},
    );
  }
}

/** Reads events of cold days from the files of the lake. */
export class ColdReader implements ColdEvents {
  readonly #options: ColdReaderOptions;
  #asked = 0;
  #idle: NodeJS.Timeout | undefined;

  constructor(options: ColdReaderOptions) {
    this.#options = options;
  }

  async load(read: Executor, wish: ColdWish, page?: ColdPage): Promise<EventRow[]> {
    if (wish.clientIds?.length === 0 || wish.names?.length === 0) return [];
    const source = await this.#sourceOf(read, wish);
    if (!source) return [];
    return (await this.#ask(coldRows(source, wish, page))).map((row) => eventOf(wish.appId, row));
  }

  async find(read: Executor, keys: readonly EventKey[], writtenAfterMs: number): Promise<EventKey[]> {
    const found: EventKey[] = [];
    for (const appId of new Set(keys.map((key) => key.appId))) {
      const own = keys.filter((key) => key.appId === appId);
      const clientIds = [...new Set(own.map(({ clientId }) => clientId))];
      const days = [...new Set(own.map(({ day }) => day))];
      const source = await this.#sourceOf(read, { appId, clientIds, days, writtenAfterMs });
      if (!source) continue;
      const fingerprints = [...new Set(own.map(({ fingerprint }) => fingerprint))];
      const rows = await this.#ask(coldKeys(source, { clientIds, fingerprints }));
      const stored = new Set(rows.map((row) => row.join("\n")));
      found.push(...own.filter((key) => stored.has([key.clientId, key.day, key.atMs, key.fingerprint].join("\n"))));
    }
    return found;
  }

  async daysOf(read: Executor, { appId, clientId }: UserKey, writtenAfterMs: number | undefined): Promise<string[]> {
    const narrowed = writtenAfterMs === undefined ? {} : { writtenAfterMs };
    const source = await this.#sourceOf(read, { appId, clientIds: [clientId], ...narrowed });
    if (!source) return [];
    return (await this.#ask(coldDays(source, clientId))).map(([day]) => day as string);
  }

  async loadActive(read: Executor, wish: ColdWish): Promise<EventRow[]> {
    const source = await this.#sourceOf(read, wish);
    if (!source) return [];
    const rows = await this.#ask(`${coldActivity(source)} limit ${LIMITS.coldActivityRows + 1}`);
    if (rows.length > LIMITS.coldActivityRows)
      throw new ApiError(
        "badParameter",
        "So many users were active on these days, which are only in the lake, that what they did is counted by the day only. Ask without hour, or for payments, users and costs alone.",
      );
    return rows.map((row) => eventOf(wish.appId, row));
  }

  /** Day after day: those of an app follow each other in time. Files get a second name, so that none is removed meanwhile. */
  async *stream(read: Executor, wish: ColdWish): AsyncIterable<readonly EventRow[]> {
    const files = await this.#filesOf(read, wish);
    if (files.length === 0) return;
    const gone = await loadGone(read, wish);
    const { root } = this.#options;
    const { appId } = wish;
    const held = await makeHeldFolder(root);
    const keyOf = ({ day, name }: ColdFile) => ({ appId, kind: "events" as const, day, name });
    try {
      await this.#guarded(async () => {
        for (const file of files) await holdFile(keyOf(file), { root, held });
      });
      for (const day of new Set(files.map((file) => file.day))) {
        const paths = files.filter((file) => file.day === day).map((file) => pathIn(held, keyOf(file)));
        for await (const rows of this.#pages(
          coldInOrder({ files: paths, gone: gone.filter((one) => one.day === day) }),
        ))
          yield rows.map((row) => eventOf(appId, row));
      }
    } finally {
      await rm(held, { recursive: true, force: true });
    }
  }

  async *#pages(statement: string): AsyncIterable<readonly (readonly unknown[])[]> {
    const { engine } = this.#options;
    const cursor = await this.#guarded(() => engine.open(statement));
    try {
      for (;;) {
        const rows = await this.#guarded(() => engine.fetch(cursor));
        if (rows.length === 0) return;
        yield rows;
      }
    } finally {
      // The engine may rest again.
      await this.#guarded(() => engine.end(cursor)).catch(() => {});
    }
  }

  #ask(statement: string): Promise<(readonly unknown[])[]> {
    return this.#guarded(() => this.#options.engine.rows(statement));
  }

  async #guarded<T>(work: () => Promise<T>): Promise<T> {
    clearTimeout(this.#idle);
    this.#asked += 1;
    try {
      return await work();
    } catch (error) {
      throw new ColdUnreadable(messageOf(error));
    } finally {
      this.#asked -= 1;
      if (this.#asked === 0) this.#idle = setTimeout(() => this.#options.engine.rest(), IDLE_MS).unref();
    }
  }

  async #sourceOf(read: Executor, wish: ColdWish): Promise<ColdSource | undefined> {
    const files = await this.#filesOf(read, wish);
    if (files.length === 0) return undefined;
    const gone = await loadGone(read, wish);
    const paths = files.map(({ day, name }) =>
      pathIn(this.#options.root, { appId: wish.appId, kind: "events", day, name }),
    );
    return { files: paths, gone };
  }

  async #writtenLater(read: Executor, files: ColdFile[], { appId, writtenAfterMs }: ColdWish): Promise<ColdFile[]> {
    if (writtenAfterMs === undefined) return files;
    const later = files.filter(({ writtenAtMs }) => writtenAtMs > writtenAfterMs);
    if (later.length === files.length || (await isBehindLake(read, appId, writtenAfterMs))) return later;
    return files;
  }

  async #filesOf(read: Executor, wish: ColdWish): Promise<ColdFile[]> {
    const days = wish.days && new Set(wish.days);
    const wanted = (await loadColdFiles(read, wish)).filter(({ day }) => !days || days.has(day));
    const files = await this.#writtenLater(read, wanted, wish);
    const foreign = files.length > 0 && (await readLakeId(this.#options.root));
    const other = files.find(({ lakeId }) => lakeId !== foreign);
    if (other)
      throw new ColdUnreadable(
        `they are in the lake ${other.lakeId}, which is not in ${this.#options.root}. Use the DATA_DIR of the process that writes it.`,
      );
    return files;
  }
}

function eventOf(appId: number, row: readonly unknown[]): EventRow {
  const [clientId, day, atMs, fingerprint, type, event, properties, receivedAtMs] = row as [
    ...[string, string, number, string],
    ...[string, string, string, number],
  ];
  return { appId, clientId, day, atMs, fingerprint, type, event, properties, receivedAtMs };
}
