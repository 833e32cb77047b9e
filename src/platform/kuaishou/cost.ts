import { addDays, calendarOf } from "../../domain/calendar.ts";
import type { JsonObject, JsonValue } from "../../domain/json.ts";
import {
  BY_CREATIVE_FIELD,
  BY_HOUR_FIELD,
  CURRENCY_FIELD,
  DEVELOPER_FIELDS,
  isByCreative,
  isByHour,
} from "../connector/account-fields.ts";
import type { AccountSettings, CallContext, HttpRequest } from "../connector/connector.ts";
import type { CostConnector, CostPage, CostQuestion, PulledName, Subject } from "../connector/cost-connector.ts";
import { idGroups } from "../connector/question.ts";
import { answerOf, codeOutcome, countOf, type Envelope, objectOf, objectsOf, textOf } from "../connector/reply.ts";
import { costsInUnit, creativesInUnit, hoursInUnit, namesOf, type ReportRow } from "../connector/report-row.ts";
import { idJson, jsonTextPost, objectJson } from "../connector/request.ts";
import { authoriseField, TOKEN_FIELDS, tokenAnswerOf } from "../connector/token.ts";
import { isTask, readTask, rowsOfFile, taskRequest } from "./report-task.ts";

const REPORT_ROWS = 2_000;
/** The most ids in the filter of the list of units. */
const IDS_AT_ONCE = 100;

/** Certain: immediate reports show the last week. Likely: that today is its last day. */
const WEEK_DAYS = 7;
/** Certain: a task covers six months, the shortest of which have 181 days. */
const TASK_REACH_DAYS = 180;
/** A month, because the file of a task comes in one piece. Half a year stays below the fifty tasks of a day (likely). */
const TASK_DAYS_MAX = 30;

/**
 * A campaign is the plan, a unit the ad. The report counts views and taps in several ways. Which of them are
 * impressions and clicks depends on where the ads run, so the account chooses. The report by unit leaves out the
 * campaigns that Kuaishou manages itself (省心投, certain); those by campaign and by account hold them.
 */
export const kuaishouCosts: CostConnector = {
  platform: "Kuaishou",
  fields: [
    { name: "base_url", hint: "Address of the Marketing API", fallback: "https://ad.e.kuaishou.com/rest/openapi" },
    authoriseField("https://developers.e.kuaishou.com/tools/authorize"),
    ...TOKEN_FIELDS,
    ...DEVELOPER_FIELDS,
    {
      name: "impressions_field",
      hint: "What counts as impressions: show (covers) or aclick (material)",
      fallback: "show",
    },
    {
      name: "clicks_field",
      hint: "What counts as clicks: photo_click (covers) or bclick (actions)",
      fallback: "photo_click",
    },
    CURRENCY_FIELD,
    BY_CREATIVE_FIELD,
    BY_HOUR_FIELD,
  ],
  spans: [
    { reachDays: WEEK_DAYS, daysMax: WEEK_DAYS },
    { reachDays: TASK_REACH_DAYS, daysMax: TASK_DAYS_MAX },
  ],
  start: ({ fromDay, toDay }, { account, nowMs }) => {
    const isRecent = fromDay >= addDays(SHANGHAI.dayOf(nowMs), 1 - WEEK_DAYS);
    const days = { from: fromDay, to: toDay };
    // Certain: only immediate reports are by the hour.
    const hour = isRecent && isByHour(account) ? ["hour"] : [];
    const levels = [...(isByCreative(account) ? ["creative"] : []), ...hour, ...LEVELS];
    const reports = levels.map((level) =>
      isRecent ? { list: "report", level, ...days, page: 1 } : { list: "task", level, ...days },
    );
    return [...reports, { list: "account" }];
  },
  subjectOf: ({ level }) => SUBJECTS[String(level)] ?? "names",
  request,
  read: (question, reply, context) => {
    // A refusal is an ordinary answer.
    if (question.list === "task_file" && reply.status === 200 && !reply.body.trimStart().startsWith("{")) {
      const rows = rowsOfFile(reply.body);
      return Array.isArray(rows) ? readRows(question, rows, context) : rows;
    }
    const answer = answerOf(reply, ENVELOPE);
    if (answer.kind !== "answer") return answer;
    const data = objectOf(answer.body.data);
    if (isTask(question)) return readTask(question, data);
    if (question.list === "report") return readReport(question, data, context);
    return { kind: "page", costs: [], names: readNames(question, data, context), next: [] };
  },
  tokens: {
    request: ({ account }) => {
      const [id, secret, refreshToken] = [account("app_id"), account("app_secret"), account("refresh_token")];
      if (!id || !secret || !refreshToken) return undefined;
      const values = {
        app_id: idJson(id),
        secret: JSON.stringify(secret),
        refresh_token: JSON.stringify(refreshToken),
      };
      return jsonTextPost(`${account("base_url")}/oauth2/authorize/refresh_token`, objectJson(values));
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
            refreshExpiresInS: data.refresh_token_expires_in,
          };
        },
      }),
  },
};

/** Days are Kuaishou's own, whatever the app's time zone. */
const SHANGHAI = calendarOf("Asia/Shanghai");

const LEVELS = ["unit", "campaign", "account"] as const;
const SUBJECTS: Readonly<Record<string, Subject>> = {
  creative: "creatives",
  hour: "hours",
  unit: "costs",
  campaign: "plan_totals",
  account: "totals",
};

/** Few of Kuaishou's codes are published, so its messages are considered too. */
export const ENVELOPE: Envelope = {
  platform: "Kuaishou",
  outcome: codeOutcome,
  kindOf: ({ code, message }) => {
    if (code === "402005" || /access[\s_-]?token/i.test(message)) return "token";
    if (/频|限流|繁忙|busy|too (?:many|fast)|rate limit|frequen/i.test(message)) return "retry";
    return /^5\d\d$/.test(code) ? "retry" : undefined;
  },
};

const PATHS: Readonly<Record<string, string>> = {
  plans: "gw/dsp/campaign/list",
  ads: "gw/dsp/unit/list",
  account: "v1/advertiser/info",
};

function request(question: CostQuestion, context: CallContext): HttpRequest {
  if (isTask(question)) return taskRequest(question, context);
  const { account } = context;
  const values = { advertiser_id: idJson(account("advertiser_id")), ...parameters(question) };
  const level = question.level === "hour" ? "unit" : question.level;
  const url = `${account("base_url")}/${PATHS[String(question.list)] ?? `v1/report/${level}_report`}`;
  return jsonTextPost(url, objectJson(values), { "Access-Token": account("access_token") });
}

function parameters(question: CostQuestion): Record<string, string> {
  if (question.list === "report") {
    return {
      start_date: JSON.stringify(question.from),
      end_date: JSON.stringify(question.to),
      temporal_granularity: question.level === "hour" ? '"HOURLY"' : '"DAILY"',
      page: String(question.page),
      page_size: String(REPORT_ROWS),
    };
  }
  if (question.list === "account") return {};
  const ids = String(question.ids).split(",").map(idJson);
  return {
    [question.list === "plans" ? "campaign_ids" : "unit_ids"]: `[${ids.join(",")}]`,
    page: "1",
    page_size: String(IDS_AT_ONCE),
  };
}

function readReport(question: CostQuestion, data: JsonObject, context: CallContext): CostPage {
  const details = objectsOf(data.details);
  const page = readRows(question, details, context);
  if (page.kind !== "page") return page;
  // Counts the received rows, because a page may hold fewer than requested.
  const seen = Number(question.seen ?? 0) + details.length;
  const isMore = details.length > 0 && seen < countOf(data.total_count);
  const more = isMore ? [{ ...question, page: Number(question.page) + 1, seen }] : [];
  return { ...page, next: [...more, ...page.next] };
}

/**
 * Reads the report of creatives, which leaves out those that Kuaishou puts together itself (certain): their costs stand
 * with their units.
 */
function readCreatives(details: readonly JsonObject[], { account }: CallContext): CostPage {
  const rows = details.map((row) => ({ ...unitRow(row, account), cid: row.creative_id }));
  const read = creativesInUnit(rows, { platform: ENVELOPE.platform, account });
  if (read.kind !== "creatives") return read;
  const names = namesOf(details.map((row) => ({ level: "creative", id: row.creative_id, name: row.creative_name })));
  return { kind: "page", costs: [], creatives: read.creatives, names, next: [] };
}

/** Certain: hours are numbers, beside the day. */
function readHours(details: readonly JsonObject[], { account }: CallContext): CostPage {
  const rows = details.map((row) => ({ ...unitRow(row, account), hour: row.stat_hour }));
  const read = hoursInUnit(rows, { platform: ENVELOPE.platform, account });
  return read.kind === "hours" ? { kind: "page", costs: [], hours: read.hours, names: [], next: [] } : read;
}

function unitRow(row: JsonObject, account: AccountSettings): ReportRow {
  return {
    day: row.stat_date,
    gid: row.campaign_id,
    aid: row.unit_id,
    impressions: row[account("impressions_field")],
    clicks: row[account("clicks_field")],
    cost: row.charge,
  };
}

/** Reads rows of either kind of report, which have the same names (likely for the files of tasks). */
function readRows(question: CostQuestion, details: readonly JsonObject[], context: CallContext): CostPage {
  if (question.level === "creative") return readCreatives(details, context);
  if (question.level === "hour") return readHours(details, context);
  const { account } = context;
  const rows = details.map((row) => ({
    ...unitRow(row, account),
    gid: question.level === "account" ? "" : row.campaign_id,
    aid: question.level === "unit" ? row.unit_id : "",
  }));
  const read = costsInUnit(rows, { platform: ENVELOPE.platform, account });
  if (read.kind !== "costs") return read;
  if (question.level === "account") return { kind: "page", costs: [], totals: read.costs, names: [], next: [] };
  const names = namesOf(
    details.flatMap((row) => [
      { level: "plan", id: row.campaign_id, name: row.campaign_name },
      ...(question.level === "unit" ? [{ level: "ad" as const, id: row.unit_id, name: row.unit_name }] : []),
    ]),
  );
  const idsOf = (list: "plans" | "ads") => read.costs.map((cost) => (list === "plans" ? cost.gid : cost.aid));
  const next = (["plans", "ads"] as const).flatMap((list) =>
    idGroups(idsOf(list), IDS_AT_ONCE).map((ids) => ({ list, ids })),
  );
  if (question.level === "campaign") return { kind: "page", costs: [], planTotals: read.costs, names, next };
  return { kind: "page", costs: read.costs, names, next };
}

/** Words for the documented statuses; others stay numbers. */
const PLAN_STATUSES: Readonly<Record<string, string>> = {
  1: "paused",
  3: "over budget",
  4: "valid",
  5: "deleted",
  6: "no balance",
};
const AD_STATUSES: Readonly<Record<string, string>> = { 11: "in review", 12: "refused", 15: "paused", 20: "valid" };

function readNames(question: CostQuestion, data: JsonObject, { account }: CallContext): PulledName[] {
  if (question.list === "account") {
    const name = textOf(data.corporation_name) || textOf(data.user_name);
    return name === "" ? [] : namesOf([{ level: "account", id: account("advertiser_id"), name }]);
  }
  const wordOf = (words: Readonly<Record<string, string>>, status: JsonValue | undefined) =>
    words[textOf(status)] ?? status;
  return namesOf(
    objectsOf(data.details).map((item) =>
      question.list === "plans"
        ? { level: "plan", id: item.campaign_id, name: item.campaign_name, status: wordOf(PLAN_STATUSES, item.status) }
        : { level: "ad", id: item.unit_id, name: item.unit_name, status: wordOf(AD_STATUSES, item.status) },
    ),
  );
}
