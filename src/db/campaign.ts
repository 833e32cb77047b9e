import { randomInt } from "node:crypto";
import { rowsOf } from "./engine/rows.ts";
import { type Executor, execute, query, type Sql, sql } from "./engine/sql.ts";

/** A promotion campaign: what a monitoring link belongs to, and what costs can be assigned to. */
export type Campaign = {
  appId: number;
  /** 16 characters. */
  campaignId: string;
  name: string;
  adPlatform: string;
  channel: string;
  osPlatform: string;
  operator: string;
  dept: string;
  createdAtMs: number;
};

export type CampaignChange = Partial<
  Pick<Campaign, "name" | "adPlatform" | "channel" | "osPlatform" | "operator" | "dept">
>;

const columns = sql`app_id, turbo_promoted_object_id as campaign_id, name, ad_platform, channel, os_platform, operator,
  dept, created_at_ms`;

export const CAMPAIGN_ID_LENGTH = 16;
/** Letters and digits that cannot be mistaken for one another. */
const ALPHABET = "abcdefghjkmnpqrstuvwxyz23456789";

export function newCampaignId(): string {
  return Array.from({ length: CAMPAIGN_ID_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join("");
}

/** Returns false when the app already has a campaign with that id. */
export async function createCampaign(executor: Executor, campaign: Campaign): Promise<boolean> {
  const made = await execute(
    executor,
    sql`insert into campaign (app_id, turbo_promoted_object_id, name, ad_platform, channel, os_platform, operator, dept, created_at_ms)
      values (${campaign.appId}, ${campaign.campaignId}, ${campaign.name}, ${campaign.adPlatform}, ${campaign.channel},
        ${campaign.osPlatform}, ${campaign.operator}, ${campaign.dept}, ${campaign.createdAtMs})
      on conflict (app_id, turbo_promoted_object_id) do nothing`,
  );
  return made > 0;
}

export async function loadCampaigns(executor: Executor, appId: number): Promise<Campaign[]> {
  return query<Campaign>(
    executor,
    sql`select ${columns} from campaign where app_id = ${appId} order by created_at_ms, turbo_promoted_object_id`,
  );
}

/** A page of an app's campaigns, newest first; an empty search finds all. */
export async function pageCampaigns(
  executor: Executor,
  asked: { appId: number; search: string; page: number; pageSize: number },
): Promise<{ campaigns: Campaign[]; total: number }> {
  const { appId, search, page, pageSize } = asked;
  const searched = sql`lower(concat_ws(' ', turbo_promoted_object_id, name, ad_platform, channel, operator, dept))`;
  const isMeant = sql`app_id = ${appId} and (${search}::text = '' or position(lower(${search}::text) in ${searched}) > 0)`;
  const campaigns = await query<Campaign>(
    executor,
    sql`select ${columns} from campaign where ${isMeant}
      order by created_at_ms desc, turbo_promoted_object_id limit ${pageSize} offset ${(page - 1) * pageSize}`,
  );
  const [counted] = await query<{ total: number }>(
    executor,
    sql`select count(*) as total from campaign where ${isMeant}`,
  );
  return { campaigns, total: counted!.total };
}

export async function loadCampaign(
  executor: Executor,
  key: Pick<Campaign, "appId" | "campaignId">,
): Promise<Campaign | undefined> {
  const [campaign] = await query<Campaign>(
    executor,
    sql`select ${columns} from campaign where app_id = ${key.appId} and turbo_promoted_object_id = ${key.campaignId}`,
  );
  return campaign;
}

export async function changeCampaign(
  executor: Executor,
  key: Pick<Campaign, "appId" | "campaignId">,
  change: CampaignChange,
): Promise<boolean> {
  const assignments: Sql[] = [];
  if (change.name !== undefined) assignments.push(sql`name = ${change.name}`);
  if (change.adPlatform !== undefined) assignments.push(sql`ad_platform = ${change.adPlatform}`);
  if (change.channel !== undefined) assignments.push(sql`channel = ${change.channel}`);
  if (change.osPlatform !== undefined) assignments.push(sql`os_platform = ${change.osPlatform}`);
  if (change.operator !== undefined) assignments.push(sql`operator = ${change.operator}`);
  if (change.dept !== undefined) assignments.push(sql`dept = ${change.dept}`);
  // Without changes, the update still tells whether the campaign exists.
  if (assignments.length === 0) assignments.push(sql`name = name`);
  const all = assignments.reduce((left, right) => sql`${left}, ${right}`);
  const changed = await execute(
    executor,
    sql`update campaign set ${all} where app_id = ${key.appId} and turbo_promoted_object_id = ${key.campaignId}`,
  );
  return changed > 0;
}

/** The platforms of some campaigns, without those that are not the app's or have no platform. */
export async function loadCampaignPlatforms(
  executor: Executor,
  keys: readonly Pick<Campaign, "appId" | "campaignId">[],
): Promise<Pick<Campaign, "appId" | "campaignId" | "adPlatform">[]> {
  if (keys.length === 0) return [];
  const wanted = rowsOf("wanted", keys, { appId: "int", turboPromotedObjectId: ["text", (key) => key.campaignId] });
  return query(
    executor,
    sql`select c.app_id, c.turbo_promoted_object_id as campaign_id, c.ad_platform from ${wanted}
      join campaign c using (app_id, turbo_promoted_object_id) where c.ad_platform <> ''`,
  );
}

/** Names by campaign id, without campaigns that have none. */
export async function loadCampaignNames(
  executor: Executor,
  { appId, ids }: { appId: number; ids: readonly string[] },
): Promise<Record<string, string>> {
  const rows = await query<{ id: string; name: string }>(
    executor,
    sql`select turbo_promoted_object_id as id, name from campaign
      where app_id = ${appId} and turbo_promoted_object_id = any(${ids}::text[]) and name <> ''`,
  );
  return Object.fromEntries(rows.map(({ id, name }) => [id, name]));
}
