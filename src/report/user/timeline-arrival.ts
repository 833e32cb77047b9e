import type { TimelineItem } from "../../contract/admin/admin-user.ts";
import { loadDecisions, type StoredDecision } from "../../db/attribution-decision.ts";
import type { UserAccount } from "../../db/user-account.ts";
import { calendarOf } from "../../domain/calendar.ts";
import type { Bound, Entry, Source } from "./timeline.ts";

/** The registration, and each return that was attributed anew. */
export function readArrivals(kind: "registration" | "return"): Source {
  return async (executor, user, page) => {
    // A client that has only sent events has never arrived.
    if (!user.isRegistered) return [];
    const decisions = await loadDecisions(executor, user);
    const entries =
      kind === "registration"
        ? [registrationOf(user, decisions[0], page.timeZone)]
        : decisions.slice(1).map((decision) => returnOf(decision, page.timeZone));
    return pageOf(entries, page);
  };
}

function registrationOf(user: UserAccount, decision: StoredDecision | undefined, timeZone: string): Entry {
  return {
    key: ["1"],
    item: {
      ...{ kind: "registration", at: calendarOf(timeZone).textOf(user.registeredAtMs), at_ms: user.registeredAtMs },
      ...{ ad_platform: decision?.adPlatform ?? "", method: decision?.method ?? "", number: decision?.number ?? 0 },
      ...{ campaign: decision?.turboPromotedObjectId ?? "", channel: user.channel, version: user.version },
      is_history: user.isHistory,
    },
  };
}

function returnOf(decision: StoredDecision, timeZone: string): Entry {
  return {
    key: [String(decision.number)],
    item: {
      ...{ kind: "return", at: calendarOf(timeZone).textOf(decision.atMs), at_ms: decision.atMs },
      ...{ ad_platform: decision.adPlatform, method: decision.method, number: decision.number },
      campaign: decision.turboPromotedObjectId,
    },
  };
}

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
