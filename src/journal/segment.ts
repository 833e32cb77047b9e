import { open, readdir, readFile, rename, stat, truncate, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { findRecord, scanRecord } from "./record.ts";

/**
 * A segment: part of the journal, named by the position of its first byte. `bytes` is its length in the journal; the file of
 * a packed one, which is also named by the position after its last byte, is shorter.
 */
export type Segment = {
  path: string;
  from: number;
  bytes: number;
  modifiedAtMs: number;
  isPacked: boolean;
  fileBytes: number;
};

const NAME = /^(?<from>\d{16})(?:-(?<until>\d{16})\.journal\.gz|\.journal)$/;

export function segmentPath(dir: string, from: number): string {
  return join(dir, `${paddedPosition(from)}.journal`);
}

export function packedPath(dir: string, { from, bytes }: Pick<Segment, "from" | "bytes">): string {
  return join(dir, `${paddedPosition(from)}-${paddedPosition(from + bytes)}.journal.gz`);
}

function paddedPosition(position: number): string {
  return String(position).padStart(16, "0");
}

/** The segments in order. One that a crash has left both plain and packed is listed once, as plain. */
export async function listSegments(dir: string): Promise<Segment[]> {
  const segments = new Map<number, Segment>();
  // A packed segment sorts before its plain one, which therefore takes its place.
  for (const name of (await readdir(dir)).sort()) {
    const { from: first, until } = NAME.exec(name)?.groups ?? {};
    if (first === undefined) continue;
    const [path, from] = [join(dir, name), Number(first)];
    const file = await stat(path).catch(unlessGone);
    // It has just been packed or deleted.
    if (!file) return listSegments(dir);
    const isPacked = until !== undefined;
    const bytes = isPacked ? Number(until) - from : file.size;
    segments.set(from, { path, from, bytes, modifiedAtMs: file.mtimeMs, isPacked, fileBytes: file.size });
  }
  return [...segments.values()];
}

/** For a file that may be packed or deleted meanwhile: undefined when it is gone. */
export function unlessGone(error: NodeJS.ErrnoException): undefined {
  if (error.code !== "ENOENT") throw error;
}

/** Writes a small file that is there whole or not at all, whatever happens meanwhile. */
export async function writeDurably(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text, { mode: 0o600, flush: true });
  await rename(`${path}.new`, path);
  await syncFolder(dirname(path));
}

/** Syncs a folder, without which new and removed file names are not durable. */
export async function syncFolder(dir: string): Promise<void> {
  if (process.platform === "win32") return;
  const handle = await open(dir, "r");
  await handle.sync();
  await handle.close();
}

/**
 * Cuts off the end of the last segment that a crash may have left half-written. Nothing in it was acknowledged, because
 * an acknowledgement follows the sync of the whole record. Damage that has valid records after it is not a torn tail;
 * it stays where it is, and the reader sets it aside.
 */
export async function cutTornTail(segment: Segment): Promise<{ bytes: number; cutBytes: number }> {
  const content = await readFile(segment.path);
  const offset = wholeBytesOf(content, segment.from);
  const cutBytes = content.length - offset;
  if (cutBytes > 0) {
    await truncate(segment.path, offset);
    const handle = await open(segment.path, "r+");
    await handle.sync();
    await handle.close();
  }
  return { bytes: offset, cutBytes };
}

/** The bytes of a segment up to the end of its last whole record. */
export function wholeBytesOf(content: Buffer, from: number): number {
  let offset = 0;
  while (offset < content.length) {
    const scan = scanRecord(content, offset, from + offset);
    if (scan.kind === "record") {
      offset += scan.bytes;
      continue;
    }
    const next = findRecord(content, offset + 1, from);
    if (next === undefined) break;
    offset = next;
  }
  return offset;
}
