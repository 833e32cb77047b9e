import type { JsonObject } from "../../domain/json.ts";
import {
  BY_HOUR_FIELD,
  CURRENCY_FIELD,
  costUnitField,
  DEVELOPER_FIELDS,
  isByHour,
} from "../connector/account-fields.ts";
import type { CallContext, HttpRequest } from "../connector/connector.ts";
import type { CostConnector, CostPage, CostQuestion, PulledName } from "../connector/cost-connector.ts";
import { firstQuestions, hourlyDays, idGroups, subjectOf } from "../connector/question.ts";
import { answerOf, codeOutcome, countOf, type Envelope, objectOf, objectsOf, textOf } from "../connector/reply.ts";
import { costsInUnit, hoursInUnit, namesOf, type ReportRow } from "../connector/report-row.ts";
import { get, idJson, jsonTextPost, objectJson } from "../connector/request.ts";
import { authoriseField, TOKEN_FIELDS, tokenAnswerOf } from "../connector/token.ts";

/** Likely: at most 100 rows. Older texts of the interface say 1,000. */
const REPORT_ROWS = 100;
/** The largest page of the lists of projects and promotions. */
const IDS_AT_ONCE = 10;

/**
 * Ocean Engine: a project is the plan, a promotion the ad. Names come with the report. Statuses are requested only for
 * plans and ads with costs, because an account's whole lists would be hundreds of pages of ten.
 */
export const bytedanceCosts: CostConnector = {
  platform: "Ocean Engine",
  fields: [
    { name: "base_url", hint: "Address of the Marketing API", fallback: "https://api.oceanengine.com/open_api" },
    { name: "oauth_url", hint: "Address for tokens", fallback: "https://ad.oceanengine.com/open_api/oauth2" },
    authoriseField("https://ad.oceanengine.com/openapi/audit/oauth.html"),
    ...TOKEN_FIELDS,
    ...DEVELOPER_FIELDS,
    costUnitField("yuan"),
    CURRENCY_FIELD,
    BY_HOUR_FIELD,
  ],
  // No limit to the past is published.
  spans: [{ reachDays: Number.POSITIVE_INFINITY, daysMax: 30 }],
  start: (range, { account, nowMs }) => {
    const recent = isByHour(account) ? hourlyDays(range, nowMs) : undefined;
    const hours = recent ? [{ list: "hours", from: recent.fromDay, to: recent.toDay, page: 1 }] : [];
    return [...hours, ...firstQuestions(range)];
  },
  subjectOf,
  request,
  read: (question, reply, context) => {
    const answer = answerOf(reply, ENVELOPE);
    if (answer.kind !== "answer") return answer;
    if (question.list === "hours") return readHours(question, objectOf(answer.body.data), context);
    if (question.list === "report" || question.list === "totals") {
      return readReport(question, objectOf(answer.body.data), context);
    }
    return { kind: "page", costs: [], names: readNames(question, answer.body, context), next: [] };
  },
  tokens: {
    request: ({ account }) => {
      const [id, secret, refreshToken] = [account("app_id"), account("app_secret"), account("refresh_token")];
      if (!id || !secret || !refreshToken) return undefined;
      const body = objectJson({
        app_id: idJson(id),
        secret: JSON.stringify(secret),
        grant_type: '"refresh_token"',
        refresh_token: JSON.stringify(refreshToken),
      });
      return jsonTextPost(`${account("oauth_url")}/refresh_token/`, body);
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
            expiresInS: data.expires_in,
            refreshExpiresInS: data.refresh_token_expires_in,
          };
        },
      }),
  },
};

const BUSY = ["40100", "40110"];
const BAD_TOKEN = ["40102", "40104", "40105"];

export const ENVELOPE: Envelope = {
  platform: "Ocean Engine",
  outcome: codeOutcome,
  // Codes from 50000 are the platform's own errors.
  kindOf: ({ code }) =>
    BUSY.includes(code) || /^5\d{4}$/.test(code) ? "retry" : BAD_TOKEN.includes(code) ? "token" : undefined,
};

const PATHS: Readonly<Record<string, string>> = {
  report: "v3.0/report/custom/get/",
  totals: "v3.0/report/custom/get/",
  hours: "v3.0/report/custom/get/",
  plans: "v3.0/project/list/",
  ads: "v3.0/promotion/list/",
  account: "2/advertiser/info/",
};

/** Likely: with the day alone, a row is the account's total; the hour is a time with its day. */
const DIMENSIONS: Readonly<Record<string, readonly string[]>> = {
  report: ["stat_time_day", "cdp_project_id", "cdp_project_name", "cdp_promotion_id", "cdp_promotion_name"],
  totals: ["stat_time_day"],
  hours: ["stat_time_hour", "cdp_project_id", "cdp_promotion_id"],
};
const METRICS = ["stat_cost", "show_cnt", "click_cnt"];

function request(question: CostQuestion, { account }: CallContext): HttpRequest {
  const query = new URLSearchParams(parameters(question, account("advertiser_id")));
  const url = `${account("base_url")}/${PATHS[String(question.list)]}?${query}`;
  return get(url, { "Access-Token": account("access_token") });
}

function parameters(question: CostQuestion, advertiserId: string): Record<string, string> {
  const dimensions = DIMENSIONS[String(question.list)];
  if (dimensions) {
    return {
      advertiser_id: advertiserId,
      data_topic: "BASIC_DATA",
      dimensions: JSON.stringify(dimensions),
      metrics: JSON.stringify(METRICS),
      // Both are required as lists, even when empty.
      filters: "[]",
      order_by: "[]",
      start_time: `${question.from} 00:00:00`,
      end_time: `${question.to} 23:59:59`,
      page: String(question.page),
      page_size: String(REPORT_ROWS),
    };
  }
  if (question.list === "account") {
    return { advertiser_ids: `[${idJson(advertiserId)}]`, fields: JSON.stringify(["id", "name", "status"]) };
  }
  const ids = String(question.ids).split(",").map(idJson);
  return {
    advertiser_id: advertiserId,
    filtering: objectJson({ ids: `[${ids.join(",")}]` }),
    page: "1",
    page_size: String(IDS_AT_ONCE),
  };
}

type Row = { dimensions: JsonObject; metrics: JsonObject };

function reportRows(data: JsonObject): Row[] {
  return objectsOf(data.rows).map((row) => ({ dimensions: objectOf(row.dimensions), metrics: objectOf(row.metrics) }));
}

function rowOf({ dimensions, metrics }: Row): ReportRow {
  return {
    day: dimensions.stat_time_day ?? dimensions.stat_time_hour,
    gid: dimensions.cdp_project_id,
    aid: dimensions.cdp_promotion_id,
    impressions: metrics.show_cnt,
    clicks: metrics.click_cnt,
    cost: metrics.stat_cost,
  };
}

function nextPage(question: CostQuestion, data: JsonObject): CostQuestion[] {
  const page = Number(question.page);
  const isMore = objectsOf(data.rows).length > 0 && page < countOf(objectOf(data.page_info).total_page);
  return isMore ? [{ ...question, page: page + 1 }] : [];
}

function readHours(question: CostQuestion, data: JsonObject, { account }: CallContext): CostPage {
  const rows = reportRows(data).map((row) => ({ ...rowOf(row), hour: row.dimensions.stat_time_hour }));
  const read = hoursInUnit(rows, { platform: ENVELOPE.platform, account });
  if (read.kind !== "hours") return read;
  return { kind: "page", costs: [], hours: read.hours, names: [], next: nextPage(question, data) };
}

function readReport(question: CostQuestion, data: JsonObject, { account }: CallContext): CostPage {
  const list = reportRows(data);
  const read = costsInUnit(list.map(rowOf), { platform: ENVELOPE.platform, account });
  if (read.kind !== "costs") return read;
  const more = nextPage(question, data);
  if (question.list === "totals") return { kind: "page", costs: [], totals: read.costs, names: [], next: more };
  const names = namesOf(
    list.flatMap(({ dimensions }) => [
      { level: "plan", id: dimensions.cdp_project_id, name: dimensions.cdp_project_name },
      { level: "ad", id: dimensions.cdp_promotion_id, name: dimensions.cdp_promotion_name },
    ]),
  );
  const idsOf = (level: PulledName["level"]) => names.filter((name) => name.level === level).map((name) => name.id);
  const lists = [
    ...idGroups(idsOf("plan"), IDS_AT_ONCE).map((ids) => ({ list: "plans", ids })),
    ...idGroups(idsOf("ad"), IDS_AT_ONCE).map((ids) => ({ list: "ads", ids })),
  ];
  return { kind: "page", costs: read.costs, names, next: [...more, ...lists] };
}

function readNames(question: CostQuestion, body: JsonObject, { account }: CallContext): PulledName[] {
  if (question.list === "account") {
    const id = account("advertiser_id");
    const own = objectsOf(body.data).find((advertiser) => textOf(advertiser.id) === id);
    return own ? namesOf([{ level: "account", id, name: own.name, status: own.status }]) : [];
  }
  return namesOf(
    objectsOf(objectOf(body.data).list).map((item) =>
      question.list === "plans"
        ? { level: "plan", id: item.project_id, name: item.name, status: item.status ?? item.status_first }
        : { level: "ad", id: item.promotion_id, name: item.promotion_name, status: item.status ?? item.status_first },
    ),
  );
}
