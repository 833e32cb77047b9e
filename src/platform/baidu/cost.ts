import type { JsonObject } from "../../domain/json.ts";
import { CURRENCY_FIELD, costUnitField } from "../connector/account-fields.ts";
import type { CallContext, HttpRequest } from "../connector/connector.ts";
import type { CostConnector, CostPage, CostQuestion } from "../connector/cost-connector.ts";
import { subjectOf } from "../connector/question.ts";
import {
  answerOf,
  codeOutcome,
  countOf,
  type Envelope,
  type Failure,
  objectOf,
  objectsOf,
  textOf,
} from "../connector/reply.ts";
import { costsInUnit, namesOf } from "../connector/report-row.ts";
import { idJson, jsonTextPost, objectJson } from "../connector/request.ts";
import { authoriseField, TOKEN_FIELDS, tokenAnswerOf } from "../connector/token.ts";

const REPORT_ROWS = 1_000;

/** A campaign is the plan, an adgroup the ad. One report contains costs, names and statuses. */
export const baiduCosts: CostConnector = {
  platform: "Baidu",
  fields: [
    { name: "base_url", hint: "Address of the Marketing API", fallback: "https://api.baidu.com" },
    { name: "oauth_url", hint: "Address for tokens", fallback: "https://u.baidu.com/oauth" },
    authoriseField("https://u.baidu.com/oauth/page/index"),
    { name: "scope", hint: "Permissions to ask for, as in the application's own link to that page", fallback: "" },
    { name: "user_id", hint: "Id of the account that authorised, if it manages this one", fallback: "" },
    { name: "user_name", hint: "Name of the account, which each call must carry", fallback: "" },
    ...TOKEN_FIELDS,
    { name: "app_id", hint: "Id of the developer application", fallback: "" },
    { name: "app_secret", hint: "Secret key of the developer application", fallback: "", isSecret: true },
    { name: "report_type", hint: "Report of adgroups: 2330652 for feed, 2284618 for search", fallback: "2330652" },
    costUnitField("yuan"),
    CURRENCY_FIELD,
  ],
  // Likely: two years, at once. A failed page means asking for the whole range again, so smaller ranges are better.
  spans: [{ reachDays: 730, daysMax: 90 }],
  start: ({ fromDay, toDay }, { account }) => {
    const days = { from: fromDay, to: toDay, row: 0 };
    const lists = Object.hasOwn(ACCOUNT_REPORTS, account("report_type")) ? ["report", "totals"] : ["report"];
    return lists.map((list) => ({ list, ...days }));
  },
  subjectOf,
  request,
  read: (question, reply, context) => {
    const answer = answerOf(reply, ENVELOPE);
    return answer.kind === "answer" ? readReport(question, answer.body, context) : answer;
  },
  tokens: {
    request: ({ account }) => {
      const [id, secret, refreshToken] = [account("app_id"), account("app_secret"), account("refresh_token")];
      if (!id || !secret || !refreshToken) return undefined;
      const values = {
        appId: JSON.stringify(id),
        refreshToken: JSON.stringify(refreshToken),
        secretKey: JSON.stringify(secret),
        userId: idJson(account("user_id") || account("advertiser_id")),
      };
      return jsonTextPost(`${account("oauth_url")}/refreshToken`, objectJson(values));
    },
    read: (reply, nowMs) =>
      tokenAnswerOf(reply, {
        envelope: TOKEN_ENVELOPE,
        nowMs,
        read: (body) => {
          const data = objectOf(body.data);
          return {
            accessToken: data.accessToken,
            refreshToken: data.refreshToken,
            expiresInS: data.expiresIn,
            refreshExpiresInS: data.refreshExpiresIn,
          };
        },
      }),
  },
};

/** Codes for busy, too many calls, or temporarily blocked. */
const BUSY = ["405", "421", "502", "800", "801", "802"];

/** Status in the header: 0 success, 1 partial failure, 2 failure, 3 system error. */
const ENVELOPE: Envelope = {
  platform: "Baidu",
  outcome: (body) => {
    const header = objectOf(body.header);
    const status = textOf(header.status);
    if (status === "") return undefined;
    return status === "0" ? "fine" : failureOf(header, status);
  },
  kindOf: ({ code, message, isItsOwn }) => {
    if (isItsOwn || BUSY.includes(code)) return "retry";
    if (/token/i.test(message)) return "token";
    return /频|too many requests|exceeds limit|retry|try again/i.test(message) ? "retry" : undefined;
  },
};

export const TOKEN_ENVELOPE: Envelope = { platform: "Baidu", outcome: codeOutcome, kindOf: () => undefined };

function failureOf(header: JsonObject, status: string): Failure {
  const [first] = objectsOf(header.failures);
  const message = textOf(first?.message) || textOf(header.desc);
  return { code: textOf(first?.code) || `status ${status}`, message, isItsOwn: status === "3" };
}

/** The report of the account that belongs to a report of adgroups: of feed, and of search. */
const ACCOUNT_REPORTS: Readonly<Record<string, string>> = { "2330652": "2149145", "2284618": "2208157" };

const COLUMNS: Readonly<Record<string, readonly string[]>> = {
  report: [
    ...["date", "userId", "userName", "campaignId", "campaignName", "campaignStatus"],
    ...["adGroupId", "adGroupName", "impression", "click", "cost"],
  ],
  totals: ["date", "userId", "userName", "impression", "click", "cost"],
};

/** A fixed order, so that no row is on two pages. */
const SORTS: Readonly<Record<string, readonly string[]>> = { report: ["date", "adGroupId"], totals: ["date"] };

function request(question: CostQuestion, { account }: CallContext): HttpRequest {
  const header = { userName: account("user_name"), accessToken: account("access_token") };
  const list = String(question.list);
  const type = account("report_type");
  const body = objectJson({
    reportType: idJson(list === "totals" ? (ACCOUNT_REPORTS[type] ?? "") : type),
    timeUnit: '"DAY"',
    startDate: JSON.stringify(question.from),
    endDate: JSON.stringify(question.to),
    columns: JSON.stringify(COLUMNS[list]),
    sorts: JSON.stringify(SORTS[list]!.map((column) => ({ column, sortRule: "ASC" }))),
    filters: "[]",
    startRow: String(question.row),
    rowCount: String(REPORT_ROWS),
    needSum: "false",
  });
  const url = `${account("base_url")}/json/sms/service/OpenApiReportService/getReportData`;
  return jsonTextPost(url, objectJson({ header: JSON.stringify(header), body }));
}

function readReport(question: CostQuestion, body: JsonObject, { account }: CallContext): CostPage {
  const { data } = objectOf(body.body);
  // The single report comes in a list.
  const report = Array.isArray(data) ? objectOf(data[0]) : objectOf(data);
  const list = objectsOf(report.rows);
  const rows = list.map((row) => ({
    day: row.date,
    gid: row.campaignId,
    aid: row.adGroupId,
    impressions: row.impression,
    clicks: row.click,
    cost: row.cost,
  }));
  const read = costsInUnit(rows, { platform: ENVELOPE.platform, account });
  if (read.kind !== "costs") return read;
  const until = Number(question.row) + list.length;
  const isMore = list.length > 0 && until < countOf(report.totalRowCount);
  const next = isMore ? [{ ...question, row: until }] : [];
  if (question.list === "totals") return { kind: "page", costs: [], totals: read.costs, names: [], next };
  const names = namesOf(
    list.flatMap((row) => [
      { level: "account", id: account("advertiser_id"), name: row.userName },
      { level: "plan", id: row.campaignId, name: row.campaignName, status: row.campaignStatus },
      { level: "ad", id: row.adGroupId, name: row.adGroupName },
    ]),
  );
  return { kind: "page", costs: read.costs, names, next };
}
