import { type AppRules, loadAppRules } from "../db/app.ts";
import type { Executor } from "../db/engine/sql.ts";
import { loadPauses } from "../db/lane-pause.ts";
import { sumOutbox } from "../db/outbox.ts";
import { loadAccounts } from "../db/platform-account.ts";
import { ALL_STATUSES, countPostbacks, countReasons, type ListedPostback, listPostbacks } from "../db/postback-list.ts";
import { type RefundSum, sumRefunds } from "../db/refund.ts";
import { type Calendar, calendarOf } from "../domain/calendar.ts";
import { POSTBACK_STATUS_TEXTS, type PostbackStatus } from "../domain/postback/postback.ts";
import { type ListWish, positionText } from "../domain/postback/postback-request.ts";
import { type ShownAccount, shownAccount } from "../outbound/account-view.ts";
import type { Vault } from "../vault.ts";

const REASONS_MAX = 50;

/** A postback as shown to people. Times are in the app's zone, amounts in cents. */
export type ShownPostback = {
  client_id: string;
  event_type: string;
  subject: string;
  trace_id: string;
  ad_platform: string;
  moment: string;
  rule_id: number;
  status: number;
  status_text: string;
  reason: string;
  attempts: number;
  resent: number;
  value_cents: number | null;
  back_cents: number;
  /** What was paid back of its order, and when last: 0 and the empty text if nothing was. */
  refunded_cents: number;
  refunded_at: string;
  at: string;
  changed_at: string;
};

/** A page of postbacks, and where the next page begins; the empty text when there is none. */
export type ShownPostbacks = { postbacks: ShownPostback[]; next: string };

/**
 * Postbacks, newest first. A refund neither withdraws the postbacks of its order nor sends anything: they are shown
 * with it. The mark is read from the refunds, so it is never out of step with them.
 */
export async function showPostbacks(
  executor: Executor,
  { appId, timeZone }: Pick<AppRules, "appId" | "timeZone">,
  wish: ListWish,
): Promise<ShownPostbacks> {
  const { status, adPlatform, eventType, clientId, after, limit } = wish;
  const statuses = status === undefined ? ALL_STATUSES : [status];
  const filter = { appId, statuses, adPlatform, eventType, clientId };
  // One more than is shown tells whether there is another page.
  const found = await listPostbacks(executor, filter, { after, limit: limit + 1 });
  const rows = found.slice(0, limit);
  const calendar = calendarOf(timeZone);
  const next = found.length > limit ? positionText(rows.at(-1)!) : "";
  const orders = rows.flatMap(({ traceId }) => (traceId === "" ? [] : [traceId]));
  const refunds = await sumRefunds(executor, appId, orders);
  return { postbacks: rows.map((row) => shownPostback(row, refunds.get(row.traceId), calendar)), next };
}

function shownPostback(row: ListedPostback, refund: RefundSum | undefined, calendar: Calendar): ShownPostback {
  return {
    client_id: row.clientId,
    event_type: row.eventType,
    subject: row.subject,
    trace_id: row.traceId,
    ad_platform: row.adPlatform,
    moment: row.moment,
    rule_id: row.ruleId,
    ...namedStatus(row.status),
    reason: row.reason,
    attempts: row.attempts,
    resent: row.resent,
    value_cents: row.valueCents,
    back_cents: row.backCents,
    refunded_cents: refund?.cents ?? 0,
    refunded_at: refund ? calendar.textOf(refund.atMs) : "",
    at: calendar.textOf(row.atMs),
    changed_at: calendar.textOf(row.changedAtMs),
  };
}

/** The postbacks of the last hours by status, and the reasons of those that were not accepted. */
export type RecentPostbacks = {
  hours: number;
  statuses: { status: number; status_text: string; postbacks: number }[];
  reasons: { status: number; status_text: string; ad_platform: string; reason: string; postbacks: number }[];
};

const HOUR_MS = 3_600_000;
const RECENT_HOURS = 24;

export async function showRecent(executor: Executor, appId: number, nowMs: number): Promise<RecentPostbacks> {
  const since = { appId, sinceMs: nowMs - RECENT_HOURS * HOUR_MS };
  const counts = new Map((await countPostbacks(executor, since)).map((one) => [one.status, one.postbacks]));
  const reasons = await countReasons(executor, { ...since, limit: REASONS_MAX });
  return {
    hours: RECENT_HOURS,
    statuses: ALL_STATUSES.map((status) => ({ ...namedStatus(status), postbacks: counts.get(status) ?? 0 })),
    reasons: reasons.map(({ status, adPlatform, reason, postbacks }) => ({
      ...namedStatus(status),
      ad_platform: adPlatform,
      reason,
      postbacks,
    })),
  };
}

function namedStatus(status: PostbackStatus) {
  return { status, status_text: POSTBACK_STATUS_TEXTS[status] ?? "" };
}

/** The postbacks waiting for one account or callback. */
export type ShownLane = {
  app_id: number;
  /** The platform and the advertiser's account, or `$attribution`, `$event`. */
  to: string;
  waiting: number;
  in_flight: number;
  first_due_at: string;
  /** The receiver is down, and nothing is sent to it until then; the empty text when it is not paused. */
  paused_until: string;
  /** Failed calls in a row. */
  failures: number;
};

/** An account and its last error; the empty text when there is none. */
export type AccountState = Pick<
  ShownAccount,
  | "ad_platform"
  | "advertiser_id"
  | "postbacks"
  | "costs"
  | "last_error"
  | "last_error_at"
  | "refresh_expires_at"
  | "refresh_state"
> & { app_id: number };

export type PostbackState = { lanes: ShownLane[]; accounts: AccountState[] };

/** The outbox of one app, or of all apps. */
export async function showState(
  executor: Executor,
  vault: Vault,
  { appId, nowMs }: { appId: number | undefined; nowMs: number },
): Promise<PostbackState> {
  const apps = await loadAppRules(executor, appId === undefined ? undefined : [appId]);
  const zones: Zones = new Map(apps.map((app) => [app.appId, app.timeZone]));
  const accounts = (await loadAccounts(executor, vault, appId)).map((account): AccountState => {
    const calendar = calendarOf(zones.get(account.appId) ?? "UTC");
    const shown = shownAccount(account, { calendar, nowMs });
    return {
      app_id: account.appId,
      ad_platform: shown.ad_platform,
      advertiser_id: shown.advertiser_id,
      postbacks: shown.postbacks,
      costs: shown.costs,
      last_error: shown.last_error,
      last_error_at: shown.last_error_at,
      refresh_expires_at: shown.refresh_expires_at,
      refresh_state: shown.refresh_state,
    };
  });
  return { lanes: await showLanes(executor, zones, nowMs), accounts };
}

/** The time zone of each app. */
type Zones = ReadonlyMap<number, string>;

async function showLanes(executor: Executor, zones: Zones, nowMs: number): Promise<ShownLane[]> {
  const pauses = await loadPauses(executor, nowMs);
  return (await sumOutbox(executor)).flatMap(({ lane, waiting, inFlight, dueAtMs }) => {
    const [id = "", ...to] = lane.split(" ");
    const zone = zones.get(Number(id));
    if (zone === undefined) return [];
    const [pause, calendar] = [pauses.get(lane), calendarOf(zone)];
    return [
      {
        app_id: Number(id),
        to: to.join(" ").trimEnd(),
        waiting: waiting - inFlight,
        in_flight: inFlight,
        first_due_at: calendar.textOf(dueAtMs),
        paused_until: pause ? calendar.textOf(pause.pausedUntilMs) : "",
        failures: pause?.failures ?? 0,
      },
    ];
  });
}
