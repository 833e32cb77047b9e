import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startTencent, type TencentStandIn } from "../../sim/platforms/tencent.ts";
import { but, expectRefused, get, NOW_MS, NOW_SECONDS, post, queryOf, type Reply } from "./calls.ts";

let tencent: TencentStandIn;
let nowMs: number;
let nonce: number;

beforeEach(async () => {
  nowMs = NOW_MS;
  nonce = 0;
  tencent = await startTencent({ clock: () => nowMs });
});
afterEach(() => tencent.close());

const PURCHASE = {
  actions: [
    {
      outer_action_id: "0123456789abcdef0123456789abcdef",
      action_time: NOW_SECONDS,
      user_id: { hash_oaid: "83e9158a4fb54c0e1ef0b238639a23ae", wechat_openid: "o-1", wechat_app_id: "wx1" },
      action_type: "PURCHASE",
      trace: { click_id: "click-1" },
      action_param: { value: 4000 },
    },
  ],
};

function credentials(): Record<string, string> {
  nonce += 1;
  return {
    "access-token": tencent.tokens.accessToken,
    timestamp: String(Math.floor(nowMs / 1000)),
    nonce: `nonce-${nonce}`,
  };
}

const byCallback = (body: unknown, headers = credentials()): Promise<Reply> =>
  post(tencent.callbackUrl("cb-1"), body, headers);

function byQuery(path: string, values: Record<string, string | number> = {}): string {
  const { "access-token": access_token, timestamp, nonce } = credentials();
  return `${tencent.url}${path}?${queryOf({ access_token: access_token!, timestamp: timestamp!, nonce: nonce!, ...values })}`;
}

test("a delivered callback takes an action, and its money is in fen", async () => {
  expect((await byCallback(PURCHASE)).json).toEqual({ code: 0, message: "" });
  expect(tencent.accepted).toEqual([
    {
      platform: "tencent",
      route: "/conv",
      key: "cb-1",
      code: "PURCHASE",
      dedupeId: "0123456789abcdef0123456789abcdef",
      orderId: "",
      cents: 4000,
      atMs: NOW_MS,
      isDuplicate: false,
    },
  ]);
});

test("the same outer_action_id and action_type is one action; another type is another", async () => {
  await byCallback(PURCHASE);
  await byCallback(PURCHASE);
  await byCallback(but(PURCHASE, "actions.0.action_type", "REGISTER"));
  await byCallback(but(PURCHASE, "actions.0.outer_action_id", undefined));
  await byCallback(but(PURCHASE, "actions.0.outer_action_id", undefined));
  expect(tencent.accepted.map(({ isDuplicate }) => isDuplicate)).toEqual([false, true, false, false, false]);
});

test("user_actions/add takes a click id, a data source or a delivered callback", async () => {
  const path = "/v3.0/user_actions/add";
  const source = { account_id: 25610, user_action_set_id: 7, ...but(PURCHASE, "actions.0.trace", undefined) };
  expect((await post(byQuery(path), PURCHASE)).json.code).toBe(0);
  expect((await post(byQuery(path), source)).json.code).toBe(0);
  expect((await post(`${tencent.url}${path}?cb=cb-2&link_id=5`, PURCHASE, credentials())).json.code).toBe(0);
  expect(tencent.accepted.map(({ key }) => key)).toEqual(["click-1", "83e9158a4fb54c0e1ef0b238639a23ae", "cb-2"]);
});

test("without a data source each action needs its click id", async () => {
  await post(byQuery("/v3.0/user_actions/add"), but(PURCHASE, "actions.0.trace", undefined));
  expectRefused(tencent, /click_id is missing/);
});

test.each<[string, string, unknown, RegExp]>([
  ["no actions", "actions", undefined, /actions is not a list/],
  ["an empty list", "actions", [], /actions is empty/],
  ["more than fifty", "actions", Array(51).fill(PURCHASE.actions[0]), /more than 50 items/],
  ["time in milliseconds", "actions.0.action_time", NOW_MS, /action_time is not between/],
  ["time as a text", "actions.0.action_time", String(NOW_SECONDS), /action_time is not a whole number/],
  ["no time", "actions.0.action_time", undefined, /action_time/],
  ["an unknown type", "actions.0.action_type", "PAY", /action_type PAY is unknown/],
  ["a custom type without its name", "actions.0.action_type", "CUSTOM", /custom_action/],
  ["money in yuan", "actions.0.action_param.value", 40.5, /value is not a whole number/],
  ["money as a text", "actions.0.action_param.value", "4000", /value is not a whole number/],
  ["a hash in upper case", "actions.0.user_id.hash_oaid", "83E9158A4FB54C0E1EF0B238639A23AE", /hash_oaid is malformed/],
  ["an openid without its app", "actions.0.user_id.wechat_app_id", undefined, /wechat_app_id/],
  ["an id with a sign it may not have", "actions.0.outer_action_id", "a b", /outer_action_id is malformed/],
  ["an id of 256 bytes", "actions.0.outer_action_id", "a".repeat(256), /outer_action_id is malformed/],
  ["an unknown attribute key", "actions.0.attribute_key", "GAID", /attribute_key GAID/],
  ["an unknown claim type", "actions.0.action_param.claim_type", 8, /claim_type/],
  ["a stay of no day", "actions.0.action_param.length_of_stay", 0, /length_of_stay/],
])("refused: %s", async (_, path, value, reason) => {
  expect((await byCallback(but(PURCHASE, path, value))).json.code).not.toBe(0);
  expectRefused(tencent, reason);
});

test("an action without a user is refused, and so is its whole call", async () => {
  const nobody = { action_time: NOW_SECONDS, action_type: "REGISTER" };
  await byCallback({ actions: [PURCHASE.actions[0], nobody] });
  expectRefused(tencent, /neither user_id nor click_id/);
});

test.each<[string, Record<string, string | undefined>, number]>([
  ["no token", { "access-token": undefined }, 11004],
  ["a forged token", { "access-token": "guess" }, 11004],
  ["a timestamp 301 s old", { timestamp: String(NOW_SECONDS - 301) }, 18001],
  ["a timestamp 301 s ahead", { timestamp: String(NOW_SECONDS + 301) }, 18001],
  ["a timestamp in milliseconds", { timestamp: String(NOW_MS) }, 18001],
  ["no nonce", { nonce: undefined }, 18001],
  ["a nonce of 33 characters", { nonce: "n".repeat(33) }, 18001],
])("refused: %s", async (_, wrong, code) => {
  const headers = Object.entries({ ...credentials(), ...wrong }).filter(([, value]) => value !== undefined);
  expect((await byCallback(PURCHASE, Object.fromEntries(headers) as Record<string, string>)).json.code).toBe(code);
  expect(tencent.accepted).toEqual([]);
});

test("a nonce works once", async () => {
  const headers = credentials();
  expect((await byCallback(PURCHASE, headers)).json.code).toBe(0);
  expect((await byCallback(PURCHASE, headers)).json.code).not.toBe(0);
  expect(tencent.refused.at(-1)?.reason).toMatch(/nonce was used before/);
});

test("a callback that was cut or rebuilt is refused with the callback's codes", async () => {
  expect((await post(`${tencent.url}/conv?conv_id=1`, PURCHASE, credentials())).json.code).toBe(20001);
  expect((await post(`${tencent.url}/conv?cb=cb-1`, PURCHASE, credentials())).json.code).toBe(20002);
});

test("a data source's key never expires: conversions go on while the other token is refreshed", async () => {
  const withKey = () => ({ ...credentials(), "access-token": tencent.dataSourceKey });
  nowMs += 365 * 86_400_000;
  expect((await byCallback(PURCHASE)).json.code).toBe(11000);
  expect((await byCallback(PURCHASE, withKey())).json.code).toBe(0);
  tencent.tokens.renew();
  expect((await byCallback(PURCHASE, withKey())).json.code).toBe(0);
});

test("an open callback needs no token", async () => {
  const open = await startTencent({ callbacks: "open" });
  expect((await post(open.callbackUrl("cb-1"), PURCHASE)).json.code).toBe(0);
  await open.close();
});

describe("tokens", () => {
  const refresh = (values: Record<string, string> = {}) =>
    get(
      `${tencent.url}/oauth/token?${queryOf({
        client_id: tencent.clientId,
        client_secret: tencent.clientSecret,
        grant_type: "refresh_token",
        refresh_token: tencent.tokens.refreshToken,
        ...values,
      })}`,
    );

  test("a token expires after a day; a refresh gives the next one and ends the old one", async () => {
    nowMs += 86_400_000;
    const old = tencent.tokens.accessToken;
    expect((await byCallback(PURCHASE)).json.code).toBe(11000);
    const { data } = (await refresh()).json;
    expect(data).toEqual({ access_token: tencent.tokens.accessToken, access_token_expires_in: 86_400 });
    expect((await byCallback(PURCHASE)).json.code).toBe(0);
    expect((await byCallback(PURCHASE, { ...credentials(), "access-token": old })).json.code).toBe(11000);
    expect((await refresh()).json.code).toBe(0);
  });

  test.each<[string, Record<string, string>]>([
    ["a wrong secret", { client_secret: "x" }],
    ["a wrong refresh token", { refresh_token: "x" }],
    ["another grant", { grant_type: "password" }],
  ])("refused: %s", async (_, wrong) => {
    expect((await refresh(wrong)).json.code).not.toBe(0);
  });
});

describe("the WeChat interface", () => {
  const REGISTER = {
    actions: [
      {
        user_action_set_id: 1111,
        url: "https://game.example.com",
        action_time: NOW_SECONDS,
        action_type: "REGISTER",
        trace: { click_id: "gdt-1" },
      },
    ],
  };
  const send = (body: unknown, token = tencent.wechatTokens.accessToken, version = "v1.0") =>
    post(`${tencent.url}/marketing/user_actions/add?${queryOf({ version, access_token: token })}`, body);

  test("it takes an action by its gdt_vid", async () => {
    expect((await send(REGISTER)).json.code).toBe(0);
    expect(tencent.accepted[0]).toMatchObject({ key: "gdt-1", code: "REGISTER", cents: null });
  });

  test("a token lives two hours, and a wrong one is refused as WeChat does", async () => {
    expect((await send(REGISTER, "guess")).json.errcode).toBe(40001);
    nowMs += 7_200_000;
    expect((await send(REGISTER)).json.errcode).toBe(42001);
  });

  test.each<[string, string, unknown, RegExp]>([
    ["no data source", "actions.0.user_action_set_id", undefined, /user_action_set_id/],
    ["no url", "actions.0.url", undefined, /url/],
    ["no click id", "actions.0.trace", { click_id: "" }, /click_id/],
  ])("refused: %s", async (_, path, value, reason) => {
    await send(but(REGISTER, path, value));
    expectRefused(tencent, reason);
  });
});
