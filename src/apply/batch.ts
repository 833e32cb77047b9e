import type { Executor } from "../db/engine/sql.ts";
import { DAY_MS } from "../domain/calendar.ts";
import { isNear, type WantedDay } from "../domain/event/event-part.ts";
import type { EntryHead } from "../journal/entry.ts";
import type { Position } from "../journal/entry-log.ts";
import { LIMITS } from "../limits.ts";
import type { DecodedEntry, UserEntry } from "./entry/decode.ts";
import { appsOf } from "./entry/entry-heads.ts";
import { UserMap } from "./entry/user-map.ts";
import { AppSettings } from "./facts/app-settings.ts";

/** A decoded stretch of a partition. */
export type Stretch = {
  journalId: string;
  partition: number;
  from: Position;
  until: Position;
  entries: readonly DecodedEntry[];
};

/** Whether a stretch holds a body much larger than a batch should be. No other should then be in memory. */
export function isLarge({ entries }: Stretch): boolean {
  return entries.some(isLargeEntry);
}

export function isLargeEntry({ head, payload }: { head: EntryHead | undefined; payload: Buffer }): boolean {
  return (head?.gzip ?? payload.length) > LIMITS.applyBatchBytes;
}

/**
 * A stretch that takes effect as a whole, with its apps' settings. The local days of its events are filled in. With
 * `appId`, it holds only the entries of that app, which has transactions and a cursor of its own, out of a stretch that
 * begins at `stretchFrom`.
 */
export type Batch = Stretch & { settings: AppSettings; appId?: number; stretchFrom?: Position };

/** Adds the apps' settings to a stretch, and the local days of its events, which depend on them. */
export async function batchOf(executor: Executor, stretch: Stretch): Promise<Batch> {
  const settings = await AppSettings.load(executor, appsOf(stretch.entries));
  for (const entry of stretch.entries) {
    if (entry.kind !== "events" && entry.kind !== "refunds") continue;
    // Entries of an app that does not exist are set aside by the transaction.
    const calendar = settings.find(entry.head.app)?.calendar;
    if (!calendar) continue;
    if (entry.kind === "events") entry.events.setDays((atMs) => calendar.dayOf(atMs));
    else for (const refund of entry.refunds) refund.day = calendar.dayOf(refund.atMs);
  }
  return { ...stretch, settings };
}

/**
 * The local days that the events of a batch fall on, in the order of the journal: for each day, its first event near
 * the time of receipt and its first event far from it.
 */
export function daysOf({ entries, settings }: Batch): WantedDay[] {
  const wanted = new Map<string, WantedDay>();
  for (const entry of entries) {
    if (entry.kind !== "events" || !settings.find(entry.head.app)) continue;
    const receivedAtMs = entry.head.at;
    let last = "";
    for (let index = 0; index < entry.events.length; index += 1) {
      const day = entry.events.dayOf(index);
      if (day === last) continue;
      last = day;
      const key = isNear({ day, receivedAtMs }) ? day : `far ${day}`;
      if (!wanted.has(key)) wanted.set(key, { day, receivedAtMs });
    }
  }
  return [...wanted.values()];
}

/** The weeks that the touches of a batch are stored in. */
export function weeksOf({ entries }: Batch): Set<string> {
  const weeks = new Set<string>();
  for (const entry of entries) if (entry.kind === "touch" && entry.read) weeks.add(entry.week);
  return weeks;
}

/**
 * Cuts a batch after a rename or an erasure, so that no later entry works with state from before it. Also cuts it
 * before a client that registers again a day or more later: that is a return, and is judged by the outcome of
 * everything before it. (Where only the tables show that a cut is needed, the transaction asks for it.)
 */
export function splitWhereOrderMatters(batch: Batch): Batch[] {
  const parts: Batch[] = [];
  let start = 0;
  let registeredAtMs = new UserMap<number>();
  const endBefore = (index: number) => {
    if (index > start) parts.push(partOf(batch, start, index));
    start = index;
    registeredAtMs = new UserMap();
  };
  for (const [index, entry] of batch.entries.entries()) {
    if (isRegistration(entry)) {
      const lastMs = registeredAtMs.get(entry.user);
      if (lastMs !== undefined && entry.head.at >= lastMs + DAY_MS) endBefore(index);
      if (!registeredAtMs.has(entry.user)) registeredAtMs.set(entry.user, entry.head.at);
    }
    if (entry.kind === "rename" || entry.kind === "erasure") endBefore(index + 1);
  }
  endBefore(batch.entries.length);
  return parts;
}

function isRegistration(entry: DecodedEntry): entry is UserEntry {
  return entry.kind === "user" && (entry.head.kind === "register" || entry.head.kind === "initialize");
}

/** The entries of each app as a batch of its own, in the order of the apps' first entries. Entries of no app are left out. */
export function splitByApp(batch: Batch): Batch[] {
  const byApp = new Map<number, DecodedEntry[]>();
  for (const entry of batch.entries) {
    if (!entry.head) continue;
    const entries = byApp.get(entry.head.app);
    if (entries) entries.push(entry);
    else byApp.set(entry.head.app, [entry]);
  }
  return [...byApp].map(([appId, entries]) => ({ ...batch, appId, stretchFrom: batch.from, entries }));
}

/** Cuts a batch before the entries at these positions. */
export function cutAt(batch: Batch, positions: ReadonlySet<Position>): Batch[] {
  const starts = batch.entries.flatMap(({ from }, index) => (index === 0 || positions.has(from) ? [index] : []));
  return starts.map((start, number) => partOf(batch, start, starts[number + 1] ?? batch.entries.length));
}

export function halves(batch: Batch): Batch[] {
  const middle = batch.entries.length >> 1;
  return [partOf(batch, 0, middle), partOf(batch, middle, batch.entries.length)];
}

function partOf(batch: Batch, start: number, end: number): Batch {
  const entries = batch.entries.slice(start, end);
  return { ...batch, from: entries[0]!.from, until: entries.at(-1)!.until, entries };
}
