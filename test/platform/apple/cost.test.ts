import { generateKeyPairSync } from "node:crypto";
import { decodeProtectedHeader, jwtVerify } from "jose";
import { expect, test } from "vitest";
import { appleCosts } from "../../../src/platform/apple/cost.ts";
import type { CostQuestion } from "../../../src/platform/connector/cost-connector.ts";
import { contextOf, NOW_MS, ok, pullAll } from "../../support/cost-pull.ts";

const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const PEM = String(privateKey.export({ type: "sec1", format: "pem" }));

const ACCOUNT = {
  advertiser_id: "40669820",
  access_token: "at-1",
  client_id: "SEARCHADS.client",
  team_id: "SEARCHADS.team",
  key_id: "key-1",
  private_key: PEM,
};
const context = contextOf(appleCosts, ACCOUNT);
const CAMPAIGNS = { list: "campaigns", from: "2026-11-01", to: "2026-11-02", offset: 0 };
const CAMPAIGN = { list: "campaign", campaign: "5001", from: "2026-11-01", to: "2026-11-02", offset: 0 };
const ADS = { ...CAMPAIGN, list: "ads", currency: "USD" };
const HEADERS = { Authorization: "Bearer at-1", "X-AP-Context": "adAccountId=40669820" };

const metric = (date: string, amount: unknown, counts: object = { impressions: 100, taps: 10 }) => ({
  date,
  ...counts,
  localSpend: { amount, currency: "USD" },
});
const reportRow = (id: number, days: object[], over: object = {}) => ({
  metadata: { id, name: `Thing ${id}`, status: "ENABLED", displayStatus: "RUNNING", deleted: false, ...over },
  totalMetrics: { localSpend: { amount: "999.00", currency: "USD" } },
  granularMetrics: days,
});
const rows = (list: object[], pagination: object = {}) => ok({ result: { rows: list }, pagination });
const read = (question: CostQuestion, body: ReturnType<typeof ok>) => appleCosts.read(question, body, context);

test("the first requests are the campaigns and the account", () => {
  const range = { fromDay: "2026-11-01", toDay: "2026-11-02" };
  expect(appleCosts.start(range, context)).toEqual([CAMPAIGNS, { list: "account" }]);
  expect(appleCosts.spans).toEqual([{ reachDays: 90, daysMax: 90 }]);
});

const TIME_RANGE = { start: "2026-11-01", end: "2026-11-02", timeZone: "ORTZ", granularity: "DAILY" };
const SORTING = [{ field: "id", order: "ASC" }];
const FILTERS = [{ field: "campaignId", operator: "EQUALS", value: ["5001"] }];

test.each<[CostQuestion, string, object]>([
  [
    { ...CAMPAIGNS, offset: 100 },
    "https://api.ads.apple.com/v1/campaigns/query",
    { sorting: SORTING, pagination: { offset: 100, pageSize: 100, fetchTotalCount: true } },
  ],
  [
    CAMPAIGN,
    "https://api.ads.apple.com/v1/reports/apps/campaigns/query",
    { filters: FILTERS, sorting: SORTING, timeRange: TIME_RANGE, pagination: { offset: 0, pageSize: 100 } },
  ],
  [
    { ...ADS, offset: 200 },
    "https://api.ads.apple.com/v1/reports/apps/ads/query",
    { filters: FILTERS, sorting: SORTING, timeRange: TIME_RANGE, pagination: { offset: 200, pageSize: 100 } },
  ],
])("%j is asked at %s", (question, url, expected) => {
  const { body, ...request } = appleCosts.request(question, context);
  expect(request).toEqual({ method: "POST", url, headers: { ...HEADERS, "content-type": "application/json" } });
  expect(JSON.parse(body!)).toEqual(expected);
});

test("the account is requested by its own number, if that is not the users' number", () => {
  expect(appleCosts.request({ list: "account" }, context)).toEqual({
    method: "GET",
    url: "https://api.ads.apple.com/v1/ad-accounts/40669820",
    headers: HEADERS,
  });
  const other = contextOf(appleCosts, {
    ...ACCOUNT,
    ad_account_id: "77",
    base_url: "http://localhost:9",
    time_zone: "UTC",
  });
  const request = appleCosts.request({ list: "account" }, other);
  expect([request.url, request.headers["X-AP-Context"]]).toEqual([
    "http://localhost:9/ad-accounts/77",
    "adAccountId=77",
  ]);
  expect(JSON.parse(appleCosts.request(CAMPAIGN, other).body!).timeRange.timeZone).toBe("UTC");
  const page = appleCosts.read(
    { list: "account" },
    ok({ result: { id: 77, name: "Example", systemStatus: "ACTIVE" } }),
    other,
  );
  expect(page).toMatchObject({ names: [{ level: "account", id: "40669820", name: "Example", status: "ACTIVE" }] });
});

/** Two campaigns: 5001 has two ads on two pages that cost less than it, 5002 has none. */
function answer(question: CostQuestion) {
  if (question.list === "account") return ok({ result: { id: 40669820, name: "Example" } });
  if (question.list === "campaigns") {
    const campaign =
      question.offset === 0 ? { id: 5001, name: "One", status: "ENABLED" } : { id: 5002, name: "Two", deleted: true };
    return ok({ result: [campaign], pagination: { offset: question.offset, pageSize: 1, totalCount: 2 } });
  }
  if (question.list === "campaign") {
    const id = Number(question.campaign);
    return rows([
      reportRow(id, [metric("2026-11-01", "10.00"), metric("2026-11-02", "3.5")], { name: `Campaign ${id}` }),
    ]);
  }
  if (question.campaign === "5002") return rows([]);
  const first = reportRow(9001, [
    metric("2026-11-01", "4.00", { impressions: 30, taps: 4 }),
    metric("2026-11-02", "3.50"),
  ]);
  const second = reportRow(9002, [metric("2026-11-01", "5.0001", { impressions: 20, taps: 1 })], {
    displayStatus: "PAUSED",
  });
  return rows([question.offset === 0 ? first : second], { pageSize: 1, totalCount: 2 });
}

test("campaigns are found first, then their totals, and then their ads", () => {
  const pull = pullAll(appleCosts, context, { fromDay: "2026-11-01", toDay: "2026-11-02", answer });
  expect(
    pull.questions.map(({ list, campaign, offset }) => [list, campaign, offset].filter(Boolean).join(" ")),
  ).toEqual([
    ...["campaigns", "account", "campaigns 1", "campaign 5001", "campaign 5002", "ads 5001", "ads 5002", "ads 5001 1"],
  ]);
  const usd = { currency: "USD" };
  expect(pull.costs).toEqual([
    { day: "2026-11-01", gid: "5001", aid: "9001", impressions: 30, clicks: 4, costE4: 40_000, ...usd },
    { day: "2026-11-02", gid: "5001", aid: "9001", impressions: 100, clicks: 10, costE4: 35_000, ...usd },
    { day: "2026-11-01", gid: "5001", aid: "9002", impressions: 20, clicks: 1, costE4: 50_001, ...usd },
  ]);
  const totals = [
    { day: "2026-11-01", aid: "", impressions: 100, clicks: 10, costE4: 100_000, ...usd },
    { day: "2026-11-02", aid: "", impressions: 100, clicks: 10, costE4: 35_000, ...usd },
  ];
  expect(pull.planTotals).toEqual(["5001", "5002"].flatMap((gid) => totals.map((total) => ({ ...total, gid }))));
  // There is no report of the account: its total is what the campaigns add up to.
  expect(pull.totals).toEqual([...totals, ...totals].map((total) => ({ ...total, gid: "" })));
  expect(pull.names).toEqual([
    { level: "plan", id: "5001", name: "One", status: "ENABLED" },
    { level: "account", id: "40669820", name: "Example", status: "" },
    { level: "plan", id: "5002", name: "Two", status: "DELETED" },
    { level: "plan", id: "5001", name: "Campaign 5001", status: "RUNNING" },
    { level: "plan", id: "5002", name: "Campaign 5002", status: "RUNNING" },
    { level: "ad", id: "9001", name: "Thing 9001", status: "RUNNING" },
    { level: "ad", id: "9002", name: "Thing 9002", status: "PAUSED" },
  ]);
});

test("figures without an ad are in the campaign's total, and not counted twice", () => {
  expect(read(ADS, rows([reportRow(0, [metric("2026-11-01", "2")])]))).toMatchObject({ kind: "page", costs: [] });
});

test("a campaign without figures is not requested further", () => {
  const nothing = { kind: "page", costs: [], planTotals: [], totals: [], names: [], next: [] };
  expect(read(CAMPAIGN, rows([]))).toEqual(nothing);
  expect(read(CAMPAIGN, rows([reportRow(5001, [])]))).toMatchObject({ costs: [], next: [] });
});

test("campaigns on maps are left out", () => {
  const result = [
    { id: 1, name: "App", promotedObjectType: "APPSTORE_APP" },
    { id: 2, name: "Map", promotedObjectType: "BUSINESS_BRAND" },
  ];
  const page = read(CAMPAIGNS, ok({ result, pagination: { totalCount: 2 } }));
  expect(page).toMatchObject({ names: [{ id: "1" }], next: [{ list: "campaign", campaign: "1" }] });
  expect(page.kind === "page" && page.next).toHaveLength(1);
});

test.each<[object, number, boolean]>([
  [{ totalCount: 3 }, 2, true],
  [{ totalCount: 2 }, 2, false],
  [{ totalCount: 3 }, 0, false],
  [{ pageSize: 2 }, 2, true],
  [{ pageSize: 3 }, 2, false],
  [{}, 99, false],
  [{}, 100, true],
])("with %j, a page of %d campaigns is followed by another: %j", (pagination, count, isMore) => {
  const result = Array.from({ length: count }, (_, at) => ({ id: at + 1 }));
  const page = read(CAMPAIGNS, ok({ result, pagination }));
  const more = page.kind === "page" ? page.next.filter(({ list }) => list === "campaigns") : [];
  expect(more).toEqual(isMore ? [{ ...CAMPAIGNS, offset: count }] : []);
});

test.each<[unknown, number]>([
  ["0", 0],
  ["0.005", 50],
  ["12.3456", 123_456],
  ["1e-7", 0],
  ["0.00005", 1],
  [12.3456, 123_456],
  ["123456789012.3456", 1_234_567_890_123_456],
  [undefined, 0],
])("an amount of %j is %d ten-thousandths", (amount, costE4) => {
  const page = read(ADS, rows([reportRow(9001, [metric("2026-11-01", amount)])]));
  expect(page).toMatchObject({ kind: "page", costs: [{ aid: "9001", costE4 }] });
});

test("ids beyond 2^53 keep their digits, in requests too", () => {
  const page = read(CAMPAIGNS, ok('{"result":[{"id":90071992547409931,"name":"n","new":{}}]}'));
  expect(page).toMatchObject({ next: [{ campaign: "90071992547409931" }], names: [{ id: "90071992547409931" }] });
  const ad = ok(
    `{"result":{"rows":[{"metadata":{"id":90071992547409935},"granularMetrics":[{"date":"2026-11-01"}]}]}}`,
  );
  expect(read(ADS, ad)).toMatchObject({
    costs: [{ aid: "90071992547409935", impressions: 0, clicks: 0 }],
  });
});

test.each<[string, object]>([
  ["without days", { metadata: { id: 9001 }, totalMetrics: { localSpend: { amount: "5" } } }],
  ["with an invalid day", reportRow(9001, [metric("2026-13-01", "1")])],
  ["with an invalid amount", reportRow(9001, [metric("2026-11-01", "a lot")])],
])("a row %s fails the page instead of being lost", (_, row) => {
  const reason = "Apple sent a row whose day or cost cannot be read.";
  expect(read(ADS, rows([row]))).toEqual({ kind: "permanent", reason });
});

test("several currencies in one report are not added up", () => {
  const euro = { date: "2026-11-02", localSpend: { amount: "1", currency: "EUR" } };
  const page = read(ADS, rows([reportRow(9001, [metric("2026-11-01", "1"), euro])]));
  expect(page).toEqual({ kind: "permanent", reason: "Apple sent a report in several currencies." });
});

const INVALID = {
  error: {
    code: "INVALID_ARGUMENT",
    message: "The request could not be processed.",
    details: [{ code: "MISSING_REQUIRED_FIELD", message: "The field 'x' is required." }],
  },
};

test.each<[number, unknown, string, string]>([
  [400, INVALID, "permanent", "INVALID_ARGUMENT: The request could not be processed. The field 'x' is required"],
  [200, INVALID, "permanent", "INVALID_ARGUMENT: The request could not be processed. The field 'x' is required"],
  [401, { error: { code: "UNAUTHORIZED", message: "Expired." } }, "token", "UNAUTHORIZED: Expired"],
  [401, "", "token", "HTTP status 401"],
  [403, { error: { code: "FORBIDDEN", message: "No role." } }, "permanent", "FORBIDDEN: No role"],
  [404, "", "permanent", "HTTP status 404"],
  [429, { error: { code: "RATE_LIMITED", message: "" } }, "retry", "RATE_LIMITED"],
  [429, "", "retry", "HTTP status 429"],
  [500, { error: {} }, "retry", "an error"],
  [503, "<html>", "retry", "HTTP status 503"],
  [200, {}, "retry", "something unexpected"],
])("HTTP status %d with %j is %s", (status, body, kind, told) => {
  const reply = { status, body: typeof body === "string" ? body : JSON.stringify(body) };
  expect(appleCosts.read(CAMPAIGN, reply, context)).toEqual({ kind, reason: `Apple answered ${told}.` });
});

test.each([[PEM], [PEM.replaceAll("\n", "\\n")], [String(privateKey.export({ type: "pkcs8", format: "pem" }))]])(
  "a token is requested with a client secret signed by the account's key",
  async (private_key) => {
    const request = appleCosts.tokens!.request(contextOf(appleCosts, { ...ACCOUNT, private_key }))!;
    expect({ ...request, body: "" }).toEqual({
      method: "POST",
      url: "https://appleid.apple.com/auth/oauth2/token",
      headers: { "Content-Type": "application/x-www-form-urlencoded" },
      body: "",
    });
    const { client_secret, ...form } = Object.fromEntries(new URLSearchParams(request.body));
    expect(form).toEqual({ grant_type: "client_credentials", client_id: "SEARCHADS.client", scope: "searchadsorg" });
    expect(decodeProtectedHeader(client_secret!)).toEqual({ alg: "ES256", kid: "key-1" });
    const expected = { issuer: "SEARCHADS.team", subject: "SEARCHADS.client", audience: "https://appleid.apple.com" };
    const { payload } = await jwtVerify(client_secret!, publicKey, { ...expected, currentDate: new Date(NOW_MS) });
    expect([payload.iat, payload.exp]).toEqual([Math.floor(NOW_MS / 1000), Math.floor(NOW_MS / 1000) + 3600]);
  },
);

const OTHER_CURVE = generateKeyPairSync("ec", { namedCurve: "P-384" }).privateKey.export({
  type: "pkcs8",
  format: "pem",
});

test.each<[string, Record<string, string>]>([
  ["a client id", { client_id: "" }],
  ["a team id", { team_id: "" }],
  ["a key id", { key_id: "" }],
  ["a key", { private_key: "" }],
  ["a key that can be read", { private_key: "-----BEGIN PRIVATE KEY-----\nnonsense\n-----END PRIVATE KEY-----" }],
  ["a key of the right curve", { private_key: String(OTHER_CURVE) }],
])("without %s no token can be requested", (_, values) => {
  expect(appleCosts.tokens!.request(contextOf(appleCosts, { ...ACCOUNT, ...values }))).toBeUndefined();
});

test.each<[number, unknown, object]>([
  [
    200,
    { access_token: "at-2", token_type: "Bearer", expires_in: 3600, scope: "searchadsorg" },
    { kind: "token", values: { access_token: "at-2" }, expiresAtMs: NOW_MS + 3_600_000, refreshExpiresAtMs: null },
  ],
  [400, { error: "invalid_client" }, { kind: "permanent", reason: "Apple answered invalid_client." }],
  [
    401,
    { error: "invalid_client", error_description: "No such key." },
    { kind: "permanent", reason: "Apple answered invalid_client: No such key." },
  ],
  [429, {}, { kind: "retry", reason: "Apple answered HTTP status 429." }],
  [502, "oh", { kind: "retry", reason: "Apple answered HTTP status 502." }],
  [200, {}, { kind: "retry", reason: "Apple answered without an access token." }],
])("HTTP status %d with %j answers for a token", (status, body, expected) => {
  expect(appleCosts.tokens!.read({ status, body: JSON.stringify(body) }, NOW_MS)).toEqual(expected);
});
