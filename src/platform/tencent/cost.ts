import { addDays, daysBetween } from "../../domain/calendar.ts";
import { daysOf } from "../../domain/cost-schedule.ts";
import type { JsonObject } from "../../domain/json.ts";
import {
  BY_CREATIVE_FIELD,
  BY_HOUR_FIELD,
  CURRENCY_FIELD,
  costUnitField,
  isByCreative,
  isByHour,
} from "../connector/account-fields.ts";
import type { CallContext, HttpRequest } from "../connector/connector.ts";
import type { CostConnector, CostPage, CostQuestion, PulledName } from "../connector/cost-connector.ts";
import { firstQuestions, hourlyDays, idGroups, subjectOf } from "../connector/question.ts";
import { answerOf, codeOutcome, countOf, type Envelope, objectOf, objectsOf, textOf } from "../connector/reply.ts";
import {
  type Costs,
  costsInUnit,
  creativesInUnit,
  hoursInUnit,
  namesOf,
  type ReportRow,
} from "../connector/report-row.ts";
import { get } from "../connector/request.ts";
import { authoriseField, CLIENT_TOKEN_FIELDS, tokenAnswerOf } from "../connector/token.ts";
import { REFRESH_LIFE_MS } from "./refresh-life.ts";

const REPORT_ROWS = 1_000;
/** Certain: a query shows no rows beyond this one, whatever the page. */
const ROWS_MAX = 20_000;
const PAGES_MAX = ROWS_MAX / REPORT_ROWS;
/** The most ids in the filter of the list of ads, and the most ads on a page. */
const ADS_AT_ONCE = 100;

/**
 * Version 3.0: an account has ads (`adgroup`) and no plans, so gid stays empty. Ads are requested by id, because the
 * list ends after 100 pages of 100, and only ads with costs need a name.
 */
export const tencentCosts: CostConnector = {
  platform: "Tencent",
  fields: [
    { name: "base_url", hint: "Address of the Marketing API", fallback: "https://api.e.qq.com" },
    authoriseField("https://developers.e.qq.com/oauth/authorize"),
    ...CLIENT_TOKEN_FIELDS,
    costUnitField("fen"),
    CURRENCY_FIELD,
    BY_CREATIVE_FIELD,
    BY_HOUR_FIELD,
  ],
  // Certain: 365 days. The days of a query are those of an older version of the interface.
  spans: [{ reachDays: 365, daysMax: 90 }],
  start: (range, { account, nowMs }) => {
    const creatives = { list: "creatives", from: range.fromDay, to: range.toDay, page: 1 };
    const recent = isByHour(account) ? hourlyDays(range, nowMs) : undefined;
    // Certain: a query by the hour covers one day.
    const hours = recent ? daysOf(recent).map((day) => ({ list: "hours", from: day, to: day, page: 1 })) : [];
    return [...(isByCreative(account) ? [creatives] : []), ...hours, ...firstQuestions(range)];
  },
  subjectOf,
  request,
  read: (question, reply, context) => {
    const answer = answerOf(reply, ENVELOPE);
    if (answer.kind !== "answer") return answer;
    const data = objectOf(answer.body.data);
    const list = objectsOf(data.list);
    const pages = countOf(objectOf(data.page_info).total_page);
    if (question.list === "report") return readReport(question, { list, pages }, context);
    if (question.list === "creatives") return readCreatives(question, { list, pages }, context);
    if (question.list === "hours") return readHours(question, { list, pages }, context);
    if (question.list === "totals") return readTotals(question, { list, pages }, context);
    return { kind: "page", costs: [], names: readNames(question, list, context), next: [] };
  },
  tokens: {
    request: ({ account }) => {
      const [id, secret, refreshToken] = [account("client_id"), account("client_secret"), account("refresh_token")];
      if (!id || !secret || !refreshToken) return undefined;
      const query = { client_id: id, client_secret: secret, grant_type: "refresh_token", refresh_token: refreshToken };
      return get(`${account("base_url")}/oauth/token?${new URLSearchParams(query)}`);
    },
    read: (reply, nowMs) =>
      tokenAnswerOf(reply, {
        envelope: ENVELOPE,
        nowMs,
        read: (body) => {
          const data = objectOf(body.data);
          return {
            accessToken: data.access_token,
            refreshToken: data.refresh_token,
            expiresInS: data.access_token_expires_in,
            refreshExpiresInS: data.refresh_token_expires_in ?? REFRESH_LIFE_MS / 1_000,
          };
        },
      }),
  },
};

const BUSY = ["10000", "10001", "11008", "11016", "11017", "11018", "11019"];
const BAD_TOKEN = ["11000", "11002", "11004", "11005"];

export const ENVELOPE: Envelope = {
  platform: "Tencent",
  outcome: codeOutcome,
  kindOf: ({ code }) => (BUSY.includes(code) ? "retry" : BAD_TOKEN.includes(code) ? "token" : undefined),
};

function request(question: CostQuestion, context: CallContext): HttpRequest {
  const { account, nowMs, nonce } = context;
  const signed = { access_token: account("access_token"), timestamp: String(Math.floor(nowMs / 1_000)), nonce };
  const url = `${account("base_url")}/v3.0/${PATHS[String(question.list)]}`;
  const query = { ...signed, account_id: account("advertiser_id"), ...parameters(question) };
  return get(`${url}?${new URLSearchParams(query)}`);
}

const PATHS: Readonly<Record<string, string>> = {
  report: "daily_reports/get",
  creatives: "daily_reports/get",
  hours: "hourly_reports/get",
  totals: "daily_reports/get",
  ads: "adgroups/get",
  creative_names: "dynamic_creatives/get",
  account: "advertiser/get",
};

/** Certain: the levels. Likely: that the day alone may group the account's, and the ad the creatives'. */
const REPORTS: Readonly<Record<string, { level: string; by: readonly string[] }>> = {
  report: { level: "REPORT_LEVEL_ADGROUP", by: ["date", "adgroup_id"] },
  creatives: { level: "REPORT_LEVEL_DYNAMIC_CREATIVE", by: ["date", "adgroup_id", "dynamic_creative_id"] },
  hours: { level: "REPORT_LEVEL_ADGROUP", by: ["hour", "adgroup_id"] },
  totals: { level: "REPORT_LEVEL_ADVERTISER", by: ["date"] },
};

function parameters(question: CostQuestion): Record<string, string> {
  const report = REPORTS[String(question.list)];
  if (report) {
    const { level, by } = report;
    return {
      level,
      date_range: JSON.stringify({ start_date: question.from, end_date: question.to }),
      group_by: JSON.stringify(by),
      fields: JSON.stringify([...by, "view_count", "valid_click_count", "cost"]),
      page: String(question.page),
      page_size: String(REPORT_ROWS),
    };
  }
  if (question.list === "ads" || question.list === "creative_names") {
    const [field, ...fields] =
      question.list === "ads"
        ? ["adgroup_id", "adgroup_name", "configured_status", "system_status"]
        : ["dynamic_creative_id", "dynamic_creative_name", "configured_status"];
    const values = String(question.ids).split(",");
    return {
      filtering: JSON.stringify([{ field, operator: "IN", values }]),
      fields: JSON.stringify([field, ...fields]),
      page: "1",
      page_size: String(ADS_AT_ONCE),
    };
  }
  return { fields: JSON.stringify(["account_id", "corporation_name", "memo", "system_status"]) };
}

type ReportPage = { list: JsonObject[]; pages: number };

/** A report of more rows than a query shows is asked again in halves, down to single days. */
function readReport(question: CostQuestion, { list, pages }: ReportPage, context: CallContext): CostPage {
  const beyond = readBeyond(question, pages);
  if (beyond === "one_day") return cutDay(String(question.from));
  if (beyond) return beyond;
  const read = readCosts(list, context);
  if (read.kind !== "costs") return read;
  const groups = idGroups(
    read.costs.map((cost) => cost.aid),
    ADS_AT_ONCE,
  );
  return {
    kind: "page",
    costs: read.costs,
    names: [],
    next: [...nextPage(question, { list, pages }), ...groups.map((ids) => ({ list: "ads", ids }))],
  };
}

/** Creatives are the finer report of the same costs: without those of a day, its costs stand with their ads. */
function readCreatives(question: CostQuestion, { list, pages }: ReportPage, { account }: CallContext): CostPage {
  const beyond = readBeyond(question, pages);
  if (beyond === "one_day") {
    return { kind: "permanent", reason: `Tencent has more than ${ROWS_MAX} creatives for ${question.from}.` };
  }
  if (beyond) return beyond;
  const rows = list.map((row) => ({ ...rowOf(row), cid: row.dynamic_creative_id }));
  const read = creativesInUnit(rows, { platform: ENVELOPE.platform, account });
  if (read.kind !== "creatives") return read;
  const groups = idGroups(
    read.creatives.map((creative) => creative.cid),
    ADS_AT_ONCE,
  );
  const names = groups.map((ids) => ({ list: "creative_names", ids }));
  const next = [...nextPage(question, { list, pages }), ...names];
  return { kind: "page", costs: [], creatives: read.creatives, names: [], next };
}

/** Hours are the finer report of the same costs too. Rows do not name their day, of which a query has one. */
function readHours(question: CostQuestion, { list, pages }: ReportPage, { account }: CallContext): CostPage {
  const beyond = readBeyond(question, pages);
  if (beyond === "one_day") {
    return { kind: "permanent", reason: `Tencent has more than ${ROWS_MAX} rows by the hour for ${question.from}.` };
  }
  if (beyond) return beyond;
  const rows = list.map((row) => ({ ...rowOf(row), day: String(question.from), hour: row.hour }));
  const read = hoursInUnit(rows, { platform: ENVELOPE.platform, account });
  if (read.kind !== "hours") return read;
  return { kind: "page", costs: [], hours: read.hours, names: [], next: nextPage(question, { list, pages }) };
}

/** What to do about rows that the query does not show: "one_day" when it cannot be made smaller. */
function readBeyond(question: CostQuestion, pages: number): CostPage | "one_day" | undefined {
  const page = Number(question.page);
  if (pages > PAGES_MAX && page === 1) return question.from === question.to ? "one_day" : inHalves(question);
  // Rows appeared while the report was read, and those on the last pages can no longer be reached.
  if (page >= PAGES_MAX && page < pages) {
    return { kind: "retry", reason: `Tencent's report of ${question.from} to ${question.to} grew while it was read.` };
  }
  return undefined;
}

function cutDay(day: string): CostPage {
  const reason = `Tencent has more than ${ROWS_MAX} rows for ${day} and shows no more, so that nothing was stored for it.`;
  return { kind: "page", costs: [], names: [], cut: [{ day, reason }], next: [] };
}

function inHalves(question: CostQuestion): CostPage {
  const [from, to] = [String(question.from), String(question.to)];
  const middle = addDays(from, Math.floor(daysBetween(from, to) / 2));
  const halves = [
    { ...question, to: middle },
    { ...question, from: addDays(middle, 1) },
  ];
  return { kind: "page", costs: [], names: [], next: halves };
}

function readTotals(question: CostQuestion, page: ReportPage, context: CallContext): CostPage {
  const read = readCosts(page.list, context);
  if (read.kind !== "costs") return read;
  return { kind: "page", costs: [], totals: read.costs, names: [], next: nextPage(question, page) };
}

function readCosts(list: readonly JsonObject[], { account }: CallContext): Costs {
  return costsInUnit(list.map(rowOf), { platform: ENVELOPE.platform, account });
}

function rowOf(row: JsonObject): ReportRow {
  return {
    day: row.date,
    gid: "",
    aid: row.adgroup_id,
    impressions: row.view_count,
    clicks: row.valid_click_count,
    cost: row.cost,
  };
}

function nextPage(question: CostQuestion, { list, pages }: ReportPage): CostQuestion[] {
  const page = Number(question.page);
  return list.length > 0 && page < pages ? [{ ...question, page: page + 1 }] : [];
}

function readNames({ list: asked }: CostQuestion, list: readonly JsonObject[], context: CallContext): PulledName[] {
  if (asked === "account") return accountName(list, context);
  return asked === "ads" ? adNames(list) : creativeNames(list);
}

function creativeNames(list: readonly JsonObject[]): PulledName[] {
  return namesOf(
    list.map((creative) => ({
      level: "creative",
      id: creative.dynamic_creative_id,
      name: creative.dynamic_creative_name,
      status: creative.configured_status,
    })),
  );
}

function adNames(list: readonly JsonObject[]): PulledName[] {
  return namesOf(
    list.map((ad) => ({
      level: "ad",
      id: ad.adgroup_id,
      name: ad.adgroup_name,
      status: ad.system_status ?? ad.configured_status,
    })),
  );
}

function accountName(list: readonly JsonObject[], { account }: CallContext): PulledName[] {
  const id = account("advertiser_id");
  const own = list.find((advertiser) => textOf(advertiser.account_id) === id);
  return own
    ? namesOf([{ level: "account", id, name: own.corporation_name || own.memo, status: own.system_status }])
    : [];
}
