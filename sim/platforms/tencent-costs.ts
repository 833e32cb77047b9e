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

const LEVELS: ReadonlySet<string> = new Set(["REPORT_LEVEL_ADVERTISER", "REPORT_LEVEL_ADGROUP"]);
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
  view_count: ({ impressions }) => impressions,
  valid_click_count: ({ clicks }) => clicks,
  cost: ({ cents }) => cents,
};
const COLUMN_NAMES: ReadonlySet<string> = new Set(Object.keys(COLUMNS));
const GROUPS: ReadonlySet<string> = new Set(["date", "account_id", "adgroup_id"]);

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
    route("/v3.0/adgroups/get", (call, account) => adgroups(call, { book, account })),
    route("/v3.0/advertiser/get", (call, account) => advertiser(call, { book, account })),
  ];
}

type Asked = { book: CostBook; account: string };

function dailyReport({ query, nowMs }: Call, { book, account }: Asked): Answer {
  const level = memberOf(LEVELS, { name: "level", value: parameter(query, "level") });
  const range = jsonParameter(query, "date_range") as { start_date?: unknown; end_date?: unknown } | null;
  const days = assertDays({ firstDay: range?.start_date, lastDay: range?.end_date, daysMax: 90 });
  assertReach(days, { nowMs, days: REACH_DAYS });
  const groups = namesParameter(query, { parameter: "group_by", known: GROUPS });
  const fields = namesParameter(query, { parameter: "fields", known: COLUMN_NAMES });
  if (level === "REPORT_LEVEL_ADVERTISER" && groups.includes("adgroup_id"))
    throw new Refusal("group_by adgroup_id is below the level");
  const timeLine = query.get("time_line");
  if (timeLine !== null) memberOf(TIME_LINES, { name: "time_line", value: timeLine });
  const sums = sumBy(book.between(account, days), (row) => groups.map((group) => COLUMNS[group]!(row)).join(" "));
  const limits = { sizeMax: 2000, pageMax: PAGE_MAX, rowsMax: ROWS_MAX, pageRows: book.pageRows };
  return listed(pageAsked(query, { items: sums, ...limits }), (row) =>
    Object.fromEntries(fields.map((field) => [field, COLUMNS[field]!(row)])),
  );
}

function adgroups({ query }: Call, { book, account }: Asked): Answer {
  const ids = adgroupFilter(query);
  const page = pageAsked(query, { items: book.ads(account, ids), sizeMax: 100, pageRows: book.pageRowsOf(ids) });
  return listed(page, (row) => ({
    adgroup_id: numberId(row.adId),
    adgroup_name: row.adName,
    configured_status: "AD_STATUS_NORMAL",
    system_status: "ADGROUP_STATUS_ACTIVE",
  }));
}

function adgroupFilter(query: URLSearchParams): ReadonlySet<string> | undefined {
  if (!query.has("filtering")) return undefined;
  const [filter, ...more] = [jsonParameter(query, "filtering")].flat();
  if (!isFields(filter) || more.length > 0 || filter.field !== "adgroup_id" || filter.operator !== "IN")
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
