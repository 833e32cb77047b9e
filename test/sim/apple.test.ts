import { generateKeyPairSync } from "node:crypto";
import { importPKCS8, SignJWT } from "jose";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type AppleStandIn, startApple } from "../../sim/platforms/apple.ts";
import { but, get, NOW_MS, NOW_SECONDS, post, queryOf } from "./calls.ts";
import { DAYS, someCosts } from "./costs.ts";

let apple: AppleStandIn;
let nowMs: number;

beforeEach(async () => {
  nowMs = NOW_MS;
  apple = await startApple({ clock: () => nowMs, costs: someCosts("123"), pageRows: 1, callsPerMinute: 5 });
});
afterEach(() => apple.close());

type Claims = {
  alg: string;
  kid: string;
  iss: string;
  sub: string;
  aud: string;
  iat: number;
  exp: number;
  pem: string;
};

async function clientSecret(wrong: Partial<Claims> = {}): Promise<string> {
  const { alg, kid, iss, sub, aud, iat, exp, pem } = {
    alg: "ES256",
    kid: apple.keyId,
    iss: apple.teamId,
    sub: apple.clientId,
    aud: "https://appleid.apple.com",
    iat: NOW_SECONDS,
    exp: NOW_SECONDS + 3600,
    pem: apple.privateKeyPem,
    ...wrong,
  };
  return new SignJWT({ iss, sub, aud, iat, exp }).setProtectedHeader({ alg, kid }).sign(await importPKCS8(pem, alg));
}

async function token(client_secret: string, wrong: Record<string, string> = {}) {
  const form = {
    grant_type: "client_credentials",
    scope: "searchadsorg",
    client_id: apple.clientId,
    client_secret,
    ...wrong,
  };
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  return post(`${apple.url}/auth/oauth2/token`, queryOf(form), headers);
}

test("a client secret signed with the right key gets a token for an hour", async () => {
  const { json } = await token(await clientSecret());
  expect(json).toEqual({
    access_token: apple.tokens.accessToken,
    token_type: "Bearer",
    expires_in: 3600,
    scope: "searchadsorg",
  });
});

test.each<[string, () => Partial<Claims>]>([
  ["another key id", () => ({ kid: "k" })],
  ["another team", () => ({ iss: "t" })],
  ["another client", () => ({ sub: "c" })],
  ["another audience", () => ({ aud: "https://api.ads.apple.com" })],
  ["a time that has passed", () => ({ iat: NOW_SECONDS - 7200, exp: NOW_SECONDS - 3600 })],
  ["a life of more than 180 days", () => ({ exp: NOW_SECONDS + 181 * 86_400 })],
  ["another private key", () => ({ pem: newPem() })],
])("a client secret is refused: %s", async (_, wrong) => {
  const { status, json } = await token(await clientSecret(wrong()));
  expect([status, json.error]).toEqual([400, "invalid_client"]);
});

function newPem(): string {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return privateKey.export({ type: "pkcs8", format: "pem" }).toString();
}

test("another scope or grant is refused", async () => {
  expect((await token(await clientSecret(), { scope: "all" })).status).toBe(400);
  expect((await token(await clientSecret(), { grant_type: "password" })).status).toBe(400);
});

const REPORT = {
  pagination: { offset: 0, pageSize: 1000 },
  filters: [{ field: "campaignId", operator: "IN", value: ["7100000000000000001", "7100000000000000002"] }],
  timeRange: { start: DAYS.firstDay, end: DAYS.lastDay, timeZone: "UTC", granularity: "DAILY" },
};
const CAMPAIGNS = "/v1/reports/apps/campaigns/query";
const ADS = "/v1/reports/apps/ads/query";
const headers = (wrong: Record<string, string> = {}) => ({
  authorization: `Bearer ${apple.tokens.accessToken}`,
  "x-ap-context": "adAccountId=123",
  ...wrong,
});
const ask = (path: string, body: unknown, wrong = {}) => post(`${apple.url}${path}`, body, headers(wrong));

test("the campaign report comes in pages, in decimal texts, by day", async () => {
  const first = await ask(CAMPAIGNS, REPORT);
  expect(first.json.pagination).toEqual({ offset: 0, pageSize: 1, totalCount: 2 });
  expect(first.json.result.rows).toMatchObject([
    {
      metadata: { name: "Plan 7100000000000000001", adAccountId: 123, status: "ENABLED" },
      totalMetrics: { localSpend: { amount: "13.83", currency: "USD" }, taps: 1383 },
      granularMetrics: [
        { date: "2025-10-01", localSpend: { amount: "12.84" } },
        { date: "2025-10-02", localSpend: { amount: "0.99" } },
      ],
    },
  ]);
  const second = await ask(CAMPAIGNS, but(REPORT, "pagination.offset", 1));
  expect(second.json.result.rows[0].metadata.name).toBe("Plan 7100000000000000002");
});

test("the ad report names the plan of each ad", async () => {
  const one = but(REPORT, "filters.0", { field: "campaignId", operator: "EQUALS", value: "7100000000000000002" });
  const { rows } = (await ask(ADS, one)).json.result;
  expect(rows).toHaveLength(1);
  expect(rows[0].metadata).toMatchObject({ name: "Ad 7200000000000000003", deleted: false });
});

test("campaigns can be listed, so that reports can name them", async () => {
  const { json } = await ask("/v1/campaigns/query", {});
  expect(json.pagination.totalCount).toBe(2);
  expect(json.result[0].name).toBe("Plan 7100000000000000001");
});

test.each<[string, string, string, unknown, number]>([
  ["campaigns without a filter on them", CAMPAIGNS, "filters", [], 400],
  ["ads without a filter on campaigns", ADS, "filters", undefined, 400],
  ["ads by the hour", ADS, "timeRange.granularity", "HOURLY", 400],
  ["no days", CAMPAIGNS, "timeRange", undefined, 400],
  ["a page that is too large", CAMPAIGNS, "pagination.pageSize", 1001, 400],
])("refused: %s", async (_, path, name, value, status) => {
  const reply = await ask(path, but(REPORT, name, value));
  expect([reply.status, reply.json.error.code]).toEqual([status, "INVALID_ARGUMENT"]);
});

test("an account with open campaign reports needs the filter only for ads", async () => {
  const open = await startApple({ costs: someCosts("123"), campaignReports: "open" });
  const statusOf = async (path: string) =>
    (
      await post(`${open.url}${path}`, but(REPORT, "filters", undefined), {
        authorization: `Bearer ${open.tokens.accessToken}`,
        "x-ap-context": "adAccountId=123",
      })
    ).status;
  expect([await statusOf(CAMPAIGNS), await statusOf(ADS)]).toEqual([200, 400]);
  await open.close();
});

test("a report needs the account's context and a valid token; who-am-I needs no context", async () => {
  expect((await ask(CAMPAIGNS, REPORT, { "x-ap-context": "orgId=123" })).status).toBe(403);
  expect((await ask(CAMPAIGNS, REPORT, { "x-ap-context": "adAccountId=9" })).status).toBe(403);
  const { authorization } = headers();
  expect((await get(`${apple.url}/v1/me`, { authorization })).status).toBe(200);
  nowMs += 3_600_000;
  expect((await ask(CAMPAIGNS, REPORT)).status).toBe(401);
});

test("every answer says what is left, and calls beyond that get 429 until the window ends", async () => {
  const left = async () => {
    const reply = await ask(CAMPAIGNS, REPORT);
    return [reply.status, ...["limit", "remaining", "reset"].map((name) => reply.headers.get(`ratelimit-${name}`))];
  };
  expect(await left()).toEqual([200, "5", "4", "60"]);
  for (let call = 0; call < 4; call += 1) await left();
  nowMs += 1000;
  expect(await left()).toEqual([429, "5", "0", "59"]);
  nowMs += 59_000;
  expect(await left()).toEqual([200, "5", "4", "60"]);
});

test("there is no postback", async () => {
  expect((await post(`${apple.url}/api/v2/conversion`, {})).status).toBe(404);
});

test("an account returns its name, with or without the context", async () => {
  const { url } = apple;
  const own = await get(`${url}/v1/ad-accounts/123`, headers());
  expect(own.json.result).toMatchObject({ id: 123, name: "Account 123", currency: "USD", systemStatus: "ACTIVE" });
  expect((await get(`${url}/v1/ad-accounts/123`, headers({ "x-ap-context": "adAccountId=1" }))).status).toBe(403);
  const { acls } = (await get(`${url}/v1/acls`, headers())).json.result;
  expect(acls).toEqual([{ adAccount: { id: 123, name: "Account 123", orgId: 1 }, roles: ["Admin"] }]);
});
