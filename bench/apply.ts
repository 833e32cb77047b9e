import type pg from "pg";
import { decodeAlone } from "../src/apply/entry/decode.ts";
import { elapsedMs, systemClock } from "../src/clock.ts";
import { copyJson, copyRows, copyText } from "../src/db/engine/copy.ts";
import { inTransaction } from "../src/db/engine/pool.ts";
import { JournalReader } from "../src/journal/reader.ts";
import { listSegments } from "../src/journal/segment.ts";
import { clientName, collectBody } from "./bodies.ts";
import type { Setup } from "./children.ts";
import { withDatabase } from "./database.ts";
import { appendEntries, drain, type NewEntry } from "./drain.ts";
import { type Cost, type Measured, median } from "./figures.ts";
import { firstSequenceOf } from "./sequences.ts";
import { Requests } from "./template.ts";

const EVENTS_PER_BODY = 20;
const BARE_ROWS_MAX = 200_000;
const BARE_ROUNDS = 3;
const BARE = {
  table: "bare_event",
  columns: "app_id, client_id, day, at_ms, fingerprint, type, event, properties_text, received_at_ms",
};

type Point = Cost["points"][number];

/** Drains backlogs of growing size, and copies the same events into a table without indexes for comparison. */
export async function measureApply(setup: Setup): Promise<Measured> {
  const { dataDir, sizes, scales } = setup;
  // Earlier steps may have left entries in the journal, which are not to be measured here.
  await drain(setup);
  let firstSequence = firstSequenceOf("apply");
  const [times, memory]: [Point[], Point[]] = [[], []];
  const copies: Copied[] = [];
  const measured = { events: 0, ms: 0, storedBytes: 0 };
  for (const scale of scales) {
    const events = scale * sizes.backlogEvents;
    await appendEntries(setup, entriesOf(setup, { events, firstSequence }));
    firstSequence += events;
    // Measured between the backlogs, so that a machine that changes its speed favours neither side.
    copies.push(...(await measureCopy(dataDir, await rowsOfJournal(`${dataDir}/journal`))));
    const before = await stored(dataDir);
    const { ms, maxMb } = await drain(setup);
    const after = await stored(dataDir);
    if (after.events - before.events !== events)
      throw new Error(`${after.events - before.events} of ${events} events were stored.`);
    times.push({ scale, perUnit: (ms * 1000) / events });
    memory.push({ scale, perUnit: maxMb });
    measured.events += events;
    measured.ms += ms;
    measured.storedBytes += after.bytes - before.bytes;
  }
  return {
    figures: [
      {
        name: "apply",
        what: `apply (${measured.events} events)`,
        unit: "events/s",
        target: "≥ 0.45, ≥ 50000/s",
        ours: (measured.events * 1000) / measured.ms,
        bare: median(copies.map(({ perSecond }) => perSecond)),
        beside: "COPY of such events into a table without indexes",
      },
      {
        name: "apply_bytes",
        what: "PostgreSQL, all tables and indexes",
        unit: "bytes/event",
        target: "≤ 250",
        ours: measured.storedBytes / measured.events,
        bare: median(copies.map(({ bytesPerRow }) => bytesPerRow)),
        beside: "a table of such events without indexes",
      },
    ],
    costs: [
      { name: "apply", what: "apply, by events in the backlog", unit: "µs/event", points: times },
      { name: "apply_memory", what: "resident memory while applying", unit: "MB", points: memory },
    ],
  };
}

/** Journal entries of bodies as clients send them. */
function* entriesOf(
  { app, sizes }: Setup,
  { events, firstSequence }: { events: number; firstSequence: number },
): Iterable<NewEntry> {
  const nowMs = systemClock();
  const { clients } = sizes;
  const bodies = new Requests(collectBody({ eventsPerBody: EVENTS_PER_BODY, firstSequence, nowMs, clients }));
  for (let number = 0; number < events / EVENTS_PER_BODY; number += 1) {
    const from = { app: app.appId, client: clientName(number % clients), at: nowMs, ip: "10.1.2.3", ua: "bench" };
    yield { head: { kind: "collect", registered: "yes", ...from }, body: bodies.next() };
  }
}

type Copied = { perSecond: number; bytesPerRow: number };

/** The speed and size of each round. The rows are built beforehand: only COPY itself is timed. */
async function measureCopy(dataDir: string, rows: readonly string[]): Promise<Copied[]> {
  return withDatabase(dataDir, async (pool) => {
    await pool.query("create table bare_event (like event)");
    const copied: Copied[] = [];
    for (let round = 0; round < BARE_ROUNDS; round += 1) {
      const startedMs = elapsedMs();
      await inTransaction(pool, (tx: pg.PoolClient) => copyRows(tx, BARE, rows));
      const perSecond = (rows.length * 1000) / (elapsedMs() - startedMs);
      const { rows: sizes } = await pool.query<{ bytes: number }>("select pg_relation_size('bare_event') as bytes");
      copied.push({ perSecond, bytesPerRow: sizes[0]!.bytes / (rows.length * (round + 1)) });
    }
    await pool.query("drop table bare_event");
    return copied;
  });
}

async function stored(dataDir: string): Promise<{ events: number; bytes: number }> {
  return withDatabase(dataDir, async (pool) => {
    const { rows } = await pool.query<{ events: number; bytes: number }>(
      `select coalesce(sum(events), 0)::bigint as events, pg_database_size(current_database()) as bytes
        from ledger_minute where outcome = 'stored'`,
    );
    return rows[0]!;
  });
}

async function rowsOfJournal(dir: string): Promise<string[]> {
  const segments = await listSegments(dir);
  const last = segments.at(-1)!;
  const reader = new JournalReader(dir, segments[0]!.from);
  const rows: string[] = [];
  while (rows.length < BARE_ROWS_MAX) {
    const items = await reader.read({ until: last.from + last.bytes, bytesMax: 4 << 20 });
    if (items.length === 0) break;
    for (const item of items) {
      const entry = decodeAlone(item);
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
