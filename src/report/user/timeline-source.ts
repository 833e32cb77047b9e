import type { TimelineItem } from "../../contract/admin/admin-user.ts";
import type { Executor } from "../../db/engine/sql.ts";
import type { UserAccount } from "../../db/user-account.ts";

/** A thing on the timeline, and what tells it apart from others of its kind and instant. */
export type Entry = { item: TimelineItem; key: readonly string[] };

/** Only what lies before this, in the order of the instant and then of the key; without a key: before the instant. */
export type Bound = { atMs: number; key: readonly string[] | undefined };

/** What a source is asked for. It answers in the order of instant and key, the greatest first. */
export type Page = { bound: Bound; limit: number; timeZone: string; event: string | undefined };

export type Source = (executor: Executor, user: UserAccount, page: Page) => Promise<Entry[]>;

/** Of things that are few and all in memory, those before the bound. Their keys are plain ASCII, whose order is the same everywhere. */
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
