import { loadDecisions, type StoredDecision } from "../../db/attribution-decision.ts";
import type { UserAccount } from "../../db/user-account.ts";
import { calendarOf } from "../../domain/calendar.ts";
import { type Entry, pageOf, type Source } from "./timeline-source.ts";

/** The registration, or the returns that were attributed anew. */
export function readArrivals(kind: "registration" | "return"): Source {
  return async (executor, user, page) => {
    // A client that only sent events has neither registered nor returned.
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
      kind: "registration",
      at: calendarOf(timeZone).textOf(user.registeredAtMs),
      at_ms: user.registeredAtMs,
      ad_platform: decision?.adPlatform ?? "",
      method: decision?.method ?? "",
      number: decision?.number ?? 0,
      campaign: decision?.campaignId ?? "",
      channel: user.channel,
      version: user.version,
      is_history: user.isHistory,
    },
  };
}

function returnOf(decision: StoredDecision, timeZone: string): Entry {
  return {
    key: [String(decision.number)],
    item: {
      kind: "return",
      at: calendarOf(timeZone).textOf(decision.atMs),
      at_ms: decision.atMs,
      ad_platform: decision.adPlatform,
      method: decision.method,
      number: decision.number,
      campaign: decision.campaignId,
    },
  };
}
