import type pg from "pg";
import { decodeAlone } from "../../apply/entry/decode.ts";
import { countFacts } from "../../db/facts.ts";
import { loadOtherCursors, readCursor } from "../../db/journal-cursor.ts";
import { isSetAside } from "../../db/set-aside.ts";
import type { LogItem, LogSource } from "../../journal/entry-log.ts";

const JOURNALS_NAMED = 5;

/** A journal with all of its partitions. `unit`: what its positions count. */
export type WholeJournal = { id: string; unit: "bytes" | "entries"; sources: readonly LogSource[] };

/** Sentences that say what tables rebuilt from this journal alone would lack; empty when they would lack nothing. */
export async function replayLosses(pool: pg.Pool, { id, unit, sources }: WholeJournal): Promise<string[]> {
  const others = await loadOtherCursors(pool, id);
  let missing = 0;
  for (const source of sources) missing += await missingIn(pool, source);
  const losses: string[] = [];
  if (others.length > 0) {
    const named = others.slice(0, JOURNALS_NAMED).map(({ journalId, position }) => `${journalId}: up to ${position}`);
    const more = others.length > JOURNALS_NAMED ? ", …" : "";
    losses.push(`Other journals have filled these tables as well (${named.join(", ")}${more}).`);
  }
  if (missing > 0) {
    losses.push(`${missing} applied ${unit} of this journal are gone (see JOURNAL_KEEP_DAYS) or damaged.`);
  }
  if (losses.length === 0) return [];
  const { events, users, orders } = await countFacts(pool);
  let held = 0;
  for (const source of sources) held += await countEvents(source);
  losses.push(
    `The tables hold ${events} events, ${users} users and ${orders} orders; this journal holds ${held} events.`,
  );
  return losses;
}

/** How much was applied and can no longer be read. What could not be read back then is not a loss. */
async function missingIn(pool: pg.Pool, journal: LogSource): Promise<number> {
  const { journalId, partition } = journal;
  const applied = await readCursor(pool, journal);
  let missing = Math.max(0, applied - journal.end());
  for await (const item of itemsOf(journal)) {
    if (item.from >= applied) break;
    if (item.kind === "record" || (await isSetAside(pool, { appId: null, journalId, partition, ...item }))) continue;
    missing += item.until - item.from;
  }
  return missing;
}

async function countEvents(journal: LogSource): Promise<number> {
  let events = 0;
  for await (const item of itemsOf(journal)) {
    const entry = decodeAlone(item);
    if (entry.kind === "events") events += entry.events.length;
  }
  return events;
}

async function* itemsOf({ end, read }: LogSource): AsyncGenerator<LogItem> {
  const reader = read(0);
  try {
    for (let item = await reader.next(end()); item; item = await reader.next(end())) yield item;
  } finally {
    await reader.close();
  }
}
