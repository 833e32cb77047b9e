import type { AuthoriseOptions } from "./authorise-page.ts";
import { baiduAuthoriseRoutes, baiduTokens } from "./baidu-authorise.ts";
import {
  type Answer,
  answer,
  type Call,
  idAt,
  jsonBody,
  listAt,
  objectAt,
  optionalWhole,
  Refusal,
  textAt,
  wholeAt,
} from "./call.ts";
import { assertDays, type CostBook, type CostRow, numberId, sumBy, withNumberIds, yuan } from "./costs.ts";
import type { Dialect, Route } from "./stand-in.ts";
import type { Tokens } from "./tokens.ts";

type Level = "account" | "campaign" | "adgroup";

const REPORT_LEVELS: ReadonlyMap<number, Level> = new Map([
  [2149145, "account"],
  [2276038, "campaign"],
  [2330652, "adgroup"],
  [2208157, "account"],
  [2290316, "campaign"],
  [2284618, "adgroup"],
]);
const RANK: Readonly<Record<Level, number>> = { account: 0, campaign: 1, adgroup: 2 };

/** The value of a report column, and the lowest level that has it. Money is in yuan. */
type Column = { level: Level; show: (row: CostRow) => string | number };

const COLUMNS: Readonly<Record<string, Column>> = {
  date: { level: "account", show: ({ day }) => day },
  userId: { level: "account", show: ({ account }) => numberId(account) },
  campaignId: { level: "campaign", show: ({ planId }) => numberId(planId) },
  campaignName: { level: "campaign", show: ({ planName }) => planName },
  campaignStatus: { level: "campaign", show: () => 0 },
  adGroupId: { level: "adgroup", show: ({ adId }) => numberId(adId) },
  adGroupName: { level: "adgroup", show: ({ adName }) => adName },
  impression: { level: "account", show: ({ impressions }) => impressions },
  click: { level: "account", show: ({ clicks }) => clicks },
  cost: { level: "account", show: ({ cents }) => yuan(cents) },
};
const KEYS: Readonly<Record<Level, (row: CostRow) => string>> = {
  account: () => "",
  campaign: ({ planId }) => planId,
  adgroup: ({ adId }) => adId,
};

const CODE = { expired: 8901, unknown: 8902, parameter: 8001 };

const REPORT_DIALECT: Dialect = {
  refusal: ({ message, code = CODE.parameter }) => failed({ status: 2, code, message }),
  busy: failed({ status: 3, code: 8000, message: "system error" }),
  badToken: failed({ status: 2, code: CODE.unknown, message: "accessToken is invalid" }),
};

function failed({ status, code, message }: { status: number; code: number; message: string }): Answer {
  return answer({ header: { status, desc: "failure", failures: [{ code, message }] }, body: {} });
}

type Account = { tokens: Tokens; appId: string; secretKey: string; userName: string };

const TOKEN_DIALECT: Dialect = {
  refusal: ({ message, code = 1 }) => answer({ code, message, data: null }),
  busy: answer({ code: 500, message: "system busy", data: null }),
  badToken: answer({ code: 2, message: "refreshToken is invalid", data: null }),
};

export function baiduCostRoutes(book: CostBook, account: Account & AuthoriseOptions): readonly Route[] {
  return [
    {
      methods: ["POST"],
      path: "/json/sms/service/OpenApiReportService/getReportData",
      dialect: REPORT_DIALECT,
      take: (call) => report(call, { book, account }),
    },
    {
      methods: ["POST"],
      path: "/oauth/refreshToken",
      dialect: TOKEN_DIALECT,
      take: (call) => refreshed(call, account),
    },
    ...baiduAuthoriseRoutes({ ...account, book, dialect: TOKEN_DIALECT }),
  ];
}

function report(call: Call, { book, account }: { book: CostBook; account: Account }): Answer {
  const asked = jsonBody(call);
  const header = objectAt(asked, "header");
  if (textAt(header, "userName") !== account.userName) throw new Refusal("userName is unknown", CODE.unknown);
  account.tokens.assert(textAt(header, "accessToken"), CODE);
  const body = objectAt(asked, "body");
  const level = REPORT_LEVELS.get(wholeAt(body, "reportType"));
  if (level === undefined) throw new Refusal("reportType is not served here");
  if (textAt(body, "timeUnit") !== "DAY") throw new Refusal("timeUnit is not served here");
  const days = assertDays({ firstDay: body.startDate, lastDay: body.endDate, daysMax: 366 });
  const columns = listAt(body, "columns", { max: 100 }).map((name) => columnOf(String(name), { level, account }));
  const startRow = optionalWhole(body, "startRow") ?? 0;
  const rowCount = optionalWhole(body, "rowCount", { min: 1, max: 2000 }) ?? 200;
  // A user name stands for one account, so all rows are its own.
  const rows = [...new Set(book.rows.map((row) => row.account))].flatMap((id) => book.between(id, days));
  const sums = sumBy(rows, (row) => `${row.day} ${KEYS[level](row)}`);
  const shown = sums
    .slice(startRow, startRow + Math.min(rowCount, book.pageRows))
    .map((row) => Object.fromEntries(columns.map(({ name, show }) => [name, show(row)])));
  const reply = answer({
    header: { status: 0, desc: "success", failures: [] },
    body: { data: { rows: shown, rowCount: shown.length, totalRowCount: sums.length } },
  });
  return { ...reply, body: withNumberIds(reply.body) };
}

function columnOf(
  name: string,
  { level, account }: { level: Level; account: Account },
): { name: string; show: Column["show"] } {
  if (name === "userName") return { name, show: () => account.userName };
  const column = COLUMNS[name];
  if (column === undefined) throw new Refusal(`column ${name} is unknown`);
  if (RANK[column.level] > RANK[level]) throw new Refusal(`column ${name} is below the level of the report`);
  return { name, show: column.show };
}

function refreshed(call: Call, { tokens, appId, secretKey }: Account): Answer {
  const body = jsonBody(call);
  if (textAt(body, "appId") !== appId || textAt(body, "secretKey") !== secretKey)
    throw new Refusal("appId or secretKey is wrong");
  const userId = idAt(body, "userId");
  tokens.refresh(textAt(body, "refreshToken"));
  const reply = answer({
    code: 0,
    message: "success",
    data: { ...baiduTokens(tokens, call.nowMs), userId: numberId(userId) },
  });
  return { ...reply, body: withNumberIds(reply.body) };
}
