import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { type Readable, Transform, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { crc32, createGunzip, createGzip } from "node:zlib";
import { UsageError } from "../errors.ts";
import { MIB } from "../limits.ts";
import type { SavedFile } from "./manifest.ts";

/** Most of what a higher level saves is not worth the time: the disk is idle meanwhile, and the database waits. */
const LEVEL = 1;
const CHUNK_BYTES = 1 * MIB;
const LINE_BREAK = 10;

export type PackOptions = {
  dir: string;
  path: string;
  source: Readable;
  meter?: RowMeter;
  /** Called with the bytes of the source so far. */
  onBytes?: (bytes: number) => void;
  /** Called before bytes are written; throws when there is no room for them. */
  beforeWrite?: (bytes: number) => Promise<void>;
};

/** Packs what the source gives into a new file that only we can read, and syncs it. */
export async function packFile({ dir, path, source, meter, onBytes, beforeWrite }: PackOptions): Promise<SavedFile> {
  let [plainBytes, bytes] = [0, 0];
  const hash = createHash("sha256");
  const plain = passing((chunk) => {
    plainBytes += chunk.length;
    meter?.add(chunk);
    onBytes?.(plainBytes);
  });
  const packed = passing((chunk) => {
    bytes += chunk.length;
    hash.update(chunk);
    return beforeWrite?.(chunk.length);
  });
  const file = createWriteStream(join(dir, path), { flags: "wx", mode: 0o600, flush: true });
  await pipeline(source, plain, createGzip({ level: LEVEL, chunkSize: CHUNK_BYTES }), packed, file);
  return { path, bytes, sha256: hash.digest("hex"), plain_bytes: plainBytes };
}

/** Hands each chunk on once `look` has seen it. A failure of `look` ends the whole pipeline. */
function passing(look: (chunk: Buffer) => Promise<void> | void): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const seen = (async () => look(chunk))();
      seen.then(
        () => done(null, chunk),
        (error: Error) => done(error),
      );
    },
  });
}

/** Checks a file against what the manifest says of it. */
export async function checkFile(dir: string, file: SavedFile, onBytes?: (bytes: number) => void): Promise<void> {
  const path = join(dir, file.path);
  const found = await stat(path).catch(() => undefined);
  if (!found) throw new UsageError(`The backup is not whole: ${path} is missing.`);
  if (found.size !== file.bytes)
    throw new UsageError(`The backup is damaged: ${path} has ${found.size} bytes instead of ${file.bytes}.`);
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_BYTES }) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    onBytes?.(chunk.length);
  }
  if (hash.digest("hex") !== file.sha256)
    throw new UsageError(`The backup is damaged: the checksum of ${path} is wrong.`);
}

/** Unpacks a file into the target. */
export async function unpackFile(
  dir: string,
  file: SavedFile,
  target: Writable,
  onBytes?: (bytes: number) => void,
): Promise<void> {
  const packed = createReadStream(join(dir, file.path), { highWaterMark: CHUNK_BYTES });
  const counted = passing((chunk) => onBytes?.(chunk.length));
  await pipeline(packed, counted, createGunzip({ chunkSize: CHUNK_BYTES }), target);
}

/** Reads a source to its end for its rows alone. */
export async function meterRows(source: Readable): Promise<RowMeter> {
  const meter = new RowMeter();
  await pipeline(
    source,
    new Writable({
      write(chunk: Buffer, _encoding, done) {
        meter.add(chunk);
        done();
      },
    }),
  );
  return meter;
}

/**
 * Counts rows in COPY's text form, a line each. The digest is the sum of the rows' checksums: tables are equal whatever
 * the order in which a database gives their rows.
 */
export class RowMeter {
  rows = 0;
  digest = 0;
  /** The checksum of the row that has begun; 0 at the beginning of a row. */
  #open = 0;

  add(chunk: Buffer): void {
    let at = 0;
    for (let end = chunk.indexOf(LINE_BREAK); end >= 0; end = chunk.indexOf(LINE_BREAK, at)) {
      this.rows += 1;
      // Below 2^53 at any time, so the sum stays exact.
      this.digest = (this.digest + crc32(chunk.subarray(at, end + 1), this.#open)) % 2 ** 52;
      this.#open = 0;
      at = end + 1;
    }
    if (at < chunk.length) this.#open = crc32(chunk.subarray(at), this.#open);
  }
}
