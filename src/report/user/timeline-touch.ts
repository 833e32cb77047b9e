import { loadDecisions } from "../../db/attribution-decision.ts";
import type { Executor } from "../../db/engine/sql.ts";
import { findNewest, loadTouches } from "../../db/touch.ts";
import type { UserAccount } from "../../db/user-account.ts";
import type { Outcome } from "../../domain/attribution/attribution.ts";
import type { Flag } from "../../domain/attribution/fraud.ts";
import type { Touch } from "../../domain/attribution/touch.ts";
import { deviceKeys, openIdKeys } from "../../domain/attribution/touch-key.ts";
import { calendarOf } from "../../domain/calendar.ts";
import { LIMITS } from "../../limits.ts";
import type { Entry, Page } from "./timeline-source.ts";
import { pageOf } from "./timeline-source.ts";

type JudgedTouch = { touch: Touch; outcome: Outcome | ""; flags: readonly Flag[] };

/**
 * Every touch that a decision on the user considered, and later ones of the same device or open id: they do not count
 * unless the user returns, but they belong to what the user did.
 */
export async function readTouches(executor: Executor, user: UserAccount, page: Page): Promise<Entry[]> {
  const touches = new Map<string, JudgedTouch>();
  for (const touch of await touchesOfKeys(executor, user))
    touches.set(touch.touchId, { touch, outcome: "", flags: [] });
  // The latest decision has the last word.
  for (const { candidates } of await loadDecisions(executor, user)) {
    for (const { touch, outcome, flags } of candidates) touches.set(touch.touchId, { touch, outcome, flags });
  }
  return pageOf(
    [...touches.values()].map((judged) => entryOf(judged, page.timeZone)),
    page,
  );
}

async function touchesOfKeys(executor: Executor, user: UserAccount): Promise<Touch[]> {
  const keys = [...(user.device ? deviceKeys(user.device) : []), ...openIdKeys(user.wxOpenid)];
  const everAfter = { appId: user.appId, fromMs: 0, untilMs: Number.MAX_SAFE_INTEGER };
  const lookups = keys.map(({ value }) => ({ ...everAfter, key: value }));
  const rows = await findNewest(executor, lookups, LIMITS.touchesPerKey);
  return [...(await loadTouches(executor, rows)).values()];
}

function entryOf({ touch, outcome, flags }: JudgedTouch, timeZone: string): Entry {
  return {
    key: [touch.touchId],
    item: {
      kind: "touch",
      at: calendarOf(timeZone).textOf(touch.touchedAtMs),
      at_ms: touch.touchedAtMs,
      touch_id: touch.touchId,
      touch_kind: touch.kind,
      ad_platform: touch.platform,
      campaign: touch.campaignId,
      advertiser_id: touch.advertiserId,
      gid: touch.gid,
      aid: touch.aid,
      cid: touch.cid,
      csite: touch.csite,
      outcome,
      flags: [...flags],
    },
  };
}
