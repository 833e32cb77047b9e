import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createApp } from "../../src/admin/apps.ts";
import { dropAccount, setAccount } from "../../src/admin/setting/accounts.ts";
import { checkConnector, dropConnector, listConnectors, setConnector } from "../../src/admin/setting/connectors.ts";
import { addRule } from "../../src/admin/setting/postback-rules.ts";
import { newUser } from "../../src/apply/facts/new-user.ts";
import { inTransaction } from "../../src/db/engine/pool.ts";
import { insertUsers, type UserAccount } from "../../src/db/user-account.ts";
import { calendarOf } from "../../src/domain/calendar.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import { LIMITS } from "../../src/limits.ts";
import { loadConnectors } from "../../src/outbound/connectors.ts";
import { vault } from "../db/temp-database.ts";
import { workedExample } from "../platform/declared/worked-examples.ts";
import { DeskStage } from "./desk-stage.ts";

const stage = new DeskStage();
let app_id: number;
const QIHOO = workedExample("qihu360");

beforeAll(async () => {
  app_id = (await createApp(stage.desk, { name: "New" })).appId;
});

beforeEach(() => stage.pool.query("truncate declared_connector, platform_account, audit_log"));

const desk = () => ({ ...stage.desk, mayCallPrivate: false });
const set = (declaration: JsonObject = QIHOO, ad_platform = "qihu360") =>
  setConnector(desk(), { app_id, ad_platform, declaration });
const account = (more: object = {}) => setAccount(desk(), { app_id, ad_platform: "qihu360", ...more });
const check = (declaration: JsonObject, more: object = {}) =>
  checkConnector(desk(), { app_id, ad_platform: "qihu360", declaration, ...more });
const kept = async () => [await stage.count("declared_connector"), await stage.count("audit_log")];

test("a declared connector is shown as it was written, noted with its author, and removed", async () => {
  const shown = { ad_platform: "qihu360", declaration: QIHOO, accounts: 0, changed_at: "2023-11-15 06:13:20" };
  expect(await set()).toEqual(shown);
  const app = { appId: app_id, timeZone: "Asia/Shanghai" };
  const listed = await listConnectors(stage.pool, vault, app);
  expect(JSON.stringify(listed)).toBe(JSON.stringify([shown]));
  await set({ ...QIHOO, codes: { pay: "PAY" } });
  expect(await stage.count("declared_connector")).toBe(1);
  await dropConnector(stage.desk, { app_id, ad_platform: "QIHU360" });
  expect((await stage.audit()).map(({ action }) => action)).toEqual([
    "connectors/set",
    "connectors/set",
    "connectors/remove",
  ]);
});

test("with a connector, a platform has accounts and rules like any other, in this app alone", async () => {
  await expect(account()).rejects.toThrow(/There are no accounts at "qihu360"/);
  await set();
  expect(await account({ settings: { app_key: "k" }, secrets: { app_secret: "s" } })).toMatchObject({
    postbacks: "on",
    costs: "off",
    settings: { app_key: "k" },
    secrets: ["app_secret"],
  });
  await expect(account({ settings: { app_secret: "s" } })).rejects.toThrow(/app_secret is a secret/);
  await expect(account({ settings: { colour: "red" } })).rejects.toThrow(
    /its fields are app_key, app_secret, codes, repeats/,
  );
  await expect(account({ costs: "on" })).rejects.toThrow(/Costs cannot be pulled from qihu360/);
  const rule = { app_id, moment: "activate", event_type: "activate", ad_platform: "QIHU360" };
  expect(await addRule(stage.desk, rule)).toMatchObject({ ad_platform: "qihu360" });
  const other = (await createApp(stage.desk, { name: "Other" })).appId;
  await expect(account({ app_id: other })).rejects.toThrow(/There are no accounts at "qihu360"/);
  expect((await loadConnectors(stage.pool, other)).postbackOf("qihu360")).toBeUndefined();
});

describe("a check", () => {
  test("shows the call of every event type with made-up values, and stores nothing", async () => {
    const { calls, tells_money, verdict } = await check(QIHOO);
    expect(calls.map(({ event_type, code }) => [event_type, code])).toEqual([
      ["activate", "ACTIVATION"],
      ["register", "REGISTERED"],
      ["pay", "PAY"],
    ]);
    expect(calls[2]!.request).toMatchObject({
      method: "POST",
      url: "https://convert.dop.360.cn/uploadWebConvert",
      headers: { "App-Key": "APP_KEY", "App-Sign": expect.stringMatching(/^[0-9a-f]{32}$/) },
      body: expect.stringContaining('"event_param":{"value":648}'),
    });
    expect([tells_money, verdict]).toEqual([true, null]);
    expect(await kept()).toEqual([0, 0]);
  });

  test("shows the calls about a user, but nothing of the account", async () => {
    await set();
    await account({ settings: { app_key: "real-key" }, secrets: { app_secret: "real-secret" } });
    const user = newUser({ appId: app_id, clientId: "u" }, 0, { calendar: calendarOf("Asia/Shanghai") });
    const users: UserAccount[] = [
      { ...user, adPlatform: "qihu360", adData: { click_id: "q-u" } },
      { ...user, clientId: "bare", adPlatform: "qihu360" },
      { ...user, clientId: "other", adPlatform: "uc" },
    ];
    await inTransaction(stage.pool, (tx) => insertUsers(tx, users));
    const { calls } = await check(QIHOO, { client_id: "u" });
    expect(calls).toHaveLength(3);
    expect(calls[2]!.request!.body).toMatch(/"qhclickid":"q-u","trans_id":"test_[0-9a-f]{27}","event":"PAY"/);
    expect(calls[2]!.request!.headers["App-Key"]).toBe("APP_KEY");
    expect((await check(QIHOO, { client_id: "bare" })).calls[0]).toEqual({
      event_type: "activate",
      code: "ACTIVATION",
      request: null,
      reason: "The conversion has no click_id.",
    });
    await expect(check(QIHOO, { client_id: "other" })).rejects.toThrow(/^This user came from uc, not from qihu360/);
    await expect(check(QIHOO, { client_id: "nobody" })).rejects.toThrow(/^There is no user with this client_id/);
  });

  test.each<[object, object]>([
    [
      { status: 200, body: '{"errno":0}' },
      { kind: "accepted", reason: "" },
    ],
    [
      { status: 200, body: '{"errno":7,"error":"bad"}' },
      { kind: "retry", reason: "The platform answered 7: bad." },
    ],
    [
      { status: 403, body: "no" },
      { kind: "permanent", reason: "The platform answered with HTTP 403." },
    ],
  ])("says how the answer %j would be read", async (answer, verdict) => {
    expect((await check(QIHOO, { answer })).verdict).toEqual(verdict);
  });
});

test.each<[string, () => Promise<unknown>, RegExp]>([
  ["a private address", () => set({ ...QIHOO, url: "http://192.168.1.1/" }), /private network/],
  ["no rule of success", () => set(without("success")), /^success is missing/],
  ["an unknown placeholder", () => set({ ...QIHOO, query: { a: "{b}" } }), /\{b\} is not a placeholder/],
  ["an unknown event type", () => set({ ...QIHOO, codes: { buy: "1" } }), /"buy" is not an event type/],
  [
    "an event type that could never be sent",
    () => set({ ...QIHOO, query: { order: "{order_id}" } }),
    /^codes\.activate could not be sent: The conversion has no order_id\. /,
  ],
  ["a platform with a connector of its own", () => set(QIHOO, "gdt"), /^tencent has a connector of its own/],
  ["an unknown app", () => setConnector(desk(), { app_id: 99, ad_platform: "uc", declaration: QIHOO }), /no app 99/],
  ["the check of an unknown app", () => check(QIHOO, { app_id: 99 }), /no app 99/],
  ["a check of something else", () => check({ url: "x" }), /^url must be an address/],
  ["the removal of none", () => dropConnector(stage.desk, { app_id, ad_platform: "uc" }), /has no connector for uc/],
])("%s is refused in one sentence, and changes nothing", async (_, refused, sentence) => {
  await set();
  const before = await kept();
  await expect(refused()).rejects.toThrow(sentence);
  expect(await kept()).toEqual(before);
  expect((await listConnectors(stage.pool, vault, { appId: app_id, timeZone: "UTC" }))[0]!.declaration).toEqual(QIHOO);
});

function without(name: string): JsonObject {
  return Object.fromEntries(Object.entries(QIHOO).filter(([own]) => own !== name));
}

describe("while an account holds values", () => {
  beforeEach(async () => {
    await set();
    await account({ settings: { app_key: "k" }, secrets: { app_secret: "s" } });
  });

  test("its connector is not removed", async () => {
    await expect(dropConnector(stage.desk, { app_id, ad_platform: "qihu360" })).rejects.toThrow(
      /^There are still accounts at qihu360: remove them/,
    );
    await dropAccount(stage.desk, { app_id, ad_platform: "qihu360" });
    await dropConnector(stage.desk, { app_id, ad_platform: "qihu360" });
  });

  test("secrets are not sent to another address", async () => {
    await expect(set({ ...QIHOO, url: "https://evil.example/" })).rejects.toThrow(
      /^https:\/\/evil\.example is a new address: .* app_secret\.$/,
    );
    await expect(set({ ...QIHOO, url: "http://convert.dop.360.cn/x" })).rejects.toThrow(/is a new address/);
    await set({ ...QIHOO, url: "https://convert.dop.360.cn/uploadConvert" });
    await account({ secrets: { app_secret: "" } });
    await set({ ...QIHOO, url: "https://other.example/" });
  });

  test("a secret stays a secret, and no value loses its field", async () => {
    const shown = { app_key: "setting", app_secret: "setting" };
    await expect(set({ ...QIHOO, account: shown })).rejects.toThrow(/^account: an account holds the secret app_secret/);
    const hidden = { app_key: "secret", app_secret: "secret" };
    await expect(set({ ...QIHOO, account: hidden })).rejects.toThrow(/^account: an account holds the setting app_key/);
  });
});

test("an app has a limited number of connectors", async () => {
  await stage.pool.query(
    "insert into declared_connector select $1, 'p' || n, '{}', 0 from generate_series(1, $2::int) as n",
    [app_id, LIMITS.connectorsPerApp],
  );
  await expect(set()).rejects.toThrow(/at most 50 connectors/);
});

test("a stored declaration that cannot be read is no connector, and does not hinder the others", async () => {
  await set();
  await stage.pool.query("insert into declared_connector values ($1, 'uc', '{\"url\":\"?\"}', 0)", [app_id]);
  const connectors = await loadConnectors(stage.pool, app_id);
  expect([connectors.postbackOf("uc"), connectors.declaredPlatforms]).toEqual([undefined, ["qihu360"]]);
});
