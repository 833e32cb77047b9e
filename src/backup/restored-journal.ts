import { createWriteStream, existsSync } from "node:fs";
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Writable } from "node:stream";
import { UsageError } from "../errors.ts";
import { readId } from "../journal/journal-id.ts";
import { listSegments, type Segment, segmentPath, syncFolder, wholeBytesOf } from "../journal/segment.ts";
import { readSegment } from "../journal/segment-content.ts";
import { joinJournals, type Stretch } from "./journal-join.ts";
import type { SavedJournal, SavedSegment } from "./manifest.ts";
import { unpackFile } from "./packed-file.ts";

export type JournalPlan = {
  /** "aside": another journal is there, which is put aside first. */
  existing: "none" | "kept" | "aside";
  taken: SavedSegment[];
  /** How far the journal reaches afterwards; a server applies it from the backup's cursor on. */
  until: number;
};

/** A segment of the journal that is already there, up to its last whole record. */
type OwnStretch = Stretch & { segment: Segment };

/**
 * Decides what becomes of a journal that is already there. One that continues the backup's is kept, so that everything
 * acknowledged since is applied by the next start. Any other is refused, or put aside where that was asked for.
 */
export async function planJournal(
  { dir, journalDir }: { dir: string; journalDir: string },
  saved: SavedJournal,
  existing: "refuse" | "replace",
): Promise<JournalPlan> {
  const id = existsSync(journalDir) ? await readId(journalDir) : undefined;
  const own = existsSync(journalDir) ? await wholeSegments(journalDir) : [];
  const isUsed = own.some(({ from, bytes }) => from + bytes > 0);
  const other = { taken: saved.segments, until: saved.until };
  // Segments without an id are what an interrupted restore leaves, or a damaged journal that nobody can continue.
  if (id === undefined) return { existing: own.length > 0 ? "aside" : "none", ...other };
  if (!isUsed) return { existing: "aside", ...other };
  const obstacle = await obstacleOf({ dir, journalDir, id, own }, saved);
  if (obstacle === undefined) return joinedPlan(own, saved);
  if (existing === "replace") return { existing: "aside", ...other };
  throw new UsageError(
    `${obstacle} Nothing was changed. Restore into another DATA_DIR, or add --replace to put that journal aside.`,
  );
}

function joinedPlan(own: readonly OwnStretch[], saved: SavedJournal): JournalPlan {
  const join = joinJournals(own, saved.segments.map(plainStretch), saved.cursor);
  const taken = join.kind === "joined" ? join.taken.map(({ segment }) => segment) : [];
  const ends = [...own, ...taken.map(plainStretch)].map(({ from, bytes }) => from + bytes);
  return { existing: "kept", taken, until: Math.max(...ends) };
}

/** Why the journal that is there does not continue the backup's, or undefined when it does. */
async function obstacleOf(
  { dir, journalDir, id, own }: { dir: string; journalDir: string; id: string; own: readonly OwnStretch[] },
  saved: SavedJournal,
): Promise<string | undefined> {
  if (id !== saved.id) return `${journalDir} holds another journal (${id}, and the backup's is ${saved.id}).`;
  const join = joinJournals(own, saved.segments.map(plainStretch), saved.cursor);
  if (join.kind === "gap")
    return `${journalDir} begins at ${join.until}, and the backup ends at ${join.from}: what was received in between is in neither.`;
  for (const segment of saved.segments) {
    const same = own.find(({ from }) => from === segment.from);
    if (!same) continue;
    const ours = await readSegment(same.segment);
    const theirs = await unpacked(dir, segment);
    const bytes = Math.min(wholeBytesOf(ours, segment.from), theirs.length);
    if (!ours.subarray(0, bytes).equals(theirs.subarray(0, bytes)))
      return `${journalDir} has the backup's id but other entries: it went its own way before the backup was taken.`;
  }
  return undefined;
}

/** Puts the segments in place. A repetition after an interruption finds them there and changes nothing. */
export async function placeJournal(
  { dir, journalDir }: { dir: string; journalDir: string },
  saved: SavedJournal,
  plan: JournalPlan,
): Promise<void> {
  await mkdir(journalDir, { recursive: true, mode: 0o700 });
  for (const segment of plan.taken) {
    const path = segmentPath(journalDir, segment.from);
    const draft = `${path}.draft`;
    await rm(draft, { force: true });
    await unpackFile(dir, segment, createWriteStream(draft, { mode: 0o600, flush: true }));
    await rename(draft, path);
  }
  if (plan.existing !== "kept") {
    await writeFile(join(journalDir, "id.draft"), `${saved.id}\n`, { mode: 0o600, flush: true });
    await rename(join(journalDir, "id.draft"), join(journalDir, "id"));
  }
  await syncFolder(journalDir);
}

/** The segments up to their last whole record. */
async function wholeSegments(journalDir: string): Promise<OwnStretch[]> {
  const segments = await listSegments(journalDir);
  const last = segments.at(-1);
  return Promise.all(
    segments.map(async (segment) => ({
      segment,
      from: segment.from,
      bytes: segment === last ? wholeBytesOf(await readSegment(segment), segment.from) : segment.bytes,
    })),
  );
}

const plainStretch = (segment: SavedSegment) => ({ from: segment.from, bytes: segment.plain_bytes, segment });

export async function unpacked(dir: string, segment: SavedSegment): Promise<Buffer> {
  const chunks: Buffer[] = [];
  await unpackFile(
    dir,
    segment,
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        chunks.push(chunk);
        done();
      },
    }),
  );
  return Buffer.concat(chunks);
}
