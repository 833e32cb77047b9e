import type { AuthoriseOptions } from "./authorise-page.ts";
import {
  type Answer,
  answer,
  type Call,
  type Fields,
  idAt,
  idsOf,
  jsonBody,
  optionalWhole,
  Refusal,
  textAt,
} from "./call.ts";
import {
  assertDays,
  assertReach,
  type CostBook,
  type CostRow,
  numberId,
  type Page,
  pageOf,
  withNumberIds,
} from "./costs.ts";
import { kuaishouAuthoriseRoutes } from "./kuaishou-authorise.ts";
import { type Asked, type Level, levelRows, shownRow } from "./kuaishou-rows.ts";
import { kuaishouTaskRoutes } from "./kuaishou-tasks.ts";
import type { Dialect, Route } from "./stand-in.ts";
import type { Tokens } from "./tokens.ts";

const BASE = "/rest/openapi";
const CODE = { expired: 402001, unknown: 402000, parameter: 400001, permission: 401003, busy: 500001 };

const DIALECT: Dialect = {
  refusal: ({ message, code = CODE.parameter }) => answer({ code, message, data: null }),
  busy: answer({ code: CODE.busy, message: "system busy", data: null }),
  badToken: answer({ code: CODE.unknown, message: "access_token is invalid", data: null }),
};

/** Certain: the synchronous reports show the last week, and at most a week; likely: that today is its last day. */
const WEEK_DAYS = 7;

export function kuaishouCostRoutes(
  book: CostBook,
  { tokens, appId, secret, ...options }: { tokens: Tokens; appId: string; secret: string } & AuthoriseOptions,
): readonly Route[] {
  const guard = (call: Call, accountOf: () => string): Asked => {
    tokens.assert(call.headers["access-token"] as string | undefined, CODE);
    const account = accountOf();
    book.assertAccount(account, CODE.permission);
    return { book, account, nowMs: call.nowMs };
  };
  const route = (path: string, read: (body: Fields, asked: Asked) => Answer): Route => ({
    methods: ["POST"],
    path: BASE + path,
    dialect: DIALECT,
    take(call) {
      const asked = guard(call, () => idAt(jsonBody(call), "advertiser_id"));
      return read(jsonBody(call), asked);
    },
  });
  return [
    route("/v1/report/account_report", (body, asked) => report(body, { ...asked, level: "account" })),
    route("/v1/report/campaign_report", (body, asked) => report(body, { ...asked, level: "campaign" })),
    route("/v1/report/unit_report", (body, asked) => report(body, { ...asked, level: "unit" })),
    route("/v1/report/creative_report", (body, asked) => report(body, { ...asked, level: "creative" })),
    route("/gw/dsp/campaign/list", campaigns),
    route("/gw/dsp/unit/list", units),
    route("/v1/advertiser/info", advertiser),
    ...kuaishouTaskRoutes({ base: BASE, dialect: DIALECT, guard }),
    {
      methods: ["POST"],
      path: `${BASE}/oauth2/authorize/refresh_token`,
      dialect: DIALECT,
      take: (call) => refreshed(call, { tokens, appId, secret }),
    },
    ...kuaishouAuthoriseRoutes({
      ...options,
      book,
      tokens,
      appId,
      secret,
      base: BASE,
      dialect: DIALECT,
      refusals: CODE,
    }),
  ];
}

function report(body: Fields, { book, account, nowMs, level }: Asked & { level: Level }): Answer {
  const granularity = body.temporal_granularity ?? "DAILY";
  if (granularity !== "DAILY" && granularity !== "HOURLY") throw new Refusal("temporal_granularity is unknown");
  const days = assertDays({ firstDay: body.start_date, lastDay: body.end_date, daysMax: WEEK_DAYS });
  assertReach(days, { nowMs, days: WEEK_DAYS });
  const all = book.between(account, days);
  const isHourly = granularity === "HOURLY";
  const rows = isHourly ? hours(all).flatMap((own) => levelRows(own, level)) : levelRows(all, level);
  return detailed(pageAsked(body, { items: rows, sizeMax: 2000, pageRows: book.pageRows }), (row) => ({
    ...shownRow(row, level),
    ...(isHourly ? { stat_hour: row.hour ?? 0 } : {}),
  }));
}

/** The rows of each hour. */
function hours(rows: readonly CostRow[]): CostRow[][] {
  return [...new Set(rows.flatMap(({ hour }) => hour ?? []))].map((hour) => rows.filter((row) => row.hour === hour));
}

function campaigns(body: Fields, { book, account }: Asked): Answer {
  const ids = idsOf(body.campaign_ids, { name: "campaign_ids", max: 100 });
  const page = pageAsked(body, { items: book.plans(account, ids), sizeMax: 500, pageRows: book.pageRowsOf(ids) });
  return detailed(page, (row) => ({
    campaign_id: numberId(row.planId),
    campaign_name: row.planName,
    put_status: 1,
    status: 4,
  }));
}

function units(body: Fields, { book, account }: Asked): Answer {
  const ids = idsOf(body.unit_ids, { name: "unit_ids", max: 100 });
  const page = pageAsked(body, { items: book.ads(account, ids), sizeMax: 500, pageRows: book.pageRowsOf(ids) });
  return detailed(page, (row) => ({
    unit_id: numberId(row.adId),
    unit_name: row.adName,
    campaign_id: numberId(row.planId),
    put_status: 1,
    status: 20,
  }));
}

function advertiser(_body: Fields, { book, account }: Asked): Answer {
  const data = { user_id: numberId(account), user_name: "stand-in", corporation_name: book.accountName(account) };
  const shown = answer({ code: 0, message: "OK", data });
  return { ...shown, body: withNumberIds(shown.body) };
}

function pageAsked<Item>(
  body: Fields,
  { items, sizeMax, pageRows }: { items: readonly Item[]; sizeMax: number; pageRows: number },
): Page<Item> {
  const page = optionalWhole(body, "page", { min: 1 }) ?? 1;
  const pageSize = optionalWhole(body, "page_size", { min: 1, max: sizeMax }) ?? 20;
  return pageOf(items, { page, pageSize, pageRows });
}

function detailed<Item>({ items, total }: Page<Item>, show: (item: Item) => object): Answer {
  const shown = answer({ code: 0, message: "OK", data: { total_count: total, details: items.map(show) } });
  return { ...shown, body: withNumberIds(shown.body) };
}

function refreshed(call: Call, { tokens, appId, secret }: { tokens: Tokens; appId: string; secret: string }): Answer {
  const body = jsonBody(call);
  if (idAt(body, "app_id") !== appId || textAt(body, "secret") !== secret)
    throw new Refusal("app_id or secret is wrong", CODE.permission);
  tokens.refresh(textAt(body, "refresh_token"), CODE);
  return answer({
    code: 0,
    message: "OK",
    data: {
      access_token: tokens.accessToken,
      access_token_expires_in: Math.floor((tokens.accessExpiresAtMs - call.nowMs) / 1000),
      refresh_token: tokens.refreshToken,
      refresh_token_expires_in: Math.floor((tokens.refreshExpiresAtMs - call.nowMs) / 1000),
    },
  });
}
