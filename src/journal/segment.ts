import { open, readdir, readFile, rename, stat, truncate, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { findRecord, scanRecord } from "./record.ts";

/** A segment file: part of the journal, named by the position of its first byte. */
export type Segment = { path: string; from: number; bytes: number; modifiedAtMs: number };

const NAME = /^(\d{16})\.journal$/;

export function segmentPath(dir: string, from: number): string {
  return join(dir, `${String(from).padStart(16, "0")}.journal`);
}

export async function listSegments(dir: string): Promise<Segment[]> {
  const segments: Segment[] = [];
  for (const name of (await readdir(dir)).sort()) {
    const match = NAME.exec(name);
    if (!match) continue;
    const path = join(dir, name);
    const { size, mtimeMs } = await stat(path);
    segments.push({ path, from: Number(match[1]), bytes: size, modifiedAtMs: mtimeMs });
  }
  return segments;
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
