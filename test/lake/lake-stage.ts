import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parquetReadObjects } from "hyparquet";
import { compressors } from "hyparquet-compressors";
import { expect } from "vitest";
import { type LakeFile, loadAllLakeFiles } from "../../src/db/lake-file.ts";
import { LAKE_KINDS, type LakeKind } from "../../src/domain/lake.ts";
import { ColdReader } from "../../src/lake/cold-reader.ts";
import { Engine } from "../../src/lake/engine.ts";
import type { EngineCalls } from "../../src/lake/engine-process.ts";
import { makeInstance } from "../../src/lake/instance.ts";
import { Lake } from "../../src/lake/lake.ts";
import { LakeFolder } from "../../src/lake/lake-folder.ts";
import { MIB } from "../../src/limits.ts";
import { ApplyStage, DAY_MS, NOW_MS, track } from "../db/apply-stage.ts";
import { log } from "../db/temp-database.ts";

/** After everything that tests send. */
const LATER_MS = NOW_MS + 2 * DAY_MS;

/** Of a day that is old enough to be cold when three days stay in the table. */
export const OLD_MS = NOW_MS - 9 * DAY_MS;
export const OLD_DAY = "2024-06-06";

/** An instance for one question, as a server makes it. */
export function takeInstance(memoryBytes = 256 * MIB) {
  return makeInstance({ memoryBytes, threads: 2 });
}

export type Row = Record<string, unknown>;

/** A lake beside the tables that apply fills. */
export class LakeStage {
  readonly apply: ApplyStage;
  readonly engine: Engine;
  readonly folder: LakeFolder;
  lake: Lake;
  readonly cold: ColdReader;
  /** The lake's clock. */
  nowMs = LATER_MS;
  /** Days that stay in the table; 0: all. */
  hotDays = 0;

  private constructor(apply: ApplyStage, engine: Engine, folder: LakeFolder) {
    this.apply = apply;
    this.engine = engine;
    this.folder = folder;
    this.cold = new ColdReader({ engine, root: folder.root });
    apply.cold = this.cold;
    this.lake = this.newLake();
  }

  static async open(): Promise<LakeStage> {
    const folder = await LakeFolder.open(await mkdtemp(join(tmpdir(), "lake-")));
    const engine = await Engine.start({ memoryBytes: 256 * MIB, threads: 2, root: folder.root });
    const stage = new LakeStage(await ApplyStage.open(), engine, folder);
    await stage.lake.begin();
    return stage;
  }

  newLake(engine: EngineCalls = this.engine): Lake {
    const { apply, folder, hotDays } = this;
    const journal = { id: apply.journal.id, partitionOf: () => 0 };
    return new Lake({
      pool: apply.pool,
      folder,
      engine,
      journal,
      clock: () => this.nowMs,
      log,
      assertRoom: async () => {},
      hotDays,
    });
  }

  async begin(): Promise<void> {
    await this.apply.begin();
    await forgetErased(this.apply);
    this.nowMs = LATER_MS;
    this.lake = this.newLake();
    await this.lake.begin();
  }

  /** A user with an old event and a new one, of which the old one is only in the lake. */
  async freezeOne(): Promise<void> {
    const { apply, lake } = this;
    await apply.register("a");
    await apply.collect("a", [track("old", { n: 1 }, OLD_MS), track("new")]);
    await apply.applyAll();
    await lake.catchUp();
    await lake.catchUp();
    if (!(await lake.freeze())) throw new Error("The old day is still in the table.");
  }

  /** The files that count. */
  files(): Promise<LakeFile[]> {
    return loadAllLakeFiles(this.apply.pool);
  }

  /** The rows of all files, as an independent reader finds them, without the properties that are columns of their own. */
  async rowsOf(kind: LakeKind): Promise<Row[]> {
    const rows: Row[] = [];
    for (const file of (await this.files()).filter((one) => one.kind === kind)) {
      const bytes = await readFile(this.folder.pathOf(file));
      const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
      const read = await parquetReadObjects({ file: buffer, compressors });
      for (const row of read) rows.push({ app_id: file.appId, day: file.day, ...withoutProperties(file, row) });
    }
    return inOrder(rows);
  }

  /** What the tables hold, in the form of the files. */
  async stored(kind: LakeKind): Promise<Row[]> {
    const { rows } = await this.apply.pool.query(STORED[kind]);
    return inOrder(
      rows.map((row) => Object.fromEntries(Object.entries(row).map(([key, value]) => [key, plain(value)]))),
    );
  }

  async both(): Promise<{ lake: Record<LakeKind, Row[]>; tables: Record<LakeKind, Row[]> }> {
    const lake = {} as Record<LakeKind, Row[]>;
    const tables = {} as Record<LakeKind, Row[]>;
    for (const kind of LAKE_KINDS) {
      lake[kind] = (await this.rowsOf(kind)).map((row) =>
        Object.fromEntries(Object.entries(row).map(([key, value]) => [key, plain(value)])),
      );
      tables[kind] = await this.stored(kind);
    }
    return { lake, tables };
  }

  async close(): Promise<void> {
    await this.engine.close();
    await this.apply.close();
    await rm(this.folder.root, { recursive: true });
  }
}

function plain(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  if (value instanceof Date) return value.getTime();
  return value;
}

function inOrder(rows: readonly Row[]): Row[] {
  const text = (row: Row) => JSON.stringify(row, (_, value) => (typeof value === "bigint" ? Number(value) : value));
  return rows
    .map((row) => ({ row, key: text(row) }))
    .sort((one, other) => (one.key < other.key ? -1 : 1))
    .map(({ row }) => row);
}

/** Written apart from what the lake reads. */
const STORED: Readonly<Record<LakeKind, string>> = {
  events: `select app_id, day, client_id, event, type, at_ms as time, received_at_ms as received_time, properties_text as properties,
    fingerprint::text as event_id from event`,
  users: `select app_id, registered_day as day, client_id, registered_at_ms as registered_time, touched_at_ms as touched_time,
    (extract(epoch from cohort_day) * 1000)::bigint as cohort_day, channel, version,
    case when ad_platform = '' then 'natural' else ad_platform end as ad_platform, advertiser_id, gid, aid, cid as creative, csite,
    turbo_promoted_object_id, os_platform, properties::text as properties from user_account`,
  orders: `select o.app_id, o.day, o.client_id, o.trace_id, o.at_ms as time, o.received_at_ms as received_time, o.cents as pay_cents,
    (select coalesce(sum(cents), 0)::bigint from refund r where r.app_id = o.app_id and r.trace_id = o.trace_id) as refund_cents,
    o.currency, o.pay_count, o.is_virtual <> 0 as is_virtual, o.properties::text as properties from orders o`,
  costs: `select app_id, day, ad_platform, advertiser_id, gid, aid, cid as creative, csite, channel, os_platform,
    turbo_promoted_object_id, impressions, clicks, cost_e4 from cost`,
};

/** Who was erased would otherwise stay unknown: their entries come before the erasure. */
export async function forgetErased({ pool }: ApplyStage): Promise<void> {
  await pool.query("truncate erased_user");
}

/** An engine that waits for something whenever it writes a cold day anew. */
export function waitingEngine(engine: Engine, before: () => Promise<void>): EngineCalls {
  return {
    pack: (task) => engine.pack(task),
    repack: async (task) => {
      await before();
      return engine.repack(task);
    },
    merge: (task) => engine.merge(task),
    row: (statement) => engine.row(statement),
  };
}

/** An engine whose calls fail after some, before or after they are done. */
export function failingEngine(engine: Engine, after: number): EngineCalls {
  let calls = 0;
  const failing = async <T>(work: () => Promise<T>): Promise<T> => {
    calls += 1;
    if (calls > after && after % 2 === 0) throw new Error("crash");
    const done = await work();
    if (calls > after) throw new Error("crash");
    return done;
  };
  return {
    pack: (task) => failing(() => engine.pack(task)),
    repack: (task) => failing(() => engine.repack(task)),
    merge: (task) => failing(() => engine.merge(task)),
    row: (statement) => failing(() => engine.row(statement)),
  };
}

/** A row without the columns of its properties, after each was compared with what the JSON says. */
function withoutProperties({ properties: names }: LakeFile, row: Row): Row {
  const properties = typeof row.properties === "string" ? (JSON.parse(row.properties) as Row) : {};
  const columns = Object.keys(row).filter((name) => /^(?:property|preset)_/.test(name));
  expect(columns).toEqual(names.map(columnOf));
  for (const name of names) expect(row[columnOf(name)] ?? null, name).toBe(textOf(properties[name]));
  return Object.fromEntries(Object.entries(row).filter(([name]) => !columns.includes(name)));
}

function textOf(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function columnOf(name: string): string {
  return name.startsWith("$") ? `preset_${name.slice(1)}` : `property_${name}`;
}
