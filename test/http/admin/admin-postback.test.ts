import type { TSchema } from "typebox";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { emptyData, envelopeSchema } from "../../../src/contract/envelope.ts";
import {
  accountAnswer,
  accountListAnswer,
  callbackListAnswer,
  givenUpAnswer,
  madeCallbackAnswer,
} from "../../../src/contract/setting/account.ts";
import {
  dryRunAnswer,
  postbackListAnswer,
  postbackStateAnswer,
  recentPostbacksAnswer,
  resentAnswer,
  ruleAnswer,
  ruleListAnswer,
} from "../../../src/contract/setting/postback.ts";
import type { App } from "../../../src/db/app.ts";
import { calendarOf } from "../../../src/domain/calendar.ts";
import { cliJson } from "../../cli/run.ts";
import { ADMIN, AdminCaller, dataOf, refused } from "../../support/admin-caller.ts";
import { eventually } from "../../support/patience.ts";
import { bring, type KuaishouStandIn, pay, startKuaishou, urlOf } from "../../support/players.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { DAY_MS, type Row, Tables } from "../fixture.ts";

const server = sharedServer();
const tables = new Tables(server);
const admin = new AdminCaller(server);

const dayOf = (ms: number) => calendarOf("Asia/Shanghai").dayOf(ms);
/** Includes yesterday, in case midnight passes during the tests. */
const days = () => ({ from: dayOf(Date.now() - DAY_MS), to: dayOf(Date.now()) });
const PAYS = { moment: "pay", event_type: "pay" };
const PLATFORM = { ad_platform: "huawei" };

const cliOf = (app: App, ...args: string[]) => cliJson(server.dataDir, [...args, "--app", String(app.appId)]);

async function ruleIds(app_id: number): Promise<number[]> {
  return dataOf(await admin.get("postback/rules", { app_id })).rules.map((rule: Row) => rule.rule_id);
}

async function firstRule(app_id: number): Promise<number> {
  return (await ruleIds(app_id))[0]!;
}

type Call = (app_id: number) => Row | Promise<Row>;
const EMPTY = envelopeSchema(emptyData);

/** Every endpoint about an app, with a call that it answers with 0, in an order in which they can be made. */
const ENDPOINTS: readonly [method: string, path: string, call: Call, answer: TSchema][] = [
  ["GET", "postback/rules", (app_id) => ({ app_id }), ruleListAnswer],
  ["POST", "postback/rules/create", (app_id) => ({ app_id, ...PAYS }), ruleAnswer],
  [
    ...(["POST", "postback/rules/edit"] as const),
    async (app_id) => ({ app_id, rule_id: await firstRule(app_id), share: "50%" }),
    ruleAnswer,
  ],
  ["POST", "postback/rules/order", async (app_id) => ({ app_id, rule_ids: await ruleIds(app_id) }), ruleListAnswer],
  ["POST", "postback/dry-run", (app_id) => ({ app_id, ...PAYS, ...days() }), dryRunAnswer],
  ["POST", "postback/rules/remove", async (app_id) => ({ app_id, rule_id: await firstRule(app_id) }), EMPTY],
  ["GET", "postbacks", (app_id) => ({ app_id }), postbackListAnswer],
  ["GET", "postback/recent", (app_id) => ({ app_id }), recentPostbacksAnswer],
  ["GET", "postback/status", (app_id) => ({ app_id }), postbackStateAnswer],
  ["POST", "postback/resend", (app_id) => ({ app_id, status: 2 }), resentAnswer],
  ["GET", "accounts", (app_id) => ({ app_id }), accountListAnswer],
  ["POST", "accounts/set", (app_id) => ({ app_id, ...PLATFORM }), accountAnswer],
  ["POST", "accounts/remove", (app_id) => ({ app_id, ...PLATFORM }), givenUpAnswer],
  ["GET", "callbacks", (app_id) => ({ app_id }), callbackListAnswer],
  [
    ...(["POST", "callbacks/set"] as const),
    (app_id) => ({ app_id, kind: "attribution", url: "https://example.com/" }),
    madeCallbackAnswer,
  ],
  ["POST", "callbacks/remove", (app_id) => ({ app_id, kind: "attribution" }), givenUpAnswer],
];

describe("every endpoint", () => {
  let app: App;
  beforeAll(async () => {
    app = await server.createApp();
  });

  test.each(ENDPOINTS)(
    "%s %s answers with the admin token, and is refused without it",
    async (method, path, call, answer) => {
      const sent = await call(app.appId);
      for (const headers of [{}, { authorization: `Bearer ${app.accessToken}` }] as Record<string, string>[])
        expect(await new AdminCaller(server, headers).send(method, path, sent)).toMatchObject({
          status: 200,
          code: 2002,
        });
      dataOf(await admin.send(method, path, sent), answer);
    },
  );

  test.each(ENDPOINTS)(
    "%s %s answers 2001 for an app that does not exist, and 1004 for an invalid one",
    async (method, path, call) => {
      const sent = await call(app.appId);
      expect(await admin.send(method, path, { ...sent, app_id: 999_999_999 })).toMatchObject({
        status: 200,
        code: 2001,
        data: {},
      });
      const bad = await admin.send(method, path, { ...sent, app_id: "x" });
      expect(bad).toMatchObject({ status: 200, code: 1004, msg: expect.stringContaining("app_id"), data: {} });
    },
  );

  test("is in the OpenAPI document", async () => {
    const { paths } = (await (await fetch(`${server.url}/openapi.json`)).json()) as { paths: Row };
    for (const [method, path] of ENDPOINTS) expect(paths[`${ADMIN}/${path}`]).toHaveProperty(method.toLowerCase());
    expect(paths[`${ADMIN}/accounts/fields`]).toHaveProperty("get");
  });
});

describe("rules", () => {
  /** An app whose rules are those that every app begins with. */
  let untouched: App;
  beforeAll(async () => {
    untouched = await server.createApp();
  });

  test("are created, changed, listed and removed as on the command line", async () => {
    const app = await server.createApp();
    const { appId: app_id } = app;
    const texts = { ...PAYS, ad_platform: "gdt", amount: "600..", share: "80%", value: "fixed:600", window: "7d" };
    const properties = [{ field: "event$product", operator: "equal", values: ["gold"] }, "user$vip is_set"];
    const made = dataOf(await admin.post("postback/rules/create", { app_id, ...texts, properties, enabled: "off" }));
    expect(made).toMatchObject({ ...texts, ad_platform: "tencent", enabled: "off" });
    expect(made.properties).toEqual(['event$product equal "gold"', "user$vip is_set"]);
    const { rule_id } = made;
    const edited = dataOf(
      await admin.post("postback/rules/edit", { app_id, rule_id, amount: "", properties: [], enabled: "on" }),
    );
    expect(edited).toEqual({ ...made, amount: "", properties: [], enabled: "on" });
    const { rules } = dataOf(await admin.get("postback/rules", { app_id }));
    expect(rules).toEqual(await cliOf(app, "postback", "rule", "list"));
    expect(rules.at(-1)).toEqual(edited);
    dataOf(await admin.post("postback/rules/remove", { app_id, rule_id }));
    expect(await admin.post("postback/rules/edit", { app_id, rule_id, share: "1%" })).toMatchObject({ code: 1004 });
  });

  test.each<[Row, RegExp]>([
    [{ moment: "paid" }, /^moment must be one of/],
    [{ event_type: "" }, /event_type/],
    [{ share: 80 }, /share/],
    [{ share: "101%" }, /^share must be from 0% to 100%/],
    [{ amount: "5..1" }, /^amount must begin with the lower bound/],
    [{ ad_platform: "asa" }, /^ad_platform must be one of/],
    [{ turbo_promoted_object_id: "nothing" }, /has no campaign "nothing"/],
    [{ properties: "user$vip is_set" }, /properties/],
    [{ properties: ["vip is_set"] }, /^properties: field must look like/],
  ])("refused with 1004: %j", async (change, msg) => {
    const { appId: app_id } = untouched;
    const answer = await admin.post("postback/rules/create", { app_id, ...PAYS, ...change });
    expect(answer).toMatchObject({ status: 200, code: 1004, msg: expect.stringMatching(msg), data: {} });
    expect(dataOf(await admin.get("postback/rules", { app_id })).rules).toHaveLength(4);
  });

  test("of one app cannot be changed through another", async () => {
    const other = await server.createApp();
    const rule_id = await firstRule(untouched.appId);
    for (const path of ["postback/rules/edit", "postback/rules/remove"])
      expect(await admin.post(path, { app_id: other.appId, rule_id })).toMatchObject({ code: 1004 });
    expect(await admin.post("postback/dry-run", { app_id: other.appId, rule_id, ...days() })).toMatchObject({
      code: 1004,
    });
    expect(await firstRule(untouched.appId)).toBe(rule_id);
  });
});

describe("postbacks", () => {
  let app: App;
  let app_id: number;
  let kuaishou: KuaishouStandIn;
  const KUAISHOU = { ad_platform: "kuaishou" };
  beforeAll(async () => {
    kuaishou = await startKuaishou();
    app = await server.createApp();
    app_id = app.appId;
    dataOf(await admin.post("accounts/set", { app_id, ...PLATFORM }));
    // An id of digits only, longer than a number can be.
    await bring(server, app, "12345678901234567890");
    await bring(server, app, "u");
    await pay(server, app, "u", { order: "o1", cents: 600 });
    await pay(server, app, "12345678901234567890", { order: "o2", cents: 700 });
    await server.settle();
  });
  afterAll(async () => {
    dataOf(await admin.post("accounts/remove", { app_id, ...KUAISHOU }));
    await kuaishou.close();
  });

  test("a dry run equals that of the command line", async () => {
    const body = { app_id, ...PAYS, amount: "700..", ...days() };
    const { from, to } = days();
    const data = dataOf(await admin.post("postback/dry-run", body));
    const args = ["--moment", "pay", "--event-type", "pay", "--amount", "700..", "--from", from, "--to", to];
    expect(data).toEqual(await cliOf(app, "postback", "dry-run", ...args));
    expect(data).toMatchObject({ sent: 1, amount_cents: 700, platforms: [{ ...KUAISHOU, reasons: { amount: 1 } }] });
    const rule_id = dataOf(await admin.get("postback/rules", { app_id })).rules[2].rule_id;
    expect(dataOf(await admin.post("postback/dry-run", { app_id, rule_id, ...days() }))).toMatchObject({ sent: 2 });
    expect(await admin.post("postback/dry-run", { ...body, from: to, to: from })).toMatchObject({
      code: 1004,
      msg: "from is after to.",
    });
    expect(await admin.post("postback/dry-run", { app_id, ...days() })).toMatchObject({
      code: 1004,
      msg: "moment is missing.",
    });
  });

  test("are listed and filtered as on the command line", async () => {
    const { postbacks } = dataOf(await admin.get("postbacks", { app_id }));
    expect(postbacks).toEqual(await cliOf(app, "postback", "list"));
    expect(postbacks).toHaveLength(6);
    const found = async (query: Row) => dataOf(await admin.get("postbacks", { app_id, ...query })).postbacks.length;
    expect(await found({ status: 3, ...KUAISHOU, event_type: "pay", client_id: "u", limit: 5 })).toBe(1);
    expect(await found({ status: 1 })).toBe(0);
    for (const query of [{ status: 9 }, { event_type: "x" }, { limit: "all" }, { ad_platform: "natural" }])
      expect(await admin.get("postbacks", { app_id, ...query })).toMatchObject({ code: 1004 });
  });

  test("that were skipped are sent again once there is an account, and never after they were accepted", async () => {
    const whole = { app_id, client_id: "12345678901234567890", event_type: "pay" };
    // Without quotes: the digits are the id.
    const bare = JSON.stringify(whole).replace('"12345678901234567890"', "12345678901234567890");
    const resend = () => admin.post("postback/resend", bare);
    expect(dataOf(await resend())).toEqual({ taken: 0, refused: { no_account: 1 }, has_more: false });
    dataOf(await admin.post("accounts/set", { app_id, ...KUAISHOU, settings: { url: urlOf(kuaishou) } }));
    expect(dataOf(await resend())).toEqual({ taken: 1, refused: {}, has_more: false });
    await eventually(() => expect(kuaishou.accepted).toMatchObject([{ code: "3", cents: 700 }]));
    await eventually(async () => expect(dataOf(await resend())).toMatchObject({ refused: { accepted: 1 } }));
    const { lanes, accounts } = dataOf(await admin.get("postback/status", { app_id }));
    expect({ lanes, accounts }).toMatchObject({ lanes: [], accounts: [PLATFORM, KUAISHOU] });
    const [order] = await tables.query(
      "select postback_status, postback_count from orders where trace_id = 'o2' and app_id = $1",
      [app_id],
    );
    expect(order).toEqual({ postback_status: 1, postback_count: 1 });
  });

  test("are sent once if two callers ask for it at the same time", async () => {
    const [one, two] = await Promise.all([1, 2].map(() => admin.post("postback/resend", { app_id, client_id: "u" })));
    expect(dataOf(one!).taken + dataOf(two!).taken).toBe(3);
    await eventually(() => expect(kuaishou.accepted).toHaveLength(4));
  });

  test.each<[Row, RegExp]>([
    [{}, /^Name either client_id, or status/],
    [{ status: 1 }, /^Only failed/],
    [{ client_id: "nobody" }, /^There is no matching postback/],
    [{ client_id: "u", reason: "share" }, /^reason goes with status/],
    [{ status: 2, from: "2026-02-30", to: "2026-03-01" }, /^from and to must be days/],
  ])("resend refuses %j with 1004", async (change, msg) => {
    expect(await admin.post("postback/resend", { app_id, ...change })).toMatchObject({
      code: 1004,
      msg: expect.stringMatching(msg),
    });
  });
});

describe("accounts and callbacks", () => {
  /** An app without accounts and callbacks. */
  let empty: App;
  beforeAll(async () => {
    empty = await server.createApp();
  });

  test("accounts are set and listed as on the command line, without their secrets", async () => {
    const app = await server.createApp();
    const key = { app_id: app.appId, ad_platform: "gdt", advertiser_id: "77" };
    const made = dataOf(
      await admin.post("accounts/set", {
        ...key,
        settings: { client_id: "c" },
        secrets: { access_token: "hidden" },
        costs: "on",
        rate: 5,
      }),
    );
    expect(made).toMatchObject({ ad_platform: "tencent", costs: "on", rate: 5, secrets: ["access_token"] });
    const { accounts } = dataOf(await admin.get("accounts", { app_id: app.appId }));
    expect(accounts).toEqual([made]);
    expect(accounts).toEqual(await cliOf(app, "account", "list"));
    expect(JSON.stringify(accounts)).not.toContain("hidden");
    expect(dataOf(await admin.post("accounts/remove", key))).toEqual({ given_up: 0 });
    expect(await admin.post("accounts/remove", key)).toMatchObject({ code: 1004 });
  });

  test("a new address needs the secrets again, so that someone who may not see them cannot have them sent elsewhere", async () => {
    const { appId: app_id } = await server.createApp();
    const set = (change: Row) => admin.post("accounts/set", { app_id, ad_platform: "vivo", ...change });
    const secrets = { access_token: "a", refresh_token: "r" };
    dataOf(await set({ settings: { url: "https://one.example/" }, secrets }));
    const settings = { url: "https://other.example/" };
    const again = /^url: a new address needs the secrets again.*: access_token, refresh_token\.$/;
    expect(await set({ settings })).toMatchObject(refused(again));
    expect(await set({ settings, secrets: { access_token: "a" } })).toMatchObject(refused(/: refresh_token\.$/));
    expect(dataOf(await set({ settings: { src_id: "s" } }))).toMatchObject({
      settings: { url: "https://one.example/" },
    });
    expect(dataOf(await set({ settings, secrets }))).toMatchObject({ settings, secrets: Object.keys(secrets) });
    // A removed secret is sent nowhere, and the platform's own address is what it was entered for.
    const taken = { access_token: "", refresh_token: "r" };
    expect(dataOf(await set({ settings: { url: "https://third.example/" }, secrets: taken }))).toMatchObject({
      secrets: ["refresh_token"],
    });
    expect(dataOf(await set({ settings: { url: "" } }))).toMatchObject({ settings: { src_id: "s" } });
  });

  test("fields equal those of the command line", async () => {
    const { fields } = dataOf(await admin.get("accounts/fields", { ad_platform: "vivo" }));
    expect(fields).toEqual(await cliJson(server.dataDir, ["account", "fields", "--platform", "vivo"]));
    expect(await admin.get("accounts/fields", { ad_platform: "tiktok" })).toMatchObject({ code: 1004 });
    expect(await admin.get("accounts/fields", {})).toMatchObject({
      code: 1004,
      msg: expect.stringContaining("ad_platform"),
    });
  });

  test.each<[Row, RegExp]>([
    [{ ad_platform: "tiktok" }, /^There are no accounts at "tiktok"/],
    [{ settings: { colour: "red" } }, /^An account at huawei has no field "colour"/],
    [{ settings: { secret_key: "k" } }, /^secret_key is a secret/],
    [{ secrets: { url: "https://example.com" } }, /^url is not a secret/],
    [{ settings: { url: 5 } }, /settings/],
    [{ costs: "on" }, /^Costs cannot be pulled from huawei/],
    [{ rate: 10_001 }, /^rate must be/],
  ])("an account refuses %j with 1004", async (change, msg) => {
    const { appId: app_id } = empty;
    const answer = await admin.post("accounts/set", { app_id, ...PLATFORM, ...change });
    expect(answer).toMatchObject({ status: 200, code: 1004, msg: expect.stringMatching(msg), data: {} });
    expect(dataOf(await admin.get("accounts", { app_id }))).toEqual({ accounts: [] });
  });

  test("callbacks are set and listed as on the command line, and the secret is answered once", async () => {
    const app = await server.createApp();
    const { appId: app_id } = app;
    const event = { kind: "event", url: "https://example.com/e", events: ["level_up"] };
    expect(dataOf(await admin.post("callbacks/set", { app_id, ...event }))).toEqual({
      ...event,
      secret: expect.any(String),
    });
    expect(dataOf(await admin.post("callbacks/set", { app_id, ...event }))).toEqual(event);
    const { callbacks } = dataOf(await admin.get("callbacks", { app_id }));
    expect(callbacks).toEqual([event]);
    expect(callbacks).toEqual(await cliOf(app, "callback", "list"));
    expect(dataOf(await admin.post("callbacks/remove", { app_id, kind: "event" }))).toEqual({ given_up: 0 });
  });

  test.each<[Row, RegExp]>([
    [{ url: "http://127.0.0.1/" }, /private network/],
    [{ url: "https://example.com/__X__" }, /__X__ is not a macro/],
    [{ kind: "other" }, /kind/],
    [{ secret: "0123456789abcdef" }, /^secret belongs to/],
  ])("a callback refuses %j with 1004", async (change, msg) => {
    const { appId: app_id } = empty;
    const answer = await admin.post("callbacks/set", {
      app_id,
      kind: "attribution",
      url: "https://example.com/",
      ...change,
    });
    expect(answer).toMatchObject({ status: 200, code: 1004, msg: expect.stringMatching(msg), data: {} });
  });
});
