import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { jwtVerify } from "jose";
import {
  type Answer,
  answer,
  type Call,
  type Fields,
  isFields,
  jsonBody,
  objectAt,
  optionalObject,
  optionalWhole,
  parameter,
  Refusal,
  textAt,
} from "./call.ts";
import { assertDays, CostBook, type CostOptions, type CostRow, numberId, sumBy, withNumberIds } from "./costs.ts";
import { type Dialect, type Route, type StandIn, type StandInOptions, startStandIn } from "./stand-in.ts";
import { Pace, randomText, Tokens } from "./tokens.ts";

export type AppleOptions = StandInOptions &
  CostOptions & {
    clientId?: string;
    teamId?: string;
    keyId?: string;
    currency?: string;
    /** Whether a campaign report needs a filter on campaignId, as Apple's documentation says of every app report. */
    campaignReports?: "need_filter" | "open";
    /** Whether a report may reach beyond today in UTC. */
    future?: "served" | "refused";
    /** Calls per minute. */
    callsPerMinute?: number;
  };

export type AppleStandIn = StandIn & {
  tokens: Tokens;
  clientId: string;
  teamId: string;
  keyId: string;
  /** The key with which the caller signs its client secret; the platform holds the public half. */
  privateKeyPem: string;
};

const AUDIENCE = "https://appleid.apple.com";
const SECRET_SECONDS_MAX = 180 * 86_400;
const PAGE_SIZE_MAX = 1000;

const statusOf = (code: number): string =>
  ({ 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 429: "RESOURCE_EXHAUSTED" })[code] ?? "INVALID_ARGUMENT";

function failed(status: number, message: string): Answer {
  return answer({ error: { code: statusOf(status), message, details: [] } }, status);
}

const DIALECT: Dialect = {
  refusal: ({ message, code = 400 }) => failed(code, message),
  busy: {
    ...failed(429, "too many requests"),
    headers: { "RateLimit-Limit": "1", "RateLimit-Remaining": "0", "RateLimit-Reset": "1" },
  },
  badToken: failed(401, "the access token is invalid"),
};

export async function startApple(options: AppleOptions = {}): Promise<AppleStandIn> {
  const { clock, clientId = `SEARCHADS.${randomText()}`, teamId = `SEARCHADS.${randomText()}` } = options;
  const { keyId = randomText(), currency = "USD", callsPerMinute = 1000, campaignReports = "need_filter" } = options;
  const { future = "served" } = options;
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const tokens = new Tokens({ clock, accessSeconds: 3600, refreshToken: "kept" });
  const pace = new Pace({ limit: callsPerMinute, windowMs: 60_000 });
  const book = new CostBook(options);
  const routes = [
    tokenRoute({ tokens, publicKey, clientId, teamId, keyId }),
    ...costRoutes({ book, currency, campaignReports, future }).map((route) => paced(guarded(route, tokens), pace)),
  ];
  const standIn = await startStandIn("asa", { ...options, routes });
  const privateKeyPem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  return Object.assign(standIn, { tokens, clientId, teamId, keyId, privateKeyPem });
}

type Client = { tokens: Tokens; publicKey: KeyObject; clientId: string; teamId: string; keyId: string };

function tokenRoute({ tokens, publicKey, clientId, teamId, keyId }: Client): Route {
  return {
    methods: ["POST"],
    path: "/auth/oauth2/token",
    dialect: {
      refusal: ({ message }) => answer({ error: message === WRONG_CLIENT ? message : "invalid_request" }, 400),
      busy: answer({ error: "temporarily_unavailable" }, 503),
      badToken: answer({ error: WRONG_CLIENT }, 400),
    },
    async take({ query, body, nowMs }) {
      const form = new URLSearchParams(body === "" ? query : body);
      if (parameter(form, "grant_type") !== "client_credentials") throw new Refusal("grant_type is wrong");
      if (parameter(form, "scope") !== "searchadsorg") throw new Refusal("scope is wrong");
      if (parameter(form, "client_id") !== clientId) throw new Refusal(WRONG_CLIENT);
      const isGood = await isClientSecret(parameter(form, "client_secret"), {
        publicKey,
        clientId,
        teamId,
        keyId,
        nowMs,
      });
      if (!isGood) throw new Refusal(WRONG_CLIENT);
      tokens.renew();
      const expiresIn = Math.floor((tokens.accessExpiresAtMs - nowMs) / 1000);
      return answer({
        access_token: tokens.accessToken,
        token_type: "Bearer",
        expires_in: expiresIn,
        scope: "searchadsorg",
      });
    },
  };
}

const WRONG_CLIENT = "invalid_client";

async function isClientSecret(
  secret: string,
  { publicKey, clientId, teamId, keyId, nowMs }: Omit<Client, "tokens"> & { nowMs: number },
): Promise<boolean> {
  try {
    const { payload, protectedHeader } = await jwtVerify(secret, publicKey, {
      algorithms: ["ES256"],
      subject: clientId,
      issuer: teamId,
      audience: AUDIENCE,
      requiredClaims: ["iat", "exp"],
      currentDate: new Date(nowMs),
    });
    return protectedHeader.kid === keyId && payload.exp! - payload.iat! <= SECRET_SECONDS_MAX;
  } catch {
    return false;
  }
}

function guarded(route: Route, tokens: Tokens): Route {
  return {
    ...route,
    take(call, desk) {
      const token = /^Bearer (\S+)$/.exec(call.headers.authorization ?? "")?.[1];
      tokens.assert(token, { unknown: 401, expired: 401 });
      return route.take(call, desk);
    },
  };
}

/** Adds the remaining allowance to every answer, including refusals. */
function paced(route: Route, pace: Pace): Route {
  return {
    ...route,
    async take(call, desk) {
      const { isOver, remaining, resetSeconds } = pace.take(call.nowMs);
      const headers = {
        "RateLimit-Limit": String(pace.limit),
        "RateLimit-Remaining": String(remaining),
        "RateLimit-Reset": String(resetSeconds),
      };
      try {
        if (isOver) throw new Refusal("too many requests", 429);
        return { ...(await route.take(call, desk)), headers };
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        desk.refuse(call, error.message);
        return { ...DIALECT.refusal(error), headers };
      }
    },
  };
}

type Offer = {
  book: CostBook;
  currency: string;
  campaignReports: "need_filter" | "open";
  future: "served" | "refused";
};

function costRoutes(offer: Offer): Route[] {
  const route = (method: "GET" | "POST", path: string, read: (call: Call) => Answer): Route => ({
    methods: [method],
    path,
    dialect: DIALECT,
    take: (call) => read(call),
  });
  return [
    route("GET", "/v1/me", () => answer({ result: { userId: 1 } })),
    route("GET", "/v1/acls", () => acls(offer.book)),
    ...offer.book.accounts().map((id) => route("GET", `/v1/ad-accounts/${id}`, (call) => adAccount(call, id, offer))),
    route("POST", "/v1/campaigns/query", (call) => campaigns(call, offer)),
    route("POST", "/v1/reports/apps/campaigns/query", (call) => report(call, { ...offer, level: "campaign" })),
    route("POST", "/v1/reports/apps/ads/query", (call) => report(call, { ...offer, level: "ad" })),
  ];
}

function acls(book: CostBook): Answer {
  const adAccountOf = (id: string) => ({ id: numberId(id), name: book.accountName(id), orgId: 1 });
  const shown = answer({
    result: { acls: book.accounts().map((id) => ({ adAccount: adAccountOf(id), roles: ["Admin"] })) },
  });
  return { ...shown, body: withNumberIds(shown.body) };
}

function adAccount(call: Call, id: string, { book, currency }: Offer): Answer {
  if (accountOf(call, book) !== id) throw new Refusal("the account is another one than that of X-AP-Context", 403);
  const result = { id: numberId(id), name: book.accountName(id), orgId: 1, currency, systemStatus: "ACTIVE" };
  const shown = answer({ result });
  return { ...shown, body: withNumberIds(shown.body) };
}

function accountOf({ headers }: Call, book: CostBook): string {
  const account = /^adAccountId=(\d+)$/.exec(String(headers["x-ap-context"] ?? ""))?.[1];
  if (account === undefined) throw new Refusal("X-AP-Context names no adAccountId", 403);
  book.assertAccount(account, 403);
  return account;
}

function campaigns(call: Call, { book }: Offer): Answer {
  const account = accountOf(call, book);
  return paged(jsonBody(call), { items: book.plans(account), book }, (items) =>
    items.map((row) => ({
      id: numberId(row.planId),
      name: row.planName,
      adAccountId: numberId(row.account),
      status: "ENABLED",
      deleted: false,
    })),
  );
}

type Level = "campaign" | "ad";

function report(call: Call, { book, currency, campaignReports, future, level }: Offer & { level: Level }): Answer {
  const account = accountOf(call, book);
  const body = jsonBody(call);
  const range = objectAt(body, "timeRange");
  const granularity = textAt(range, "granularity");
  if (!["HOURLY", "DAILY", "WEEKLY", "MONTHLY"].includes(granularity)) throw new Refusal("granularity is unknown");
  if (level === "ad" && granularity === "HOURLY") throw new Refusal("ads have no HOURLY");
  if (granularity !== "DAILY") throw new Refusal("granularity is not served here");
  const days = assertDays({ firstDay: range.start, lastDay: range.end, daysMax: 90 });
  if (future === "refused" && days.lastDay > new Date(call.nowMs).toISOString().slice(0, 10))
    throw new Refusal("the last day is in the future");
  const isOpen = level === "campaign" && campaignReports === "open";
  const chosen = campaignFilter(body);
  if (chosen === undefined && !isOpen) throw new Refusal("a filter on campaignId is missing");
  const idOf = (row: CostRow) => (level === "ad" ? row.adId : row.planId);
  const rows = book.between(account, days).filter((row) => chosen?.has(row.planId) ?? true);
  return paged(body, { items: sumBy(rows, idOf), book }, (items) => ({
    rows: items.map((total) => ({
      metadata: metadataOf(total, level),
      totalMetrics: metricsOf(total, currency),
      granularMetrics: sumBy(
        rows.filter((row) => idOf(row) === idOf(total)),
        (row) => row.day,
      ).map((row) => ({ date: row.day, ...metricsOf(row, currency) })),
    })),
  }));
}

/** The ids in the campaign filter, or undefined if there is none. */
function campaignFilter(body: Fields): ReadonlySet<string> | undefined {
  const filters = Array.isArray(body.filters) ? body.filters : [];
  const filter: unknown = filters.find((entry: unknown) => isFields(entry) && entry.field === "campaignId");
  if (!isFields(filter)) return undefined;
  const values = [filter.value].flat().map(String);
  if (filter.operator === "EQUALS" ? values.length !== 1 : filter.operator !== "IN")
    throw new Refusal("the filter on campaignId is neither EQUALS one nor IN some");
  if (values.some((value) => !/^\d+$/.test(value))) throw new Refusal("the filter on campaignId holds no ids");
  return new Set(values);
}

function metadataOf(row: CostRow, level: Level): object {
  const shared = { adAccountId: numberId(row.account), status: "ENABLED", deleted: false };
  if (level === "campaign") return { id: numberId(row.planId), name: row.planName, ...shared };
  const adGroupId = numberId(`${row.planId}1`);
  return { id: numberId(row.adId), name: row.adName, campaignId: numberId(row.planId), adGroupId, ...shared };
}

function metricsOf({ cents, impressions, clicks }: CostRow, currency: string): object {
  const localSpend = { amount: (cents / 100).toFixed(2), currency };
  return { localSpend, impressions, taps: clicks, tapInstalls: 0, totalInstalls: 0 };
}

function paged<Item>(
  body: Fields,
  { items, book }: { items: readonly Item[]; book: CostBook },
  show: (items: readonly Item[]) => unknown,
): Answer {
  const asked = optionalObject(body, "pagination");
  const offset = optionalWhole(asked, "offset") ?? 0;
  const pageSize = Math.min(optionalWhole(asked, "pageSize", { min: 1, max: PAGE_SIZE_MAX }) ?? 20, book.pageRows);
  const result = show(items.slice(offset, offset + pageSize));
  const shown = answer({ result, pagination: { offset, pageSize, totalCount: items.length } });
  return { ...shown, body: withNumberIds(shown.body) };
}
