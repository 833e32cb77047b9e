import { basename } from "node:path";
import { Readable } from "node:stream";
import { listSegments, segmentPath, wholeBytesOf } from "../journal/segment.ts";
import { readSegment } from "../journal/segment-content.ts";
import type { SavedJournal, SavedSegment } from "./manifest.ts";
import { type PackOptions, packFile } from "./packed-file.ts";

export const JOURNAL_FOLDER = "journal";

/**
 * Copies the journal from the segment that holds `cursor` to its end. Another process may be writing: a record of which
 * only the first bytes are there has not been acknowledged, and is left out as at a recovery.
 */
export async function saveJournal(options: {
  dir: string;
  journalDir: string;
  cursor: number;
  beforeWrite: PackOptions["beforeWrite"];
  onProgress: (done: number, total: number) => void;
}): Promise<Pick<SavedJournal, "until" | "segments">> {
  const all = await listSegments(options.journalDir);
  const first = Math.max(
    0,
    all.findLastIndex(({ from }) => from <= options.cursor),
  );
  const wanted = all.slice(first);
  const total = wanted.reduce((sum, { bytes }) => sum + bytes, 0);
  const segments: SavedSegment[] = [];
  let [done, until] = [0, options.cursor];
  for (const segment of wanted) {
    const content = await readSegment(segment);
    const isLast = segment === wanted.at(-1);
    const whole = isLast ? content.subarray(0, wholeBytesOf(content, segment.from)) : content;
    const path = `${JOURNAL_FOLDER}/${basename(segmentPath(options.journalDir, segment.from))}.gz`;
    const source = Readable.from(chunksOf(whole), { objectMode: false });
    const file = await packFile({ dir: options.dir, path, source, beforeWrite: options.beforeWrite });
    segments.push({ ...file, from: segment.from });
    until = segment.from + whole.length;
    done += segment.bytes;
    options.onProgress(Math.min(done, total), total);
  }
  return { until, segments };
}

const CHUNK_BYTES = 65_536;

function* chunksOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) yield bytes.subarray(at, at + CHUNK_BYTES);
}
