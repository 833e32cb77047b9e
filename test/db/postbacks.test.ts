import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { storeRuleSettings } from "../../src/db/attribution-setting.ts";
import { storeAccount } from "../../src/db/platform-account.ts";
import { createPostbackRule, type NewPostbackRule } from "../../src/db/postback-rule.ts";
import { ApplyStage, DAY_MS, HOUR_MS, NOW_MS, pay, profile, track } from "./apply-stage.ts";
import { vault } from "./temp-database.ts";

let stage: ApplyStage;
beforeAll(async () => {
  stage = await ApplyStage.open();
});
beforeEach(async () => {
  await stage.begin();
  await stage.pool.query("truncate platform_account, postback_rule, attribution_setting");
});
afterAll(() => stage.close());

async function account(adPlatform: string, advertiserId = ""): Promise<void> {
  const nothing = {
    settings: {},
    secrets: {},
    tokenExpiresAtMs: null,
    refreshExpiresAtMs: null,
    authorisationId: null,
    lastError: "",
    lastErrorAtMs: null,
  };
  const more = { advertiserId, postbacks: true, costs: false, ratePerS: 0 };
  await storeAccount(stage.pool, vault, { appId: stage.app.appId, adPlatform, ...more, ...nothing }, 0);
}

async function rule(moment: string, eventType: string, change: Partial<NewPostbackRule> = {}): Promise<number> {
  const { appId } = stage.app;
  const plain = { appId, adPlatform: "", campaignId: "", code: "", conditions: {}, shareBp: 10_000, windowDays: 30 };
  const made = { ...plain, value: { kind: "as_is" as const }, enabled: true, moment, ...change };
  return (await createPostbackRule(stage.pool, { ...made, eventType: eventType as "pay" }, 0)).ruleId;
}

const click = (company: string, more: Record<string, string | number> = {}, at = NOW_MS - HOUR_MS) =>
  stage.append("click", "", new URLSearchParams({ company, ts: String(at), ...more } as never).toString(), { at });

/** Registers a user brought by a click of the platform. */
async function bring(company: string, client: string, at = NOW_MS): Promise<void> {
  await click(company, { oaid: `o-${client}`, callback: `cb-${client}` }, at - HOUR_MS);
  await stage.register(client, { device_info: { oaid: `o-${client}` } }, { at });
}

type Shown = [type: string, subject: string, status: number, reason: string];
async function postbacks(): Promise<Shown[]> {
  const { rows } = await stage.pool.query("select * from postback order by event_type, subject, client_id");
  return rows.map((row) => [row.event_type, row.subject, row.status, row.reason]);
}
const column = async (table: string, name: string) =>
  (await stage.pool.query(`select ${name} as value from ${table} order by 1`)).rows.map((row) => row.value);
const orders = async () =>
  (
    await stage.pool.query(
      "select trace_id, postback_status, pass_status, back_cents, modified_at_ms from orders order by trace_id",
    )
  ).rows.map((row) => [row.trace_id, row.postback_status, row.pass_status, row.back_cents, row.modified_at_ms]);

describe("a moment", () => {
  const moments: [string, string, string[]][] = [
    ["activate", "activate", [""]],
    ["register", "register", [""]],
    ["pay", "pay", ["o1", "o2", "o3"]],
    ["first_pay", "first_pay", [""]],
    ["first_day_pay", "first_day_pay", [""]],
    ["retention_1", "twice", [""]],
    ["retention_2", "retention_2d", [""]],
    ["retention_3", "retention_3d", []],
    ["event:level", "game_action", ["2024-06-15", "2024-06-17"]],
    ["event:level", "create_role", [""]],
    ["ad_view", "ad_quality", ["2024-06-16"]],
  ];

  test.each(moments)("%s is reported as %s, about %j", async (moment, eventType, subjects) => {
    await account("tencent");
    await rule(moment, eventType);
    await bring("tencent", "u");
    await stage.collect("u", [pay("o1", 600), pay("o2", 700), track("level", { n: 1 }), track("level", { n: 2 })]);
    const later = (days: number) => ({ at: NOW_MS + days * DAY_MS });
    await stage.collect("u", [track("$AdShow", { $ecpm: 80 }, NOW_MS + DAY_MS)], later(1));
    await stage.collect("u", [track("e", {}, NOW_MS + DAY_MS + 5)], later(1));
    await stage.collect(
      "u",
      [pay("o3", 100, {}, NOW_MS + 2 * DAY_MS), track("level", {}, NOW_MS + 2 * DAY_MS)],
      later(2),
    );
    await stage.applyAll();
    const ofPay = moment === "pay" ? [] : ["o1", "o2", "o3"].map((order): Shown => ["pay", order, 3, "no_rule"]);
    const told = subjects.map((subject): Shown => [eventType, subject, 0, ""]);
    expect((await postbacks()).sort()).toEqual([...ofPay, ...told].sort());
    expect(await column("outbox", "event_type || subject")).toEqual(
      told.map(([type, subject]) => type + subject).sort(),
    );
  });

  test("is judged by the profile at that moment, whatever later events of the same batch change", async () => {
    await account("tencent");
    const properties = [{ field: "user$level", operator: "equal" as const, values: [9] }];
    await rule("pay", "pay", { conditions: { properties } });
    await bring("tencent", "u");
    const level = (n: number, at: number) => profile("profile_set", { level: n }, NOW_MS + at);
    await stage.collect("u", [level(9, 1), pay("o1", 600), level(1, 2), pay("o2", 600), level(9, 3)]);
    await stage.applyAll();
    expect((await postbacks()).map(([, subject, status]) => [subject, status])).toEqual([
      ["o1", 0],
      ["o2", 3],
    ]);
  });

  test("of one ad is reported for each, with amounts that add up to the whole", async () => {
    await account("tencent");
    await rule("each_ad", "ad_quality", { adPlatform: "tencent" });
    await bring("tencent", "u");
    // 0.4, 0.4, 0.4 and 6 cents.
    const ecpms = [4, 4, 4, 60];
    await stage.collect(
      "u",
      ecpms.map(($ecpm, index) => track("$AdShow", { $ecpm }, NOW_MS + index)),
    );
    await stage.applyAll();
    const { rows } = await stage.pool.query("select subject, value_cents from postback order by at_ms");
    expect(rows.map((row) => row.value_cents)).toEqual([0, 1, 0, 6]);
    expect(new Set(rows.map((row) => row.subject)).size).toBe(4);
    for (const { subject } of rows) expect(subject).toMatch(/^[0-9a-f]{32}$/);
  });

  test("with a rule's own code takes it along, beside others of that day", async () => {
    await account("tencent");
    await rule("event:level", "game_action", { adPlatform: "tencent", code: "UPDATE_LEVEL" });
    await rule("event:quest", "game_action", { adPlatform: "tencent" });
    await bring("tencent", "u");
    await stage.collect("u", [track("level", { n: 1 }), track("quest", { n: 1 })]);
    await stage.applyAll();
    const { rows } = await stage.pool.query("select subject, content ->> 'code' as code from outbox order by 1");
    expect(rows).toEqual([
      { subject: "2024-06-15", code: null },
      { subject: "2024-06-15 UPDATE_LEVEL", code: "UPDATE_LEVEL" },
    ]);
  });

  test("carries its value and its time", async () => {
    await account("tencent");
    await rule("first_day_pay", "first_day_pay", { value: { kind: "factor", factorBp: 5_000, capCents: 200 } });
    await rule("retention_1", "twice");
    await rule("ad_view", "ad_quality", { conditions: { count: { min: 2 } } });
    await bring("tencent", "u");
    await stage.collect("u", [pay("o1", 333, {}, NOW_MS + 1), pay("o2", 999, {}, NOW_MS + 2)]);
    const [first, second] = [NOW_MS + DAY_MS + 3, NOW_MS + DAY_MS + 4];
    await stage.collect("u", [track("$AdShow", { $ecpm: 1500 }, first)], { at: first + 10 });
    await stage.collect("u", [track("$AdShow", { $ecpm: 2500 }, second)], { at: second + 10 });
    await stage.applyAll();
    const { rows } = await stage.pool.query(
      `select event_type, trace_id, at_ms, value_cents, ad_platform, moment, created_at_ms, changed_at_ms from postback
        where status = 0 order by 1`,
    );
    expect(rows).toEqual([
      {
        event_type: "ad_quality",
        trace_id: "",
        at_ms: second,
        value_cents: 400,
        ad_platform: "tencent",
        moment: "ad_view",
        created_at_ms: first + 10,
        changed_at_ms: second + 10,
      },
      {
        event_type: "first_day_pay",
        trace_id: "o1",
        at_ms: NOW_MS + 1,
        value_cents: 167,
        ad_platform: "tencent",
        moment: "first_day_pay",
        created_at_ms: NOW_MS,
        changed_at_ms: NOW_MS,
      },
      {
        event_type: "twice",
        trace_id: "",
        at_ms: first,
        value_cents: null,
        ad_platform: "tencent",
        moment: "retention_1",
        created_at_ms: first + 10,
        changed_at_ms: first + 10,
      },
    ]);
    expect(await column("outbox", "due_at_ms")).toEqual([NOW_MS, first + 10, second + 10]);
  });

  test("uses the account of the advertiser, else the one for all; without one nothing is recorded", async () => {
    await rule("activate", "activate");
    await bring("tencent", "nobody");
    await stage.applyAll();
    expect([await postbacks(), await column("outbox", "lane")]).toEqual([[], []]);
    await account("tencent");
    await account("tencent", "7");
    for (const [client, advertiser] of [
      ["a", "7"],
      ["b", "8"],
    ]) {
      await click("tencent", { oaid: `o-${client}`, click_id: client!, advertiser_id: advertiser! });
      await stage.register(client!, { device_info: { oaid: `o-${client}` } });
    }
    await stage.applyAll();
    const { appId } = stage.app;
    expect(await column("outbox", "lane")).toEqual([`${appId} tencent `, `${appId} tencent 7`]);
  });

  test("of a platform without an account, of Apple or of no ad is skipped with the reason", async () => {
    await account("kuaishou");
    await rule("activate", "activate");
    await rule("pay", "pay");
    await bring("tencent", "t");
    await stage.register("a", { ad_data: { orgId: 1, attribution: true, campaignId: 2 } });
    await stage.register("n");
    for (const client of ["t", "a", "n"]) await stage.collect(client, [pay(`o-${client}`, 600)]);
    await stage.applyAll();
    const reasons = (await postbacks()).map(([type, , status, reason]) => [type, status, reason]);
    expect(reasons.sort()).toEqual(
      ["activate", "pay"].flatMap((type) => ["no_account", "organic", "takes_none"].map((why) => [type, 3, why])),
    );
    expect((await orders()).map(([, status, pass]) => [status, pass])).toEqual([
      [3, 0],
      [3, 0],
      [3, 0],
    ]);
    expect(await stage.count("outbox")).toBe(0);
  });

  test("that is repeated, days late or history is reported once or not at all", async () => {
    await account("tencent");
    for (const [moment, type] of [
      ["activate", "activate"],
      ["pay", "pay"],
      ["event:e", "login"],
    ] as const) {
      await rule(moment, type);
    }
    await bring("tencent", "u");
    await stage.collect("u", [pay("o1", 600), track("e")]);
    await stage.collect("u", [pay("o1", 600), track("e")], { at: NOW_MS + 1 });
    await stage.collect("u", [pay("o2", 600, {}, NOW_MS - 3 * DAY_MS + 1), pay("o3", 600, {}, NOW_MS - 3 * DAY_MS)]);
    await stage.append("initialize", "h", {
      name: "n",
      channel: "c",
      version: 1,
      history_info: { create_time: NOW_MS - 9 * DAY_MS, company: "gdt" },
    });
    await stage.collect("h", [pay("oh", 600), track("e")]);
    await stage.applyAll();
    expect(await postbacks()).toEqual([
      ["activate", "", 0, ""],
      ["login", "2024-06-15", 0, ""],
      ["pay", "o1", 0, ""],
      ["pay", "o2", 0, ""],
      ["pay", "o3", 3, "late"],
    ]);
    expect(await orders()).toEqual([
      ["o1", 0, 1, 0, null],
      ["o2", 0, 1, 0, null],
      ["o3", 3, 0, 0, null],
      ["oh", 0, 0, 0, null],
    ]);
  });
});

describe("a user about whom more becomes known", () => {
  beforeEach(async () => {
    await account("tencent");
    await account("kuaishou");
    for (const [moment, type] of [
      ["activate", "activate"],
      ["pay", "pay"],
      ["retention_1", "twice"],
    ] as const) {
      await rule(moment, type);
    }
  });

  test("is judged anew with all moments if no longer organic", async () => {
    await stage.register("u", { device_info: { oaid: "o-u" } });
    await stage.collect("u", [pay("o1", 600)]);
    await stage.collect("u", [track("e", {}, NOW_MS + DAY_MS)], { at: NOW_MS + DAY_MS });
    await stage.applyAll();
    expect((await postbacks()).map(([, , status, reason]) => [status, reason])).toEqual(Array(3).fill([3, "organic"]));
    expect(await orders()).toEqual([["o1", 3, 0, 0, null]]);
    await click("tencent", { oaid: "o-u", click_id: "late" });
    await stage.applyAll();
    expect((await postbacks()).map(([type, , status, reason]) => [type, status, reason])).toEqual([
      ["activate", 0, ""],
      ["pay", 0, ""],
      ["twice", 0, ""],
    ]);
    expect(await orders()).toEqual([["o1", 0, 1, 0, null]]);
    expect(await column("outbox", "content->'ad_data'->>'click_id'")).toEqual(["late", "late", "late"]);
  });

  test("has not returned when the next day has only a refund", async () => {
    await stage.register("u", { device_info: { oaid: "o-u" } });
    await stage.collect("u", [pay("o1", 600)]);
    const at = NOW_MS + DAY_MS;
    await stage.collect("u", [track("$RefundEvent", { $order_id: "o1" }, at)], { at });
    await stage.applyAll();
    await click("tencent", { oaid: "o-u", click_id: "late" });
    await stage.applyAll();
    expect((await postbacks()).map(([type]) => type)).toEqual(["activate", "pay"]);
  });

  test("is not told of by a refund, whatever an earlier version allowed as a moment", async () => {
    await rule("event:$RefundEvent", "game_action");
    await stage.register("u", { device_info: { oaid: "o-u" } });
    await stage.collect("u", [track("$RefundEvent", { $order_id: "o1" })]);
    await stage.applyAll();
    await click("tencent", { oaid: "o-u", click_id: "late" });
    await stage.applyAll();
    expect((await postbacks()).map(([type]) => type)).toEqual(["activate"]);
  });

  test("moves to another platform: unreported moments move along, reported ones stay", async () => {
    await click("kuaishou", { oaid: "o-u", callback: "k" }, NOW_MS - 2 * HOUR_MS);
    await stage.register("u", { device_info: { oaid: "o-u" } });
    await stage.collect("u", [pay("o1", 600)]);
    await stage.applyAll();
    await stage.pool.query("update outbox set attempts = 1, in_flight = true where event_type = 'activate'");
    await click("tencent", { oaid: "o-u", click_id: "c" });
    await stage.applyAll();
    const { rows } = await stage.pool.query("select event_type, ad_platform, status from postback order by 1");
    expect(rows.map((row) => Object.values(row))).toEqual([
      ["activate", "kuaishou", 0],
      ["pay", "tencent", 0],
    ]);
    const { appId } = stage.app;
    expect(await column("outbox", "event_type || ' ' || lane")).toEqual([
      `activate ${appId} kuaishou `,
      `pay ${appId} tencent `,
    ]);
  });

  test("is won by a return: only the return itself and moments after the new touch are reported", async () => {
    await rule("return", "re_active");
    const rules = { impressions: true, flaggedMayWin: true, reattribution: true, reclickDays: 0, refluxDays: 1 };
    await storeRuleSettings(stage.pool, { appId: stage.app.appId, platform: "", rules, changedAtMs: NOW_MS });
    const [registered, back] = [NOW_MS - 40 * DAY_MS, NOW_MS];
    await stage.register("u", { device_info: { oaid: "o-u" } }, { at: registered });
    await stage.collect("u", [pay("o1", 600, {}, registered + 5)], { at: registered + 5 });
    await click("tencent", { oaid: "o-u", click_id: "c" }, back - HOUR_MS);
    await stage.register("u", { device_info: { oaid: "o-u" } }, { at: back });
    await stage.collect("u", [pay("o2", 700, {}, back + 5)], { at: back + 5 });
    await stage.applyAll();
    expect(await postbacks()).toEqual([
      ["activate", "", 3, "window"],
      ["pay", "o1", 3, "window"],
      ["pay", "o2", 0, ""],
      ["re_active", "2024-06-15", 0, ""],
    ]);
    expect(await orders()).toEqual([
      ["o1", 3, 0, 0, null],
      ["o2", 0, 1, 0, null],
    ]);
  });

  test("an activation that arrived days late stays unreported when the user changes otherwise", async () => {
    await stage.append("attributed", "u", {
      name: "n",
      channel: "",
      version: 1,
      active_time: NOW_MS - 5 * DAY_MS,
      click_time: NOW_MS - 6 * DAY_MS,
      click_company: "kuaishou",
      ad_data: { kuaishou: { aid: "7", callback: "cb" } },
    });
    await stage.applyAll();
    expect(await postbacks()).toEqual([["activate", "", 3, "late"]]);
    await stage.append("device_info", "u", { data: { os_name: "ios" } });
    await stage.applyAll();
    expect(await postbacks()).toEqual([["activate", "", 3, "late"]]);
  });
});
