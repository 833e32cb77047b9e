import { type AppRules, loadAppRules } from "../db/app.ts";
import { sumOutbox } from "../db/outbox.ts";
import { ALL_STATUSES, listPostbacks } from "../db/postback-list.ts";
import type { Executor } from "../db/sql.ts";
import { calendarOf } from "../domain/calendar.ts";
import { POSTBACK_STATUS_TEXTS } from "../domain/postback.ts";
import type { ListWish } from "../domain/postback-request.ts";
import { listAccounts, type ShownAccount } from "../outbound/accounts.ts";
import type { Vault } from "../vault.ts";

/** A postback as people see it. Times are in the app's zone, amounts in cents. */
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
  at: string;
  changed_at: string;
};

/** The newest ones first. */
export async function showPostbacks(
  executor: Executor,
  { appId, timeZone }: Pick<AppRules, "appId" | "timeZone">,
  wish: ListWish,
): Promise<ShownPostback[]> {
  const { status, adPlatform, eventType, clientId, limit } = wish;
  const statuses = status === undefined ? ALL_STATUSES : [status];
  const calendar = calendarOf(timeZone);
  const rows = await listPostbacks(executor, { appId, statuses, adPlatform, eventType, clientId }, limit);
  return rows.map((row) => ({
    client_id: row.clientId,
    event_type: row.eventType,
    subject: row.subject,
    trace_id: row.traceId,
    ad_platform: row.adPlatform,
    moment: row.moment,
    rule_id: row.ruleId,
    status: row.status,
    status_text: POSTBACK_STATUS_TEXTS[row.status] ?? "",
    reason: row.reason,
    attempts: row.attempts,
    resent: row.resent,
    value_cents: row.valueCents,
    back_cents: row.backCents,
    at: calendar.textOf(row.atMs),
    changed_at: calendar.textOf(row.changedAtMs),
  }));
}

/** What waits for one account or callback. */
export type ShownLane = {
  app_id: number;
  /** The platform and the advertiser's account, or `$attribution`, `$event`. */
  to: string;
  waiting: number;
  in_flight: number;
  first_due_at: string;
};

/** An account and what went wrong with it last; the empty text: nothing. */
export type AccountState = Pick<
  ShownAccount,
  "ad_platform" | "advertiser_id" | "postbacks" | "costs" | "last_error" | "last_error_at"
> & { app_id: number };

export type PostbackState = { lanes: ShownLane[]; accounts: AccountState[] };

/** Of one app, or of all. */
export async function showState(executor: Executor, vault: Vault, appId?: number): Promise<PostbackState> {
  const apps = (await loadAppRules(executor)).filter((app) => appId === undefined || app.appId === appId);
  const accounts: AccountState[] = [];
  for (const app of apps) {
    for (const account of await listAccounts(executor, vault, app)) {
      const { ad_platform, advertiser_id, postbacks, costs, last_error, last_error_at } = account;
      const state = { app_id: app.appId, ad_platform, advertiser_id, postbacks, costs, last_error, last_error_at };
      accounts.push(state);
    }
  }
  return { lanes: await showLanes(executor, apps), accounts };
}

async function showLanes(
  executor: Executor,
  apps: readonly Pick<AppRules, "appId" | "timeZone">[],
): Promise<ShownLane[]> {
  const zones = new Map(apps.map(({ appId, timeZone }) => [appId, timeZone]));
  return (await sumOutbox(executor)).flatMap(({ lane, waiting, inFlight, dueAtMs }) => {
    const [id = "", ...to] = lane.split(" ");
    const zone = zones.get(Number(id));
    if (zone === undefined) return [];
    return [
      {
        ...{ app_id: Number(id), to: to.join(" ").trimEnd(), waiting: waiting - inFlight, in_flight: inFlight },
        first_due_at: calendarOf(zone).textOf(dueAtMs),
      },
    ];
  });
}
