import { beforeAll, describe, expect, test } from "vitest";
import {
  postbackListAnswer,
  recentPostbacksAnswer,
  resentAnswer,
  ruleAnswer,
  ruleListAnswer,
} from "../../../src/contract/setting/postback.ts";
import type { App } from "../../../src/db/app.ts";
import { AdminCaller, consoleUser, dataOf } from "../../support/admin-caller.ts";
import { bring, pay } from "../../support/players.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { type Row, Tables } from "../fixture.ts";

const server = sharedServer();
const tables = new Tables(server);
const admin = new AdminCaller(server);
const analyst = consoleUser(server, "analyst");

/** Four players of a platform without an account: all their postbacks are skipped. */
async function appWithPostbacks(): Promise<App> {
  const app = await server.createApp();
  const account = { app_id: app.appId, ad_platform: "huawei" };
  expect(await admin.post("accounts/set", account)).toMatchObject({ code: 0 });
  for (const clientId of ["a", "b", "用户", "😀"]) {
    await bring(server, app, clientId);
    await pay(server, app, clientId, { order: `order-${clientId}`, cents: 600 });
  }
  await server.settle();
  return app;
}

const nameOf = ({ client_id, event_type, subject }: Row) => `${client_id} ${event_type} ${subject}`;
const page = async (app: App, query: Row) =>
  dataOf(await admin.get("postbacks", { app_id: app.appId, ...query }), postbackListAnswer);

async function allPages(app: App, query: Row): Promise<Row[]> {
  const found: Row[] = [];
  for (let after: string | undefined; ; ) {
    const { postbacks, next } = await page(app, { ...query, ...(after && { after }) });
    expect(postbacks.length).toBeLessThanOrEqual(query.limit);
    found.push(...postbacks);
    if (next === "") return found;
    after = next;
  }
}

describe("a list of postbacks", () => {
  let app: App;
  beforeAll(async () => {
    app = await appWithPostbacks();
    // All at the same instant, with different outcomes: only their identity orders them.
    await tables.query(
      "update postback set created_at_ms = 1700000000000, status = case event_type when 'pay' then 2 else status end where app_id = $1",
      [app.appId],
    );
  });

  test.each([1, 3, 5, 12])("comes in pages of %i, each postback once and in the same order", async (limit) => {
    const whole = (await page(app, {})).postbacks.map(nameOf);
    expect(whole).toHaveLength(12);
    expect(new Set(whole).size).toBe(12);
    expect((await allPages(app, { limit })).map(nameOf)).toEqual(whole);
  });

  test("stays filtered from page to page", async () => {
    const found = await allPages(app, { limit: 3, status: 2 });
    expect(found.map(({ event_type }) => event_type)).toEqual(["pay", "pay", "pay", "pay"]);
  });

  test("refuses an invalid position", async () => {
    const answer = await admin.get("postbacks", { app_id: app.appId, after: "x" });
    expect(answer).toMatchObject({ code: 1004, msg: "after is not a place of this list." });
  });
});

test("the last day is summarised by status and reason", async () => {
  const app = await appWithPostbacks();
  await tables.query("update postback set created_at_ms = 0 where app_id = $1 and client_id = 'a'", [app.appId]);
  const recent = dataOf(await admin.get("postback/recent", { app_id: app.appId }), recentPostbacksAnswer);
  expect(recent.hours).toBe(24);
  expect(recent.statuses.map(({ status_text, postbacks }: Row) => [status_text, postbacks])).toEqual([
    ...[
      ["waiting", 0],
      ["accepted", 0],
    ],
    ...[
      ["given up", 0],
      ["skipped", 9],
    ],
  ]);
  const skipped = { status: 3, status_text: "skipped", ad_platform: "kuaishou" };
  expect(recent.reasons).toEqual([{ ...skipped, reason: "no_account", postbacks: 9 }]);
});

describe("postbacks named one by one", () => {
  let app: App;
  beforeAll(async () => {
    app = await appWithPostbacks();
  });
  const resend = (postbacks: Row[], more: Row = {}) =>
    admin.post("postback/resend", { app_id: app.appId, postbacks, ...more });

  test("are sent again, and no others", async () => {
    const named = [
      { client_id: "a", event_type: "pay", subject: "order-a" },
      { client_id: "用户", event_type: "activate", subject: "" },
      // This one does not exist and must not be created.
      { client_id: "b", event_type: "pay", subject: "order-a" },
    ];
    expect(dataOf(await resend(named), resentAnswer)).toEqual({
      taken: 0,
      refused: { no_account: 2 },
      has_more: false,
    });
    // No server listens there, so it waits.
    const kuaishou = { ad_platform: "kuaishou", settings: { url: "http://127.0.0.1:9/" } };
    expect(await admin.post("accounts/set", { app_id: app.appId, ...kuaishou })).toMatchObject({ code: 0 });
    expect(dataOf(await resend(named), resentAnswer)).toEqual({ taken: 2, refused: {}, has_more: false });
    const resent = await tables.query("select client_id from postback where app_id = $1 and resent = 1", [app.appId]);
    expect(resent.map(({ client_id }) => client_id).sort()).toEqual(["a", "用户"]);
    expect(await admin.post("accounts/remove", { app_id: app.appId, ad_platform: "kuaishou" })).toMatchObject({
      code: 0,
    });
  });

  test("stay out of the audit log, which outlives their users", async () => {
    const logged = await tables.query(
      "select details from audit_log where app_id = $1 and action = 'postback/resend'",
      [app.appId],
    );
    expect(logged.length).toBeGreaterThan(0);
    for (const { details } of logged) expect(details.postbacks).toBe("…");
  });

  const ONE = { client_id: "a", event_type: "pay", subject: "order-a" };
  test.each<[Row[], Row, RegExp]>([
    [[], {}, /postbacks/],
    [[ONE], { status: 2 }, /^Name either client_id/],
    [[{ ...ONE, event_type: "$event" }], {}, /^event_type must be one of/],
    [[{ ...ONE, client_id: "" }], {}, /client_id/],
    [[{ ...ONE, subject: "another" }], {}, /^There is no matching postback/],
    [Array.from({ length: 501 }, () => ONE), {}, /postbacks/],
  ])("are refused: %#", async (postbacks, more, msg) => {
    expect(await resend(postbacks, more)).toMatchObject({ code: 1004, msg: expect.stringMatching(msg), data: {} });
  });
});

describe("the order of rules", () => {
  test("is kept, and a new one comes last", async () => {
    const { appId: app_id } = await server.createApp();
    const half = { app_id, moment: "pay", event_type: "pay", share: "50%" };
    const { rule_id } = dataOf(await admin.post("postback/rules/create", half), ruleAnswer);
    const listed = async () => dataOf(await admin.get("postback/rules", { app_id }), ruleListAnswer).rules;
    const ids = (await listed()).map((rule: Row) => rule.rule_id);
    expect(ids.at(-1)).toBe(rule_id);
    const order = [rule_id, ...ids.slice(0, -1)];
    const { rules } = dataOf(await admin.post("postback/rules/order", { app_id, rule_ids: order }), ruleListAnswer);
    expect(rules.map((rule: Row) => rule.rule_id)).toEqual(order);
    expect(await listed()).toEqual(rules);
    const added = dataOf(await admin.post("postback/rules/create", half), ruleAnswer);
    expect((await listed()).at(-1)).toEqual(added);
  });

  test("must name each rule of the app once", async () => {
    const [app, other] = [await server.createApp(), await server.createApp()];
    const idsOf = async ({ appId }: App) =>
      (await admin.get("postback/rules", { app_id: appId })).data.rules.map((rule: Row) => rule.rule_id);
    const ids = await idsOf(app);
    const wrong = [[], ids.slice(1), [...ids, ids[0]], [...ids.slice(1), ids[1]], await idsOf(other)];
    for (const rule_ids of wrong) {
      const answer = await admin.post("postback/rules/order", { app_id: app.appId, rule_ids });
      expect(answer).toMatchObject({ code: 1004, msg: expect.stringMatching(/^rule_ids must name each rule/) });
    }
    expect(await idsOf(app)).toEqual(ids);
  });
});

test("an analyst sees rules, postbacks, accounts and callbacks, can try rules, and changes nothing", async () => {
  const { appId: app_id } = await server.createApp();
  for (const path of ["postback/rules", "postbacks", "postback/recent", "postback/status", "accounts", "callbacks"])
    expect(await analyst.get(path, { app_id }), path).toMatchObject({ code: 0 });
  const days = { from: "2026-01-01", to: "2026-01-02" };
  const tried = { app_id, moment: "pay", event_type: "pay" };
  expect(await analyst.post("postback/dry-run", { ...tried, ...days })).toMatchObject({ code: 0 });
  const changes: [string, Row][] = [
    ["postback/rules/create", tried],
    ["postback/rules/order", { app_id, rule_ids: [] }],
    ["postback/resend", { app_id, status: 2 }],
    ["accounts/set", { app_id, ad_platform: "vivo" }],
    ["accounts/remove", { app_id, ad_platform: "vivo" }],
    ["callbacks/set", { app_id, kind: "attribution", url: "https://example.com/" }],
    ["callbacks/remove", { app_id, kind: "attribution" }],
  ];
  for (const [path, body] of changes) expect(await analyst.post(path, body), path).toMatchObject({ code: 2004 });
});
