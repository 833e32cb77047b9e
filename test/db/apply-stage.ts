import { rm } from "node:fs/promises";
import type pg from "pg";
import { type Applied, Applier } from "../../src/apply/applier.ts";
import type { DecodeThread } from "../../src/apply/entry/decode-thread.ts";
import type { App } from "../../src/db/app.ts";
import { claimApply } from "../../src/db/apply-holder.ts";
import type { ColdEvents } from "../../src/db/cold-event.ts";
import { emptyFacts, endReplay } from "../../src/db/facts.ts";
import { readCursor } from "../../src/db/journal-cursor.ts";
import { listSetAside, type SetAsideRow } from "../../src/db/set-aside.ts";
import type { EntryHead, EntryKind } from "../../src/journal/entry.ts";
import { sourceOf } from "../../src/journal/entry-log.ts";
import type { Journal } from "../../src/journal/journal.ts";
import { newFolder, openJournal } from "../journal/temp-journal.ts";
import { log, makeApp, migratedDatabase, type TempDatabase } from "./temp-database.ts";

export const NOW_MS = Date.UTC(2024, 5, 15, 4);
export const ERASURE_KEY = Buffer.alloc(32, 7);
export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;

/** A journal, a database with one app, and what applies the one to the other. */
export class ApplyStage {
  readonly database: TempDatabase;
  readonly app: App;
  journal: Journal;
  applied: Applied[] = [];
  /** The term for which this process may apply. */
  term: string;
  /** Whether each app has transactions of its own, as in a distributed database; undefined: where it is one. */
  byApp: boolean | undefined;
  /** Reads events that are only in the lake. */
  cold: ColdEvents | undefined;
  /** Decodes a long backlog. */
  decodeThread: DecodeThread | undefined;
  #applier: Applier | undefined;

  private constructor(database: TempDatabase, app: App, journal: Journal, term: string) {
    this.database = database;
    this.app = app;
    this.journal = journal;
    this.term = term;
  }

  static async open(given?: TempDatabase): Promise<ApplyStage> {
    const database = given ?? (await migratedDatabase());
    const [app, journal] = [await makeApp(database.pool), await openJournal(newFolder())];
    return new ApplyStage(database, app, journal, await claim(database.pool));
  }

  /** An empty journal and empty tables for the next test. */
  async begin(): Promise<void> {
    await this.#end();
    await emptyFacts(this.pool, this.term);
    await this.pool.query("truncate earlier_postback");
    this.journal = await openJournal(newFolder());
    this.applied = [];
  }

  /** The key of the journal's cursor. */
  get cursor() {
    return { journalId: this.journal.id, partition: 0 };
  }

  get pool(): pg.Pool {
    return this.database.pool;
  }

  /** The current applier; a new one after restart(). */
  get applier(): Applier {
    this.#applier ??= this.newApplier();
    return this.#applier;
  }

  newApplier(durable: () => number = () => this.journal.durable): Applier {
    const { pool, journal } = this;
    const source = { ...sourceOf(journal, 0), end: durable };
    return new Applier({
      pool,
      sources: [source],
      log,
      writtenBytes: durable,
      onApplied: (applied) => this.applied.push(applied),
      erasureKey: ERASURE_KEY,
      term: () => this.term,
      ...(this.byApp !== undefined && { byApp: this.byApp }),
      ...(this.cold && { cold: this.cold }),
      ...(this.decodeThread && { decodeThread: this.decodeThread }),
    });
  }

  async restart(): Promise<void> {
    await this.#applier?.close();
    this.#applier = undefined;
  }

  /** Appends without applying. A body given as a text is appended as it is. */
  async append(kind: EntryKind, client: string, body: object | string, head: Partial<EntryHead> = {}): Promise<number> {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    return this.journal.append({
      head: { kind, app: this.app.appId, client, at: NOW_MS, ip: "", ua: "", registered: "yes", ...head },
      body: Buffer.from(text),
    });
  }

  async register(client: string, more: object = {}, head: Partial<EntryHead> = {}): Promise<void> {
    await this.append("register", client, { client_id: client, name: client, channel: "c", version: 1, ...more }, head);
  }

  async collect(client: string, events: object[], head: Partial<EntryHead> = {}): Promise<void> {
    await this.append("collect", client, { client_id: client, event_list: events }, head);
  }

  async applyAll(): Promise<void> {
    while ((await this.applier.turn()) === "busy");
    await this.#assertAllApplied();
  }

  /** Applies the journal from the beginning, in batches that end at these positions, with something to do after each. */
  async applyInSteps(ends: readonly number[], afterEach = async () => {}): Promise<void> {
    await this.restart();
    await emptyFacts(this.pool, this.term);
    let durable = 0;
    const applier = this.newApplier(() => durable);
    for (const end of [...ends, this.journal.durable]) {
      durable = end;
      while ((await applier.turn()) === "busy");
      await afterEach();
    }
    await applier.close();
    await endReplay(this.pool, { term: this.term, nowMs: NOW_MS });
    await this.#assertAllApplied();
  }

  async #assertAllApplied(): Promise<void> {
    if ((await readCursor(this.pool, this.cursor)) !== this.journal.durable)
      throw new Error("Not all of the journal was applied.");
  }

  /** Events by outcome, over all minutes. */
  async ledger(): Promise<Record<string, number>> {
    const { rows } = await this.pool.query(
      "select outcome, sum(events)::int as events from ledger_minute group by 1 order by 1",
    );
    return Object.fromEntries(rows.map((row) => [row.outcome, row.events]));
  }

  setAside(): Promise<SetAsideRow[]> {
    return listSetAside(this.pool, { limit: 1_000 });
  }

  async count(table: string): Promise<number> {
    return (await this.pool.query(`select count(*) as count from ${table}`)).rows[0].count;
  }

  async close(): Promise<void> {
    await this.#end();
    await this.database.drop();
  }

  async #end(): Promise<void> {
    await this.restart();
    await this.journal.close();
    await rm(this.journal.dir, { recursive: true });
  }
}

/** Takes over as another process would: the previous one can no longer apply. */
export function claim(pool: pg.Pool): Promise<string> {
  return claimApply(pool, { journalId: "test", host: "here", processId: process.pid, sinceMs: NOW_MS });
}

export const track = (event: string, properties: object = {}, time = NOW_MS) => ({
  type: "track",
  event,
  time,
  properties,
});

export const profile = (operation: string, properties: object, time = NOW_MS) => ({
  type: "profile",
  event: operation,
  time,
  properties,
});

export const pay = (orderId: string, cents: number, more: object = {}, time = NOW_MS) =>
  track("$PayEvent", { $order_id: orderId, $pay_amount: cents, $pay_type: "CNY", ...more }, time);
