import type { TimelineItem } from "../../contract/admin/admin-user.ts";
import type { ColdEvents } from "../../db/cold-event.ts";
import type { Executor } from "../../db/engine/sql.ts";
import type { UserAccount } from "../../db/user-account.ts";

/** An item of the timeline, and the key that distinguishes it from others of its kind and instant. */
export type Entry = { item: TimelineItem; key: readonly string[] };

/** Only entries before this bound, by instant and then key; without a key, entries before the instant. */
export type Bound = { atMs: number; key: readonly string[] | undefined };

/** The request to a source, which answers by descending instant and key. */
export type Page = {
  bound: Bound;
  limit: number;
  timeZone: string;
  event: string | undefined;
  /** Where events are read that are only in the lake. */
  cold: ColdEvents;
};

export type Source = (executor: Executor, user: UserAccount, page: Page) => Promise<Entry[]>;

/**
 * The entries before the bound, for kinds that are few and held in memory. Keys are ASCII, which sorts the same
 * everywhere.
 */
export function pageOf(entries: readonly Entry[], page: { bound: Bound; limit: number }): Entry[] {
  return entries
    .filter((entry) => isBefore(entry, page.bound))
    .sort((left, right) => right.item.at_ms - left.item.at_ms || (left.key[0]! < right.key[0]! ? 1 : -1))
    .slice(0, page.limit);
}

function isBefore({ item, key }: { item: TimelineItem; key: readonly string[] }, bound: Bound): boolean {
  if (item.at_ms !== bound.atMs) return item.at_ms < bound.atMs;
  return bound.key !== undefined && key[0]! < bound.key[0]!;
}
