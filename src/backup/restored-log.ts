import { UsageError } from "../errors.ts";
import { decodeEntry } from "../journal/entry.ts";
import type { JetStreamAddress } from "../journal/jetstream/address.ts";
import type { MovedEntry } from "../journal/jetstream/fill-log.ts";
import type { FoundLog } from "../journal/jetstream/stream-sources.ts";
import { findRecord, scanRecord } from "../journal/record.ts";
import type { SavedJournal } from "./manifest.ts";
import { unpacked } from "./restored-journal.ts";

/** "kept": the log that is there continues the backup's. `waiting`: how many of its entries the next start applies. */
export type LogPlan = { existing: "none" } | { existing: "kept"; waiting: number };

/**
 * Decides what becomes of the log that LOG_URL names. The backup's own log is kept, so that everything acknowledged since
 * is applied by the next start. One without entries is filled. Any other is refused: a log is left by naming another one.
 */
export async function planLog(address: JetStreamAddress, saved: SavedJournal): Promise<LogPlan> {
  const { lookForLog } = await import("../journal/jetstream/stream-sources.ts");
  const found = await lookForLog(address);
  if (!found) return { existing: "none" };
  await found.close();
  if (found.id === saved.log?.id) return { existing: "kept", waiting: waitingIn(found, saved.log.cursors) };
  if (found.streams.every(({ source }) => source.end() === 0)) return { existing: "none" };
  throw new UsageError(
    `The log ${address.name} has entries, and is not the one of this backup. Nothing was changed. Name another log in LOG_URL, after the last /.`,
  );
}

function waitingIn({ streams }: FoundLog, cursors: readonly number[]): number {
  let waiting = 0;
  for (const [partition, { stream, first, source }] of streams.entries()) {
    const cursor = cursors[partition] ?? 0;
    if (source.end() < cursor)
      throw new UsageError(
        `The stream ${stream} ends at ${source.end()}, and the tables of this backup have it up to ${cursor}: it is an older copy. Nothing was changed. Name another log in LOG_URL.`,
      );
    if (first > cursor)
      throw new UsageError(
        `The stream ${stream} begins at ${first}, and the tables of this backup have it only up to ${cursor}. Nothing was changed. Name another log in LOG_URL: it gets the entries of the backup.`,
      );
    waiting += source.end() - cursor;
  }
  return waiting;
}

/** Puts the entries of a backup that its tables do not have into a log without entries. Returns their number. */
export async function placeInLog(address: JetStreamAddress, dir: string, saved: SavedJournal): Promise<number> {
  const { fillLog } = await import("../journal/jetstream/fill-log.ts");
  return fillLog(address, entriesOf(dir, saved));
}

async function* entriesOf(dir: string, saved: SavedJournal): AsyncGenerator<MovedEntry> {
  for (const segment of saved.segments) {
    for (const { position, payload } of recordsIn(await unpacked(dir, segment), segment.from))
      if (position >= saved.cursor) yield { app: appOf(payload), payload };
  }
}

/** The records of a segment. Damage between them holds nothing that could be applied. */
function* recordsIn(content: Buffer, from: number): Generator<{ position: number; payload: Buffer }> {
  for (let at: number | undefined = 0; at !== undefined && at < content.length; ) {
    const scan = scanRecord(content, at, from + at);
    if (scan.kind === "record") yield { position: from + at, payload: scan.payload };
    at = scan.kind === "record" ? at + scan.bytes : findRecord(content, at + 1, from);
  }
}

/** An entry that cannot be understood belongs to no app; apply sets it aside, wherever it is. */
function appOf(payload: Buffer): number {
  try {
    return decodeEntry(payload).head.app;
  } catch {
    return 0;
  }
}
