import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Disk, poolDisk } from "../../src/journal/disk.ts";
import type { Entry, EntryHead } from "../../src/journal/entry.ts";
import { decodeEntry } from "../../src/journal/entry.ts";
import type { LogItem } from "../../src/journal/entry-log.ts";
import { Journal, type JournalOptions } from "../../src/journal/journal.ts";
import { packSegment } from "../../src/journal/packed-segment.ts";
import { JournalReader } from "../../src/journal/reader.ts";
import { listSegments } from "../../src/journal/segment.ts";
import { createLog } from "../../src/log.ts";

const folders: string[] = [];

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "touchpoint-journal-"));
  folders.push(folder);
  return folder;
}

export function removeFolders(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
}

export function openJournal(dir: string, options: Partial<JournalOptions> = {}): Promise<Journal> {
  return Journal.open(dir, {
    log: createLog("silent"),
    disk: poolDisk,
    pendingBytesMax: 256 * 1024 * 1024,
    ...options,
  });
}

export function entryOf(body: string | Buffer, head: Partial<EntryHead> = {}): Entry {
  return {
    head: { kind: "collect", app: 1, client: "c", at: 1_700_000_000_000, ip: "", ua: "", registered: "yes", ...head },
    body: Buffer.from(body),
  };
}

/** A journal with one segment for each of the lists of bodies. A failed sync ends a segment, however short. */
export async function journalOfSegments(segments: readonly (readonly (string | Buffer)[])[]): Promise<Journal> {
  const disk = new FaultyDisk();
  const journal = await openJournal(newFolder(), { disk });
  for (const [index, bodies] of segments.entries()) {
    if (index > 0) {
      disk.faults.push("sync");
      await journal.append(entryOf("lost")).catch(() => {});
    }
    for (const body of bodies) await journal.append(entryOf(body));
  }
  return journal;
}

/** Packs every segment, also the last one. Nobody may be writing the journal. */
export async function packAll(dir: string): Promise<void> {
  for (const segment of await listSegments(dir)) await packSegment(segment);
}

/** Everything that a fresh reader finds, in reads of at most `bytesMax`. */
export async function readAll(
  dir: string,
  until: number,
  options: { from?: number; bytesMax?: number } = {},
): Promise<LogItem[]> {
  const reader = new JournalReader(dir, options.from ?? 0);
  const items: LogItem[] = [];
  for (;;) {
    const more = await reader.read({ until, bytesMax: options.bytesMax ?? 1024 * 1024 });
    if (more.length === 0) break;
    items.push(...more);
  }
  await reader.close();
  return items;
}

/** The bodies of the records, and "damage" for damaged ranges. */
export function bodiesOf(items: readonly LogItem[]): string[] {
  return items.map((item) => (item.kind === "record" ? decodeEntry(item.payload).body.toString() : "damage"));
}

/** A disk that injects the given faults until none are left. */
export class FaultyDisk implements Disk {
  readonly faults: Fault[] = [];
  readonly truncate = poolDisk.truncate;
  readonly syncFolder = poolDisk.syncFolder;
  writes = 0;
  syncs = 0;

  async write(fd: number, bytes: Buffer, at: number): Promise<void> {
    this.writes += 1;
    const fault = this.faults[0];
    if (fault === undefined || fault === "sync") return poolDisk.write(fd, bytes, at);
    this.faults.shift();
    if (fault === "partial_write") await poolDisk.write(fd, bytes.subarray(0, bytes.length >> 1), at);
    throw full();
  }

  async sync(fd: number): Promise<void> {
    this.syncs += 1;
    if (this.faults[0] === "sync") {
      this.faults.shift();
      throw full();
    }
    return poolDisk.sync(fd);
  }
}

export const FAULTS = ["write", "partial_write", "sync"] as const;
export type Fault = (typeof FAULTS)[number];

function full(): Error {
  return Object.assign(new Error("ENOSPC: no space left on device"), { code: "ENOSPC" });
}
