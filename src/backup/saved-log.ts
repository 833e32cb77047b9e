import { randomUUID } from "node:crypto";
import { basename } from "node:path";
import { Readable } from "node:stream";
import type { JetStreamAddress } from "../journal/jetstream/address.ts";
import type { FoundLog } from "../journal/jetstream/stream-sources.ts";
import { RECORD_HEADER_BYTES, sealRecord } from "../journal/record.ts";
import { segmentPath } from "../journal/segment.ts";
import { LIMITS } from "../limits.ts";
import type { SavedJournal, SavedSegment } from "./manifest.ts";
import { type PackOptions, packFile } from "./packed-file.ts";
import { JOURNAL_FOLDER } from "./saved-journal.ts";

export async function readLogId(address: JetStreamAddress): Promise<string> {
  const log = await findLog(address);
  await log.close();
  return log.id;
}

/**
 * Copies a log from its cursors to where it ends now, as segments of a journal in files. Each partition follows the one
 * before it: the entries of an app are in one of them, and apps do not depend on each other.
 */
export async function saveLog(options: {
  dir: string;
  address: JetStreamAddress;
  id: string;
  cursors: readonly number[];
  beforeWrite: PackOptions["beforeWrite"];
  onProgress: (done: number, total: number) => void;
}): Promise<Omit<SavedJournal, "others">> {
  const { dir, beforeWrite, id } = options;
  const log = await findLog(options.address);
  try {
    if (log.id !== id) throw new Error(`The log ${options.address.name} was made anew during the backup.`);
    const cursors = log.streams.map((_, partition) => options.cursors[partition] ?? 0);
    const ends = log.streams.map(({ source }) => source.end());
    const copy = new LogCopy(log, cursors, options.onProgress);
    const segments: SavedSegment[] = [];
    while (!copy.isDone) {
      const from = copy.position;
      const path = `${JOURNAL_FOLDER}/${basename(segmentPath(dir, from))}.gz`;
      const source = Readable.from(copy.segment(), { objectMode: false });
      segments.push({ ...(await packFile({ dir, path, source, beforeWrite })), from });
    }
    return { id: randomUUID(), cursor: 0, until: copy.position, segments, log: { id, cursors, ends } };
  } finally {
    await log.close();
  }
}

/** The entries of a log, as the records of a journal in files. */
class LogCopy {
  position = 0;
  isDone = false;
  readonly #payloads: AsyncGenerator<Buffer>;

  constructor(log: FoundLog, cursors: readonly number[], onProgress: (done: number, total: number) => void) {
    this.#payloads = payloadsOf(log, cursors, onProgress);
  }

  /** The records of one segment, each of which counts as soon as it is taken. */
  async *segment(): AsyncGenerator<Buffer> {
    const full = this.position + LIMITS.segmentBytes;
    while (this.position < full) {
      const next = await this.#payloads.next();
      if (next.done) {
        this.isDone = true;
        return;
      }
      const record = Buffer.concat([Buffer.alloc(RECORD_HEADER_BYTES), next.value]);
      sealRecord(record, this.position);
      this.position += record.length;
      yield record;
    }
  }
}

async function* payloadsOf(
  { streams }: FoundLog,
  cursors: readonly number[],
  onProgress: (done: number, total: number) => void,
): AsyncGenerator<Buffer> {
  const total = streams.reduce((sum, { source }, partition) => sum + source.end() - cursors[partition]!, 0);
  let done = 0;
  for (const [partition, { source }] of streams.entries()) {
    const reader = source.read(cursors[partition]!);
    try {
      for (let item = await reader.next(source.end()); item; item = await reader.next(source.end())) {
        // What the log has lost is nothing to keep.
        if (item.kind === "record") yield item.payload;
        done += item.until - item.from;
        onProgress(done, total);
      }
    } finally {
      await reader.close();
    }
  }
}

/** The client of NATS is loaded only for a log in JetStream. */
async function findLog(address: JetStreamAddress): Promise<FoundLog> {
  return (await import("../journal/jetstream/stream-sources.ts")).findLog(address);
}
