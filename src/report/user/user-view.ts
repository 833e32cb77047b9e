import type { UserView } from "../../contract/admin/admin-user.ts";
import { withAdvertisers } from "../../db/ad-account.ts";
import { loadAdNames, type NamedLevel } from "../../db/ad-names.ts";
import type { AppRules } from "../../db/app.ts";
import { loadCampaign } from "../../db/campaign.ts";
import { type Executor, query, sql } from "../../db/engine/sql.ts";
import { loadUsers, type UserAccount } from "../../db/user-account.ts";
import { ORGANIC } from "../../domain/attribution/attribution.ts";
import { calendarOf } from "../../domain/calendar.ts";
import { POSTBACK_STATUS } from "../../domain/postback/postback.ts";
import type { UserKey } from "../../domain/user/user-key.ts";
import { userListRecord } from "../list/user-record.ts";

/** Everything known about one user except the timeline. Undefined when there is no such user. */
export async function viewUser(
  executor: Executor,
  app: Pick<AppRules, "appId" | "timeZone" | "currency">,
  clientId: string,
): Promise<UserView | undefined> {
  const users = await loadUsers(executor, [{ appId: app.appId, clientId }]);
  const [user] = await withAdvertisers(executor, users);
  if (!user) return undefined;
  return {
    record: userListRecord(user, app),
    time_zone: app.timeZone,
    currency: app.currency,
    is_registered: user.isRegistered,
    is_history: user.isHistory,
    wx_unionid: user.wxUnionid,
    os_platform: user.osPlatform,
    ip: user.ip,
    ua: user.ua,
    latest_event_at: timeText(user.latestEventAtMs, app),
    source: { ...sourceFields(user, app), ...(await namesOf(executor, user)) },
    device: user.device,
    properties: user.properties,
    counts: { ...(await countActivity(executor, user)), postbacks: await countPostbacks(executor, user) },
  };
}

function timeText(atMs: number | null, { timeZone }: Pick<AppRules, "timeZone">): string {
  return atMs === null ? "" : calendarOf(timeZone).textOf(atMs);
}

type Names = "campaign_name" | "advertiser_name" | "gid_name" | "aid_name";

function sourceFields(user: UserAccount, app: Pick<AppRules, "timeZone">): Omit<UserView["source"], Names> {
  return {
    ad_platform: user.adPlatform || ORGANIC,
    method: user.method as UserView["source"]["method"],
    touched_at: timeText(user.touchedAtMs, app),
    decision_number: user.decisionNumber,
    turbo_promoted_object_id: user.campaignId,
    advertiser_id: user.advertiserId,
    gid: user.gid,
    aid: user.aid,
    cid: user.cid,
    csite: user.csite,
    ad_data: user.adData,
  };
}

/** Display names of the campaign, account, plan and ad; empty where none is known. */
async function namesOf(executor: Executor, user: UserAccount): Promise<Pick<UserView["source"], Names>> {
  const { appId, adPlatform } = user;
  const nameOf = async (level: NamedLevel, id: string) => {
    const names = await loadAdNames(executor, { appId, level, ids: [id] });
    return names.find((one) => one.adPlatform === adPlatform)?.name ?? "";
  };
  return {
    campaign_name: (await loadCampaign(executor, user))?.name ?? "",
    advertiser_name: await nameOf("account", user.advertiserId),
    gid_name: await nameOf("plan", user.gid),
    aid_name: await nameOf("ad", user.aid),
  };
}

/** Counts from the daily counters, which include the events of dropped days. */
async function countActivity(
  executor: Executor,
  { appId, clientId }: UserKey,
): Promise<Pick<UserView["counts"], "track_events" | "active_days">> {
  const [counts] = await query<{ trackEvents: number; activeDays: number }>(
    executor,
    sql`select coalesce(sum(track_events), 0)::bigint as track_events, count(distinct day)::int as active_days
      from user_day where app_id = ${appId} and client_id = ${clientId}`,
  );
  return { track_events: counts!.trackEvents, active_days: counts!.activeDays };
}

async function countPostbacks(executor: Executor, { appId, clientId }: UserKey): Promise<number[]> {
  const rows = await query<{ status: number; postbacks: number }>(
    executor,
    sql`select status, count(*)::int as postbacks from postback
      where app_id = ${appId} and client_id = ${clientId} group by status`,
  );
  const byStatus = new Map(rows.map(({ status, postbacks }) => [status, postbacks]));
  return Object.values(POSTBACK_STATUS).map((status) => byStatus.get(status) ?? 0);
}
