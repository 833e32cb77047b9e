import type { JsonObject } from "../../domain/json.ts";
import { cleanId } from "../../domain/user/identity.ts";
import type { CallContext, HttpRequest } from "../connector/connector.ts";
import type { CostConnector, CostPage, CostQuestion } from "../connector/cost-connector.ts";
import { answerOf, countOf, type Envelope, objectOf, objectsOf, textOf } from "../connector/reply.ts";
import { type Costs, costsOf, namesOf } from "../connector/report-row.ts";
import { get, jsonTextPost } from "../connector/request.ts";
import { appleTokens } from "./token.ts";

const PAGE_ROWS = 100;

/**
 * Apple Ads Platform API 1.0. A report must name its campaign, so:
 *
 *   campaigns ──▶ campaign's days ──▶ its ads, page by page
 *
 * Campaigns spend beyond their ads (deleted ads, or a campaign without ads). There is no report of the account, whose
 * total is what its campaigns add up to.
 */
export const appleCosts: CostConnector = {
  platform: "Apple",
  fields: [
    { name: "base_url", hint: "Address of the Apple Ads Platform API", fallback: "https://api.ads.apple.com/v1" },
    { name: "token_url", hint: "Address for tokens", fallback: "https://appleid.apple.com/auth/oauth2/token" },
    { name: "ad_account_id", hint: "Ad account, if its number differs from the users' orgId", fallback: "" },
    { name: "client_id", hint: "Client id of the API user", fallback: "" },
    { name: "team_id", hint: "Team id of the API user", fallback: "" },
    { name: "key_id", hint: "Id of the key", fallback: "" },
    { name: "private_key", hint: "Private key (PEM, P-256)", fallback: "", isSecret: true },
    { name: "access_token", hint: "Access token; renewed with the key", fallback: "", isSecret: true },
    { name: "time_zone", hint: "Zone of the days: ORTZ (the account's) or UTC", fallback: "ORTZ" },
  ],
  // Reports by days reach back 90 days.
  spans: [{ reachDays: 90, daysMax: 90 }],
  start: ({ fromDay, toDay }): CostQuestion[] => [
    { list: "campaigns", from: fromDay, to: toDay, offset: 0 },
    { list: "account" },
  ],
  // Ads are found through their campaigns, so that costs are not complete without the campaigns' reports.
  subjectOf: ({ list }) => (list === "account" ? "names" : "costs"),
  request,
  read: (question, reply, context) => {
    const answer = answerOf(reply, ENVELOPE);
    if (answer.kind !== "answer") return answer;
    return READERS[String(question.list)]!(question, answer.body, context);
  },
  tokens: appleTokens,
};

const ENVELOPE: Envelope = {
  platform: "Apple",
  outcome: (body) => {
    const { error } = body;
    if (error === undefined || error === null) return "result" in body ? "fine" : undefined;
    const [detail] = objectsOf(objectOf(error).details);
    const message = [textOf(objectOf(error).message), textOf(detail?.message)].filter((part) => part !== "").join(" ");
    return { code: textOf(objectOf(error).code) || "an error", message };
  },
  // Apple uses the HTTP status: 401 for the token, 429 for too many calls.
  kindOf: () => undefined,
};

function accountIdOf({ account }: CallContext): string {
  return account("ad_account_id") || account("advertiser_id");
}

function request(question: CostQuestion, context: CallContext): HttpRequest {
  const { account } = context;
  const headers = {
    Authorization: `Bearer ${account("access_token")}`,
    "X-AP-Context": `adAccountId=${accountIdOf(context)}`,
  };
  if (question.list === "account") {
    return get(`${account("base_url")}/ad-accounts/${accountIdOf(context)}`, headers);
  }
  const body = question.list === "campaigns" ? campaignsBody(question) : reportBody(question, account("time_zone"));
  return jsonTextPost(`${account("base_url")}/${PATHS[String(question.list)]}`, JSON.stringify(body), headers);
}

const PATHS: Readonly<Record<string, string>> = {
  campaigns: "campaigns/query",
  campaign: "reports/apps/campaigns/query",
  ads: "reports/apps/ads/query",
};

/** Without an order, pages could overlap. */
const BY_ID = [{ field: "id", order: "ASC" }];

function campaignsBody({ offset }: CostQuestion) {
  return { sorting: BY_ID, pagination: { offset, pageSize: PAGE_ROWS, fetchTotalCount: true } };
}

function reportBody(question: CostQuestion, timeZone: string) {
  return {
    filters: [{ field: "campaignId", operator: "EQUALS", value: [question.campaign] }],
    sorting: BY_ID,
    timeRange: { start: question.from, end: question.to, timeZone, granularity: "DAILY" },
    pagination: { offset: question.offset, pageSize: PAGE_ROWS },
  };
}

type Reader = (question: CostQuestion, body: JsonObject, context: CallContext) => CostPage;

const READERS: Readonly<Record<string, Reader>> = {
  campaigns: readCampaigns,
  campaign: readCampaign,
  ads: readAds,
  account: (_question, body, { account }) => {
    const own = objectOf(body.result);
    const status = own.systemStatus ?? own.status;
    const names = namesOf([{ level: "account", id: account("advertiser_id"), name: own.name, status }]);
    return { kind: "page", costs: [], names: names.filter(({ name }) => name !== ""), next: [] };
  },
};

function readCampaigns(question: CostQuestion, body: JsonObject): CostPage {
  const list = objectsOf(body.result);
  // Campaigns on Apple Maps have separate reports and bring no users.
  const campaigns = list.filter(({ promotedObjectType }) => (promotedObjectType ?? "APPSTORE_APP") === "APPSTORE_APP");
  const ids = [...new Set(campaigns.map(({ id }) => cleanId(id)))].filter((id) => id !== "");
  const { from = "", to = "" } = question;
  const reports = ids.map((id) => ({ list: "campaign", campaign: id, from, to, offset: 0 }));
  const names = namesOf(campaigns.map((row) => ({ level: "plan", ...nameIn(row) })));
  return { kind: "page", costs: [], totals: [], names, next: [...nextOffset(question, list.length, body), ...reports] };
}

function readCampaign(question: CostQuestion, body: JsonObject): CostPage {
  const rows = objectsOf(objectOf(body.result).rows);
  const read = daysOf(rows, question);
  if (read.kind !== "costs") return read;
  const names = namesOf(rows.map(({ metadata }) => ({ level: "plan", ...nameIn(objectOf(metadata)) })));
  const [first] = read.costs;
  const { campaign = "", from = "", to = "" } = question;
  const next = first ? [{ list: "ads", campaign, from, to, offset: 0, currency: first.currency }] : [];
  const totals = read.costs.map((cost) => ({ ...cost, gid: "" }));
  return { kind: "page", costs: [], planTotals: read.costs, totals, names, next };
}

function readAds(question: CostQuestion, body: JsonObject): CostPage {
  const rows = objectsOf(objectOf(body.result).rows);
  const read = daysOf(rows, question);
  if (read.kind !== "costs") return read;
  const names = namesOf(rows.map(({ metadata }) => ({ level: "ad", ...nameIn(objectOf(metadata)) })));
  // Rows without an ad belong to the campaign itself and are in its total.
  const costs = read.costs.filter(({ aid }) => aid !== "");
  return { kind: "page", costs, names, next: nextOffset(question, rows.length, body) };
}

/** The question for the next page, if any. Without a total, a full page may be followed by another. */
function nextOffset(question: CostQuestion, count: number, body: JsonObject): CostQuestion[] {
  const pagination = objectOf(body.pagination);
  const until = Number(question.offset) + count;
  const total = textOf(pagination.totalCount);
  const isMore = total === "" ? count >= (countOf(pagination.pageSize) || PAGE_ROWS) : until < countOf(total);
  return count > 0 && isMore ? [{ ...question, offset: until }] : [];
}

function nameIn(row: JsonObject) {
  return { id: row.id, name: row.name, status: row.deleted === true ? "DELETED" : (row.displayStatus ?? row.status) };
}

/** The costs by day in a report's rows: of ads for the list `ads`, else of the campaign itself. */
function daysOf(rows: readonly JsonObject[], question: CostQuestion): Costs {
  const currencies = new Set<string>();
  const days = rows.flatMap((row) => {
    // A row without days fails as unreadable: its total belongs to no day.
    const metrics = Array.isArray(row.granularMetrics) ? objectsOf(row.granularMetrics) : [{} as JsonObject];
    return metrics.map((metric) => {
      const spend = objectOf(metric.localSpend);
      if (textOf(spend.currency) !== "") currencies.add(textOf(spend.currency));
      return {
        day: metric.date,
        gid: String(question.campaign),
        aid: question.list === "ads" ? objectOf(row.metadata).id : "",
        impressions: metric.impressions,
        clicks: metric.taps,
        cost: spend.amount,
      };
    });
  });
  const [currency = textOf(question.currency)] = currencies;
  if (currencies.size > 1) return { kind: "permanent", reason: "Apple sent a report in several currencies." };
  return costsOf(days, { platform: ENVELOPE.platform, money: { unitDecimals: 0, currency } });
}
