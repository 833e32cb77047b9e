import type pg from "pg";
import { decodeItem } from "../../apply/entry/decode.ts";
import { countFacts } from "../../db/facts.ts";
import { loadOtherCursors, readCursor } from "../../db/journal-cursor.ts";
import { isSetAside } from "../../db/set-aside.ts";
import { type JournalItem, JournalReader } from "../../journal/reader.ts";

/** A journal and its end, `durable`. */
type JournalEnd = { id: string; dir: string; durable: number };

const JOURNALS_NAMED = 5;

/** Sentences that say what tables rebuilt from this journal alone would lack; empty when they would lack nothing. */
export async function replayLosses(pool: pg.Pool, journal: JournalEnd): Promise<string[]> {
  const others = await loadOtherCursors(pool, journal.id);
  const missing = await missingBytes(pool, journal);
  const losses: string[] = [];
  if (others.length > 0) {
    const named = others.slice(0, JOURNALS_NAMED).map(({ journalId, position }) => `${journalId}: ${position} bytes`);
    const more = others.length > JOURNALS_NAMED ? ", …" : "";
    losses.push(`Other journals have filled these tables as well (${named.join(", ")}${more}).`);
  }
  if (missing > 0) {
    losses.push(`${missing} applied bytes of this journal are gone (see JOURNAL_KEEP_DAYS) or damaged.`);
  }
  if (losses.length === 0) return [];
  const { events, users, orders } = await countFacts(pool);
  losses.push(
    `The tables hold ${events} events, ${users} users and ${orders} orders; this journal holds ${await countEvents(journal)} events.`,
  );
  return losses;
}

/** Applied bytes that can no longer be read. Bytes that could not be read back then are not a loss. */
async function missingBytes(pool: pg.Pool, journal: JournalEnd): Promise<number> {
  const applied = await readCursor(pool, journal.id);
  let missing = Math.max(0, applied - journal.durable);
  for await (const item of itemsOf(journal)) {
    if (item.from >= applied) break;
    if (item.kind === "record" || (await isSetAside(pool, { journalId: journal.id, ...item }))) continue;
    missing += item.until - item.from;
  }
  return missing;
}

async function countEvents(journal: JournalEnd): Promise<number> {
  let events = 0;
  for await (const item of itemsOf(journal)) {
    const entry = decodeItem(item);
    if (entry.kind === "events") events += entry.events.length;
  }
  return events;
}

async function* itemsOf({ dir, durable }: JournalEnd): AsyncGenerator<JournalItem> {
  const reader = new JournalReader(dir, 0);
  try {
    for (let item = await reader.next(durable); item; item = await reader.next(durable)) yield item;
  } finally {
    await reader.close();
  }
}
