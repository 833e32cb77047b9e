import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";
import { decodeItem } from "../src/apply/decode.ts";
import { elapsedMs } from "../src/clock.ts";
import { copyJson, copyRows, copyText } from "../src/db/copy.ts";
import { inTransaction } from "../src/db/pool.ts";
import { JournalReader } from "../src/journal/reader.ts";
import { listSegments } from "../src/journal/segment.ts";
import { type Setup, startChild, watchMemory } from "./children.ts";
import { type Row, withDatabase } from "./database.ts";

const BARE_ROWS = 200_000;
const BARE_ROUNDS = 3;

/** Drains the journal that the intake has left, then copies the same events into a table with no index at all. */
export async function measureApply(options: Setup): Promise<{ rows: Row[]; figures: Record<string, number> }> {
  const rows = await rowsOfJournal(`${options.dataDir}/journal`);
  // Before and after, so that a machine that changes its speed meanwhile does not favour either side.
  const copies = await measureCopy(options.dataDir, rows);
  const server = await startChild(options.serverScript, [], { ...options.env, ROLES: "apply" }, options.ready);
  const memory = watchMemory(server.process);
  const startedMs = elapsedMs();
  for (;;) {
    const answer = (await (await fetch(`http://127.0.0.1:${server.port}/progress`)).json()) as {
      data: { durable: number; applied: number };
    };
    if (answer.data.applied >= answer.data.durable) break;
    await sleep(100);
  }
  const seconds = (elapsedMs() - startedMs) / 1000;
  const { maxMb } = memory();
  await server.stop();
  copies.push(...(await measureCopy(options.dataDir, rows)));
  const events = await storedEvents(options.dataDir);
  const ours = events / seconds;
  const bare = rows.length / copies.sort((left, right) => left - right)[copies.length >> 1]!;
  const ratio = Math.round((ours / bare) * 100) / 100;
  return {
    figures: {
      apply_events: events,
      apply_per_s: Math.round(ours),
      copy_per_s: Math.round(bare),
      apply_ratio: ratio,
      apply_rss_mb: maxMb,
    },
    rows: [
      {
        what: `apply, events/s (${events} events)`,
        bare: Math.round(bare),
        ours: Math.round(ours),
        ratio,
        target: "≥ 0.30, ≥ 15000/s",
      },
      { what: "resident memory while applying, MB", bare: "", ours: maxMb, ratio: "", target: "constant" },
    ],
  };
}

/** The rows are built beforehand: only COPY itself is timed. Returns the seconds of each round. */
async function measureCopy(dataDir: string, rows: readonly string[]): Promise<number[]> {
  return withDatabase(dataDir, async (pool) => {
    await pool.query("create table bare_event (like event)");
    const seconds: number[] = [];
    for (let round = 0; round < BARE_ROUNDS; round += 1) {
      const startedMs = elapsedMs();
      await inTransaction(pool, (tx: pg.PoolClient) => copyRows(tx, "copy bare_event from stdin", rows));
      seconds.push((elapsedMs() - startedMs) / 1000);
    }
    await pool.query("drop table bare_event");
    return seconds;
  });
}

async function storedEvents(dataDir: string): Promise<number> {
  return withDatabase(dataDir, async (pool) => {
    const { rows } = await pool.query<{ events: number }>(
      "select sum(events)::bigint as events from ledger_minute where outcome = 'stored'",
    );
    return rows[0]!.events;
  });
}

async function rowsOfJournal(dir: string): Promise<string[]> {
  const segments = await listSegments(dir);
  const last = segments.at(-1)!;
  const reader = new JournalReader(dir, segments[0]!.from);
  const rows: string[] = [];
  while (rows.length < BARE_ROWS) {
    const items = await reader.read({ until: last.from + last.bytes, bytesMax: 4 << 20 });
    if (items.length === 0) break;
    for (const item of items) {
      const entry = decodeItem(item);
      if (entry.kind !== "events") continue;
      const { app, client, at } = entry.head;
      const day = new Date(at).toISOString().slice(0, 10);
      for (const e of entry.events) {
        rows.push(
          `${app}\t${copyText(client)}\t${day}\t${e.atMs}\t${e.fingerprint}\t${e.type}\t${e.event}\t${copyJson(e.propertiesText)}\t${at}`,
        );
      }
    }
  }
  await reader.close();
  return rows;
}
