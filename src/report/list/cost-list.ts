import { type AdLevel, loadAdNames, type NamedLevel } from "../../db/ad-names.ts";
import type { Cost } from "../../db/cost.ts";
import { allOf, type Executor, query, type Sql, sql } from "../../db/engine/sql.ts";
import { type Calendar, calendarOf } from "../../domain/calendar.ts";
import { type Page, type PageInfo, pageInfo } from "./list-request.ts";

/** Which stored costs. For platform and account, undefined means any, and the empty text those that name none. */
export type CostRange = {
  appId: number;
  fromDay: string;
  toDay: string;
  adPlatform: string | undefined;
  advertiserId: string | undefined;
};

/** The cost of an account's ads on a day. Money is in major units of the app's currency. */
export type CostDay = {
  date: string;
  ad_platform: string;
  advertiser_id: string;
  advertiser_name: string;
  rows: number;
  impressions: number;
  clicks: number;
  cost: number;
  /** Where the rows come from: the platform, files, or both. */
  source: "pull" | "file" | "both";
  /** The part of the cost that belongs to no ad. */
  not_by_ad: number;
  changed_at: string;
};

export type CostTotal = Pick<CostDay, "rows" | "impressions" | "clicks" | "cost">;
export type CostDays = { page_info: PageInfo; days: CostDay[]; total: CostTotal };

type Sums = { rows: number; impressions: number; clicks: number; costE4: number };
type DayRow = Sums & {
  date: string;
  adPlatform: string;
  advertiserId: string;
  /** Rows unchanged since they were pulled. */
  pulledRows: number;
  notByAdE4: number;
  changedAtMs: number;
};

const sums = sql`count(*) as rows, coalesce(sum(c.impressions), 0)::bigint as impressions,
  coalesce(sum(c.clicks), 0)::bigint as clicks, coalesce(sum(c.cost_e4), 0)::bigint as cost_e4`;

/** Costs by day and account, newest days first. */
export async function listCostDays(
  executor: Executor,
  { timeZone, ...range }: CostRange & { timeZone: string },
  page: Page,
): Promise<CostDays> {
  const rows = await query<DayRow>(
    executor,
    sql`select c.day as date, c.ad_platform, c.advertiser_id, ${sums},
        count(*) filter (where c.changed_at_ms = p.pulled_at_ms) as pulled_rows, max(c.changed_at_ms) as changed_at_ms,
        coalesce(sum(c.cost_e4) filter (where c.aid = ''), 0)::bigint as not_by_ad_e4
      from cost c
      left join cost_pull p on p.app_id = c.app_id and p.ad_platform = c.ad_platform
        and p.advertiser_id = c.advertiser_id and p.day = c.day
      where ${isIn(range)} group by c.day, c.ad_platform, c.advertiser_id
      order by c.day desc, c.ad_platform, c.advertiser_id limit ${page.pageSize} offset ${(page.page - 1) * page.pageSize}`,
  );
  const accountOf = await nameReader(
    executor,
    { appId: range.appId, level: "account" },
    rows,
    (row) => row.advertiserId,
  );
  const [total] = await query<Sums & { days: number }>(
    executor,
    sql`select count(distinct (c.day, c.ad_platform, c.advertiser_id)) as days, ${sums} from cost c where ${isIn(range)}`,
  );
  const { days, ...all } = total!;
  const calendar = calendarOf(timeZone);
  return {
    page_info: pageInfo(page, days),
    days: rows.map((row) => shownDay(row, accountOf(row), calendar)),
    total: shownSums(all),
  };
}

/** Reads the name of one of a row's ids; empty where none is known. */
async function nameReader<Row extends { adPlatform: string }>(
  executor: Executor,
  of: { appId: number; level: NamedLevel },
  rows: readonly Row[],
  idOf: (row: Row) => string,
): Promise<(row: Row) => string> {
  const ids = [...new Set(rows.map(idOf))].filter((id) => id !== "");
  const names = ids.length === 0 ? [] : await loadAdNames(executor, { ...of, ids });
  const byId = new Map(names.map(({ adPlatform, id, name }) => [`${adPlatform} ${id}`, name]));
  return (row) => byId.get(`${row.adPlatform} ${idOf(row)}`) ?? "";
}

function shownDay(row: DayRow, name: string, calendar: Calendar): CostDay {
  const source = row.pulledRows === 0 ? "file" : row.pulledRows === row.rows ? "pull" : "both";
  return {
    date: row.date,
    ad_platform: row.adPlatform,
    advertiser_id: row.advertiserId,
    advertiser_name: name,
    ...shownSums(row),
    source,
    not_by_ad: row.notByAdE4 / 10_000,
    changed_at: calendar.textOf(row.changedAtMs),
  };
}

function shownSums({ rows, impressions, clicks, costE4 }: Sums): CostTotal {
  return { rows, impressions, clicks, cost: costE4 / 10_000 };
}

/** The stored cost of one ad on a day. */
export type CostRow = {
  date: string;
  ad_platform: string;
  advertiser_id: string;
  gid: string;
  gid_name: string;
  aid: string;
  aid_name: string;
  creative: string;
  creative_name: string;
  csite: string;
  channel: string;
  os_platform: string;
  turbo_promoted_object_id: string;
  impressions: number;
  clicks: number;
  cost: number;
};

export type CostRows = { page_info: PageInfo; rows: CostRow[] };

/** Costs row by row, the highest of a day first. */
export async function listCostRows(executor: Executor, range: CostRange, page: Page): Promise<CostRows> {
  const rows = await query<StoredCost>(
    executor,
    sql`select c.day as date, c.ad_platform, c.advertiser_id, c.gid, c.aid, c.cid, c.csite, c.channel, c.os_platform,
        c.turbo_promoted_object_id as campaign_id, c.impressions, c.clicks, c.cost_e4
      from cost c where ${isIn(range)} ${rowOrder} limit ${page.pageSize} offset ${(page.page - 1) * page.pageSize}`,
  );
  const { appId } = range;
  const names = {
    plan: await nameReader(executor, { appId, level: "plan" }, rows, ({ gid }) => gid),
    ad: await nameReader(executor, { appId, level: "ad" }, rows, ({ aid }) => aid),
    creative: await nameReader(executor, { appId, level: "creative" }, rows, ({ cid }) => cid),
  };
  const [counted] = await query<{ rows: number }>(
    executor,
    sql`select count(*) as rows from cost c where ${isIn(range)}`,
  );
  return { page_info: pageInfo(page, counted!.rows), rows: rows.map((row) => shownCost(row, names)) };
}

type StoredCost = Omit<Cost, "appId" | "day"> & { date: string };

function shownCost(row: StoredCost, names: Record<AdLevel, (row: StoredCost) => string>): CostRow {
  return {
    date: row.date,
    ad_platform: row.adPlatform,
    advertiser_id: row.advertiserId,
    gid: row.gid,
    gid_name: names.plan(row),
    aid: row.aid,
    aid_name: names.ad(row),
    creative: row.cid,
    creative_name: names.creative(row),
    csite: row.csite,
    channel: row.channel,
    os_platform: row.osPlatform,
    turbo_promoted_object_id: row.campaignId,
    impressions: row.impressions,
    clicks: row.clicks,
    cost: row.costE4 / 10_000,
  };
}

const rowOrder = sql`order by c.day desc, c.cost_e4 desc, c.ad_platform, c.advertiser_id, c.gid, c.aid, c.cid, c.csite,
  c.channel, c.os_platform, c.turbo_promoted_object_id`;

function isIn({ appId, fromDay, toDay, adPlatform, advertiserId }: CostRange): Sql {
  return allOf([
    sql`c.app_id = ${appId} and c.day >= ${fromDay}::date and c.day <= ${toDay}::date`,
    ...(adPlatform === undefined ? [] : [sql`c.ad_platform = ${adPlatform}`]),
    ...(advertiserId === undefined ? [] : [sql`c.advertiser_id = ${advertiserId}`]),
  ]);
}
