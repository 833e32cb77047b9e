import { setTimeout as sleep } from "node:timers/promises";
import { ApiError, messageOf } from "../errors.ts";
import { decodeEntry, type Entry } from "../journal/entry.ts";
import type { Journal } from "../journal/journal.ts";
import type { Log } from "../log.ts";

const RETRY_MS = 200;

export type Stretch = {
  from: number;
  /** Records that begin before it are written again. */
  until: number;
  /** The end of what is read. */
  durable: number;
};

/**
 * Writes records of the journal again, at its end. A refused one is retried: to begin anew would write the others twice.
 * Returns their number.
 */
export async function writeAgain(journal: Journal, stretch: Stretch, options: Waiting): Promise<number> {
  const { from, until, durable } = stretch;
  const reader = journal.read(0, from);
  let entries = 0;
  try {
    for (let item = await reader.next(durable); item && item.from < until; item = await reader.next(durable)) {
      if (item.kind !== "record") continue;
      await append(journal, decodeEntry(item.payload), options);
      entries += 1;
    }
  } finally {
    await reader.close();
  }
  return entries;
}

/** `obstacle`: why nothing should be written at the moment. */
type Waiting = { obstacle: () => string | undefined; log: Log };

async function append(journal: Journal, entry: Entry, { obstacle, log }: Waiting): Promise<void> {
  for (let told = ""; ; await sleep(RETRY_MS)) {
    // A journal that is closed refuses, which ends this.
    const reason = (journal.isClosed ? undefined : obstacle()) ?? (await refusalOf(journal, entry));
    if (reason === undefined) return;
    if (reason !== told) log.warn({ reason }, "An entry that must be written again waits.");
    told = reason;
  }
}

/** Why the journal does not take the entry now, or undefined once it is durable. */
async function refusalOf(journal: Journal, entry: Entry): Promise<string | undefined> {
  try {
    await journal.append(entry);
    return undefined;
  } catch (error) {
    if (journal.isClosed || !(error instanceof ApiError)) throw error;
    return messageOf(error);
  }
}
