import type pg from "pg";
import type { Config } from "../../config.ts";
import { readCursor, readCursors } from "../../db/journal-cursor.ts";
import { listSetAside } from "../../db/set-aside.ts";
import { UsageError } from "../../errors.ts";
import { decodeEntry } from "../../journal/entry.ts";
import type { LogItem, LogSource } from "../../journal/entry-log.ts";
import type { JetStreamAddress } from "../../journal/jetstream/address.ts";
import { beginningOf } from "../../journal/packed-body.ts";
import { fileSource } from "../../journal/reader.ts";
import { listSegments } from "../../journal/segment.ts";
import { LIMITS } from "../../limits.ts";
import { print, tableOf } from "../output.ts";
import { withDatabase } from "../session.ts";
import { filesOf } from "./journal-files.ts";

/** Bytes of a listed entry's body that are shown. */
const SHOWN_BYTES = 120;

export type InspectOptions = { entries: number; from: number; partition: number; json?: boolean };

type Picture = { journal_id: string; entries: Record<string, unknown>[] } & (
  | { applied: number; segments: Record<string, unknown>[] }
  | { partitions: Record<string, unknown>[] }
);

export async function inspect(options: InspectOptions): Promise<void> {
  await withDatabase(async ({ config, pool }) => {
    const { entries, ...journal } = await pictureOf(pool, config, options);
    const setAside = (await listSetAside(pool, { limit: LIMITS.setAsideListed })).map(({ payload, ...row }) => ({
      ...row,
      bytes: payload.length,
    }));
    const id = journal.journal_id;
    print({ ...journal, set_aside: setAside, entries }, options, () =>
      [
        "applied" in journal ? `Journal ${id}, applied up to ${journal.applied}` : `Journal ${id} in JetStream`,
        tableOf("applied" in journal ? journal.segments : journal.partitions),
        ...(setAside.length > 0 ? ["Set aside:", tableOf(setAside)] : []),
        ...(entries.length > 0 ? ["Entries:", tableOf(entries)] : []),
      ].join("\n\n"),
    );
  });
}

function pictureOf(pool: pg.Pool, config: Config, options: InspectOptions): Promise<Picture> {
  return config.jetstream ? pictureOfStreams(pool, config.jetstream, options) : pictureOfFiles(pool, config, options);
}

async function pictureOfFiles(pool: pg.Pool, config: Config, options: InspectOptions): Promise<Picture> {
  const { dir, id } = await filesOf(config);
  const applied = await readCursor(pool, { journalId: id, partition: 0 });
  const found = await listSegments(dir);
  const segments = found.map((segment) => ({
    segment: segment.path,
    from: segment.from,
    bytes: segment.bytes,
    file_bytes: segment.fileBytes,
    state: stateOf({ from: segment.from, until: segment.from + segment.bytes }, applied),
    written: new Date(segment.modifiedAtMs).toISOString(),
  }));
  const last = found.at(-1);
  const until = last ? last.from + last.bytes : 0;
  const source = fileSource({ id, dir }, () => until);
  const bytesOf = (item: LogItem) => item.until - item.from;
  const entries = await readEntries(source, { ...options, first: found[0]?.from ?? 0, bytesOf });
  return { journal_id: id, applied, segments, entries };
}

async function pictureOfStreams(pool: pg.Pool, address: JetStreamAddress, options: InspectOptions): Promise<Picture> {
  const { findLog } = await import("../../journal/jetstream/stream-sources.ts");
  const log = await findLog(address);
  try {
    const cursors = await readCursors(pool, log.id);
    const partitions = log.streams.map(({ source, stream, first, ...amounts }, partition) => {
      const applied = cursors[partition] ?? 0;
      const until = source.end();
      return {
        partition,
        stream,
        from: first,
        until,
        ...amounts,
        applied,
        state: stateOf({ from: first, until }, applied),
      };
    });
    const chosen = log.streams[options.partition];
    if (!chosen) throw new UsageError(`The log has the partitions 0 to ${log.streams.length - 1}.`);
    const bytesOf = (item: LogItem) => item.payload.length;
    const entries = await readEntries(chosen.source, { ...options, first: chosen.first, bytesOf });
    return { journal_id: log.id, partitions, entries };
  } finally {
    await log.close();
  }
}

function stateOf({ from, until }: { from: number; until: number }, applied: number): string {
  if (until <= applied) return "applied";
  return from >= applied ? "waiting" : "partly applied";
}

type Wanted = { entries: number; from: number; first: number; bytesOf: (item: LogItem) => number };

async function readEntries(source: LogSource, { entries, from, first, bytesOf }: Wanted) {
  const reader = source.read(Math.max(first, from));
  const rows: Record<string, unknown>[] = [];
  while (rows.length < entries) {
    const item = await reader.next(source.end());
    if (!item) break;
    rows.push({ from: item.from, bytes: bytesOf(item), ...(await contentOf(item)) });
  }
  await reader.close();
  return rows;
}

async function contentOf(item: LogItem) {
  if (item.kind === "damage") return { kind: "damage", app: "", client: "", received: "", body: "" };
  const entry = decodeEntry(item.payload);
  const { kind, app, client, at } = entry.head;
  const body = (await beginningOf(entry, SHOWN_BYTES)).toString("utf8");
  return { kind, app, client, received: new Date(at).toISOString(), body };
}
