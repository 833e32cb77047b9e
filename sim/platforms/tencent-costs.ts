import {
  type Answer,
  answer,
  type Call,
  idsOf,
  isFields,
  jsonParameter,
  memberOf,
  namesParameter,
  parameter,
  Refusal,
} from "./call.ts";
import {
  assertDays,
  assertReach,
  type CostBook,
  type CostRow,
  numberId,
  type Page,
  pageAsked,
  sumBy,
  withNumberIds,
} from "./costs.ts";
import type { Dialect, Route } from "./stand-in.ts";
import { Pace } from "./tokens.ts";

/** What each level may be grouped by. */
const LEVELS: ReadonlyMap<string, readonly string[]> = new Map([
  ["REPORT_LEVEL_ADVERTISER", ["date", "account_id"]],
  ["REPORT_LEVEL_ADGROUP", ["date", "account_id", "adgroup_id"]],
  ["REPORT_LEVEL_DYNAMIC_CREATIVE", ["date", "account_id", "adgroup_id", "dynamic_creative_id"]],
]);
const TIME_LINES: ReadonlySet<string> = new Set(["REQUEST_TIME", "REPORTING_TIME", "ACTIVE_TIME"]);
/** Certain: the page of daily_reports names these limits. */
const PAGE_MAX = 99_999;
const ROWS_MAX = 20_000;
const REACH_DAYS = 365;
const RATE_LIMITED = 11017;
const NO_PERMISSION = 11003;

/** Throws if a call is not authenticated. */
export type Gate = (call: Call) => void;

/** The columns by which a report can be shown and grouped. Money is in fen. */
const COLUMNS: Readonly<Record<string, (row: CostRow) => string | number>> = {
  date: ({ day }) => day,
  account_id: ({ account }) => numberId(account),
  adgroup_id: ({ adId }) => numberId(adId),
  adgroup_name: ({ adName }) => adName,
  dynamic_creative_id: ({ creativeId }) => numberId(creativeId ?? ""),
  view_count: ({ impressions }) => impressions,
  valid_click_count: ({ clicks }) => clicks,
  cost: ({ cents }) => cents,
};
const COLUMN_NAMES: ReadonlySet<string> = new Set(Object.keys(COLUMNS));
const GROUPS: ReadonlySet<string> = new Set(["date", "account_id", "adgroup_id", "dynamic_creative_id"]);

export function tencentCostRoutes(
  book: CostBook,
  { dialect, gate, perMinute }: { dialect: Dialect; gate: Gate; perMinute: number },
): readonly Route[] {
  const route = (path: string, read: (call: Call, account: string) => Answer): Route => {
    const pace = new Pace({ limit: perMinute, windowMs: 60_000 });
    return {
      methods: ["GET"],
      path,
      dialect,
      take(call) {
        gate(call);
        if (pace.take(call.nowMs).isOver) throw new Refusal("too many calls in a minute", RATE_LIMITED);
        const account = parameter(call.query, "account_id");
        book.assertAccount(account, NO_PERMISSION);
        return read(call, account);
      },
    };
  };
  return [
    route("/v3.0/daily_reports/get", (call, account) => dailyReport(call, { book, account })),
    route("/v3.0/hourly_reports/get", (call, account) => hourlyReport(call, { book, account })),
    route("/v3.0/adgroups/get", (call, account) => adgroups(call, { book, account })),
    route("/v3.0/dynamic_creatives/get", (call, account) => dynamicCreatives(call, { book, account })),
    route("/v3.0/advertiser/get", (call, account) => advertiser(call, { book, account })),
  ];
}

type Asked = { book: CostBook; account: string };

function dailyReport({ query, nowMs }: Call, { book, account }: Asked): Answer {
  const level = memberOf(new Set(LEVELS.keys()), { name: "level", value: parameter(query, "level") });
  const range = jsonParameter(query, "date_range") as { start_date?: unknown; end_date?: unknown } | null;
  const days = assertDays({ firstDay: range?.start_date, lastDay: range?.end_date, daysMax: 90 });
  assertReach(days, { nowMs, days: REACH_DAYS });
  const groups = namesParameter(query, { parameter: "group_by", known: GROUPS });
  const fields = namesParameter(query, { parameter: "fields", known: COLUMN_NAMES });
  const below = groups.find((group) => !LEVELS.get(level)!.includes(group));
  if (below !== undefined) throw new Refusal(`group_by ${below} is below the level`);
  const timeLine = query.get("time_line");
  if (timeLine !== null) memberOf(TIME_LINES, { name: "time_line", value: timeLine });
  const rows = book.between(account, days);
  const held = level === "REPORT_LEVEL_DYNAMIC_CREATIVE" ? rows.filter((row) => row.creativeId !== undefined) : rows;
  const sums = sumBy(held, (row) => groups.map((group) => COLUMNS[group]!(row)).join(" "));
  const limits = { sizeMax: 2000, pageMax: PAGE_MAX, rowsMax: ROWS_MAX, pageRows: book.pageRows };
  return listed(pageAsked(query, { items: sums, ...limits }), (row) =>
    Object.fromEntries(fields.map((field) => [field, COLUMNS[field]!(row)])),
  );
}

/** Certain: one day of the last 90, and the hour as a number. Likely: that hour and ad may group it. */
function hourlyReport({ query, nowMs }: Call, { book, account }: Asked): Answer {
  memberOf(new Set(LEVELS.keys()), { name: "level", value: parameter(query, "level") });
  const range = jsonParameter(query, "date_range") as { start_date?: unknown; end_date?: unknown } | null;
  const days = assertDays({ firstDay: range?.start_date, lastDay: range?.end_date, daysMax: 1 });
  assertReach(days, { nowMs, days: 90 });
  const columns: typeof COLUMNS = { ...COLUMNS, hour: ({ hour }) => hour ?? 0 };
  const groups = namesParameter(query, { parameter: "group_by", known: new Set([...GROUPS, "hour"]) });
  const fields = namesParameter(query, { parameter: "fields", known: new Set(Object.keys(columns)) });
  const rows = book.between(account, days).filter(({ hour }) => hour !== undefined);
  const sums = sumBy(rows, (row) => groups.map((group) => columns[group]!(row)).join(" "));
  return listed(pageAsked(query, { items: sums, sizeMax: 2000, pageMax: 100, pageRows: book.pageRows }), (row) =>
    Object.fromEntries(fields.map((field) => [field, columns[field]!(row)])),
  );
}

function adgroups({ query }: Call, { book, account }: Asked): Answer {
  const ids = idFilter(query, "adgroup_id");
  const page = pageAsked(query, { items: book.ads(account, ids), sizeMax: 100, pageRows: book.pageRowsOf(ids) });
  return listed(page, (row) => ({
    adgroup_id: numberId(row.adId),
    adgroup_name: row.adName,
    configured_status: "AD_STATUS_NORMAL",
    system_status: "ADGROUP_STATUS_ACTIVE",
  }));
}

function dynamicCreatives({ query }: Call, { book, account }: Asked): Answer {
  const ids = idFilter(query, "dynamic_creative_id");
  const page = pageAsked(query, { items: book.creatives(account, ids), sizeMax: 100, pageRows: book.pageRowsOf(ids) });
  return listed(page, (row) => ({
    adgroup_id: numberId(row.adId),
    dynamic_creative_id: numberId(row.creativeId ?? ""),
    dynamic_creative_name: row.creativeName ?? "",
    configured_status: "AD_STATUS_NORMAL",
  }));
}

function idFilter(query: URLSearchParams, field: string): ReadonlySet<string> | undefined {
  if (!query.has("filtering")) return undefined;
  const [filter, ...more] = [jsonParameter(query, "filtering")].flat();
  if (!isFields(filter) || more.length > 0 || filter.field !== field || filter.operator !== "IN")
    throw new Refusal("filtering is not served here");
  return idsOf(filter.values, { name: "values", max: 100 });
}

function advertiser({ query }: Call, { book, account }: Asked): Answer {
  return listed(pageAsked(query, { items: [account], sizeMax: 100, pageRows: book.pageRows }), (id) => ({
    account_id: numberId(id),
    corporation_name: book.accountName(id),
    memo: "",
    system_status: "CUSTOMER_STATUS_NORMAL",
  }));
}

function listed<Item>({ items, page, pageSize, total, pages }: Page<Item>, show: (item: Item) => object): Answer {
  const page_info = { page, page_size: pageSize, total_number: total, total_page: pages };
  const shown = answer({ code: 0, message: "", data: { list: items.map(show), page_info } });
  return { ...shown, body: withNumberIds(shown.body) };
}
