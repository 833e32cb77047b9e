import type { AuthoriseOptions } from "./authorise-page.ts";
import {
  type Answer,
  answer,
  type Call,
  idAt,
  idsOf,
  isFields,
  jsonBody,
  jsonParameter,
  namesParameter,
  parameter,
  Refusal,
  textAt,
} from "./call.ts";
import {
  assertDays,
  type CostBook,
  type CostRow,
  numberId,
  type Page,
  pageAsked,
  sumBy,
  withNumberIds,
} from "./costs.ts";
import { oceanEngineAuthoriseRoutes, tokensShown, type WorkbenchOptions } from "./ocean-engine-authorise.ts";
import type { Dialect, Route } from "./stand-in.ts";
import type { Tokens } from "./tokens.ts";

const BASE = "/open_api";
const CODE = {
  busy: 40100,
  expired: 40102,
  refreshExpired: 40103,
  unknown: 40105,
  parameter: 40000,
  permission: 40002,
};

/** Likely: the page says 100 since its days became seconds; older copies of it say 1000. */
const PAGE_SIZE_MAX = 100;

const DIALECT: Dialect = {
  refusal: ({ message, code = CODE.parameter }) => enveloped({ code, message, data: {} }),
  busy: enveloped({ code: CODE.busy, message: "too many requests", data: {} }),
  badToken: enveloped({ code: CODE.unknown, message: "access_token is invalid", data: {} }),
};

function enveloped(envelope: { code: number; message: string; data: unknown }): Answer {
  const shown = answer({ ...envelope, request_id: "0" });
  return { ...shown, body: withNumberIds(shown.body) };
}

const DIMENSIONS: Readonly<Record<string, (row: CostRow) => string>> = {
  stat_time_day: ({ day }) => day,
  stat_time_hour: ({ day, hour = 0 }) => `${day} ${String(hour).padStart(2, "0")}:00:00`,
  cdp_project_id: ({ planId }) => planId,
  cdp_project_name: ({ planName }) => planName,
  cdp_promotion_id: ({ adId }) => adId,
  cdp_promotion_name: ({ adName }) => adName,
};
/** Values as texts, as the platform may write numbers. Money is in yuan. */
const METRICS: Readonly<Record<string, (row: CostRow) => string>> = {
  stat_cost: ({ cents }) => (cents / 100).toFixed(2),
  show_cnt: ({ impressions }) => String(impressions),
  click_cnt: ({ clicks }) => String(clicks),
  active: () => "0",
  active_register: () => "0",
  active_pay: () => "0",
};
const DIMENSION_NAMES: ReadonlySet<string> = new Set(Object.keys(DIMENSIONS));
const METRIC_NAMES: ReadonlySet<string> = new Set(Object.keys(METRICS));

type Account = { tokens: Tokens; appId: string; secret: string };

export function oceanEngineCostRoutes(
  book: CostBook,
  { tokens, appId, secret, ...options }: Account & AuthoriseOptions & WorkbenchOptions,
): readonly Route[] {
  const route = (path: string, read: (call: Call) => Answer): Route => ({
    methods: ["GET"],
    path: BASE + path,
    dialect: DIALECT,
    take(call) {
      tokens.assert(call.headers["access-token"] as string | undefined, CODE);
      return read(call);
    },
  });
  return [
    route("/v3.0/report/custom/get/", ({ query }) => customReport(query, book)),
    route("/v3.0/project/list/", ({ query }) => projects(query, book)),
    route("/v3.0/promotion/list/", ({ query }) => promotions(query, book)),
    route("/2/advertiser/info/", ({ query }) => advertisers(query, book)),
    {
      methods: ["POST"],
      path: `${BASE}/oauth2/refresh_token/`,
      dialect: DIALECT,
      take: (call) => refreshed(call, { tokens, appId, secret }),
    },
    ...oceanEngineAuthoriseRoutes({
      ...options,
      book,
      tokens,
      appId,
      secret,
      base: BASE,
      dialect: DIALECT,
      enveloped,
      refusals: CODE,
    }),
  ];
}

function accountOf(query: URLSearchParams, book: CostBook): string {
  const account = parameter(query, "advertiser_id");
  book.assertAccount(account, CODE.permission);
  return account;
}

function customReport(query: URLSearchParams, book: CostBook): Answer {
  const account = accountOf(query, book);
  if ((query.get("data_topic") ?? "BASIC_DATA") !== "BASIC_DATA") throw new Refusal("data_topic is not served here");
  const dimensions = namesParameter(query, { parameter: "dimensions", known: DIMENSION_NAMES });
  const metrics = namesParameter(query, { parameter: "metrics", known: METRIC_NAMES });
  // Certain: both are sent even when they hold nothing.
  for (const name of ["filters", "order_by"])
    if (!Array.isArray(jsonParameter(query, name))) throw new Refusal(`${name} is not a list`);
  const days = assertDays({
    firstDay: parameter(query, "start_time").replace(/ 00:00:00$/, ""),
    lastDay: parameter(query, "end_time").replace(/ 23:59:59$/, ""),
    daysMax: 30,
  });
  const all = book.between(account, days);
  const rows = dimensions.includes("stat_time_hour") ? all.filter(({ hour }) => hour !== undefined) : all;
  const sums = sumBy(rows, (row) => dimensions.map((dimension) => DIMENSIONS[dimension]!(row)).join(" "));
  const page = pageAsked(query, { items: sums, sizeMax: PAGE_SIZE_MAX, pageRows: book.pageRows });
  const pick = (columns: typeof METRICS, chosen: readonly string[], row: CostRow) =>
    Object.fromEntries(chosen.map((name) => [name, columns[name]!(row)]));
  const total = sumBy(rows, () => "")[0];
  return enveloped({
    code: 0,
    message: "OK",
    data: {
      rows: page.items.map((row) => ({
        dimensions: pick(DIMENSIONS, dimensions, row),
        metrics: pick(METRICS, metrics, row),
      })),
      total_metrics: total === undefined ? {} : pick(METRICS, metrics, total),
      page_info: pageShown(page),
    },
  });
}

function projects(query: URLSearchParams, book: CostBook): Answer {
  const ids = idFilter(query);
  const items = book.plans(accountOf(query, book), ids);
  const page = pageAsked(query, { items, sizeMax: 10, pageRows: book.pageRowsOf(ids) });
  const list = page.items.map((row) => ({
    project_id: numberId(row.planId),
    advertiser_id: numberId(row.account),
    name: row.planName,
    status: "PROJECT_STATUS_ENABLE",
  }));
  return enveloped({ code: 0, message: "OK", data: { list, page_info: pageShown(page) } });
}

function idFilter(query: URLSearchParams): ReadonlySet<string> | undefined {
  if (!query.has("filtering")) return undefined;
  const filtering = jsonParameter(query, "filtering");
  if (!isFields(filtering)) throw new Refusal("filtering is not an object");
  return idsOf(filtering.ids, { name: "ids", max: 100 });
}

function promotions(query: URLSearchParams, book: CostBook): Answer {
  const ids = idFilter(query);
  const items = book.ads(accountOf(query, book), ids);
  const page = pageAsked(query, { items, sizeMax: 10, pageRows: book.pageRowsOf(ids) });
  const list = page.items.map((row) => ({
    promotion_id: numberId(row.adId),
    promotion_name: row.adName,
    project_id: numberId(row.planId),
    advertiser_id: numberId(row.account),
    status: "OK",
    status_first: "PROMOTION_STATUS_ENABLE",
  }));
  return enveloped({ code: 0, message: "OK", data: { list, page_info: pageShown(page) } });
}

function advertisers(query: URLSearchParams, book: CostBook): Answer {
  const ids = parameter(query, "advertiser_ids");
  if (!/^\[\s*"?\d+"?(?:\s*,\s*"?\d+"?){0,99}\s*\]$/.test(ids))
    throw new Refusal("advertiser_ids is not a list of ids");
  const shown = ids.match(/\d+/g)!.map((id) => {
    book.assertAccount(id, CODE.permission);
    return { id: numberId(id), name: book.accountName(id), status: "STATUS_ENABLE" };
  });
  return enveloped({ code: 0, message: "OK", data: shown });
}

function pageShown({ page, pageSize, total, pages }: Page<unknown>): object {
  return { page, page_size: pageSize, total_number: total, total_page: pages };
}

function refreshed(call: Call, { tokens, appId, secret }: Account): Answer {
  const body = jsonBody(call);
  if (idAt(body, "app_id") !== appId || textAt(body, "secret") !== secret)
    throw new Refusal("app_id or secret is wrong", CODE.permission);
  if (body.grant_type !== undefined && body.grant_type !== "refresh_token")
    throw new Refusal("grant_type is not refresh_token");
  tokens.refresh(textAt(body, "refresh_token"), { unknown: CODE.refreshExpired, expired: CODE.refreshExpired });
  return enveloped({ code: 0, message: "OK", data: tokensShown(tokens, call.nowMs) });
}
