import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../src/db/app.ts";
import { calendarOf } from "../../src/domain/calendar.ts";
import { DAY_MS, Tables, track } from "../http/fixture.ts";
import { eventually } from "../support/patience.ts";
import { bring, type KuaishouStandIn, pay, startKuaishou, urlOf } from "../support/players.ts";
import { sharedServer } from "../support/shared-server.ts";
import { cli, cliJson, expectFailure, expectWrongArguments } from "./run.ts";

const server = sharedServer();
const tables = new Tables(server);
const { dataDir } = server;
const of = (app: App, ...args: string[]) => [...args, "--app", String(app.appId)];
const run = (app: App, ...args: string[]) => cli(dataDir, of(app, ...args));
const runJson = (app: App, ...args: string[]) => cliJson(dataDir, of(app, ...args));

const dayOf = (ms: number) => calendarOf("Asia/Shanghai").dayOf(ms);
/** Includes yesterday, in case midnight passes during the tests. */
const someDays = () => ["--from", dayOf(Date.now() - DAY_MS), "--to", dayOf(Date.now())];
const NOBODY = { appId: 999_999_999 } as App;

describe("postback rule", () => {
  const OPTIONS = [
    ...["--moment", "pay", "--event-type", "pay", "--platform", "gdt", "--campaign", "campaign-0000001"],
    ...["--amount", "600..5000", "--count", "1..3", "--days-since-touch", "0..7", "--share", "80%"],
    ...["--property", 'event$product equal "gold"', "--property", "user$level between 1,5"],
    ...["--value", "factor:0.5,cap:10000", "--window", "14d", "--code", "COMPLETE_ORDER", "--disabled"],
  ];
  const MADE = {
    ad_platform: "tencent",
    turbo_promoted_object_id: "campaign-0000001",
    moment: "pay",
    event_type: "pay",
    code: "COMPLETE_ORDER",
    amount: "600..5000",
    count: "1..3",
    days_since_touch: "0..7",
    share: "80%",
    value: "factor:0.5,cap:10000",
    window: "14d",
    enabled: "off",
    properties: ['event$product equal "gold"', "user$level between 1,5"],
  };

  test("a new app reports activation, registration, payments and the next day", async () => {
    const rules = await runJson(await server.createApp(), "postback", "rule", "list");
    const told = rules.map((rule: any) => `${rule.moment} ${rule.event_type} ${rule.share} ${rule.enabled}`);
    expect(told).toEqual([
      ...["activate activate 100% on", "register register 100% on", "pay pay 100% on", "retention_1 twice 100% on"],
    ]);
  });

  test("add, set, list and remove work", async () => {
    const app = await server.createApp();
    await runJson(app, "campaign", "create", "--id", "campaign-0000001");
    const made = await runJson(app, "postback", "rule", "add", ...OPTIONS);
    expect(made).toEqual({ rule_id: expect.any(Number), ...MADE });
    const id = String(made.rule_id);
    const change = ["--amount", "", "--property", "", "--share", "12.5%", "--enabled"];
    const changed = { ...made, amount: "", properties: [], share: "12.5%", enabled: "on" };
    expect(await runJson(app, "postback", "rule", "set", id, ...change)).toEqual(changed);
    expect((await runJson(app, "postback", "rule", "list")).at(-1)).toEqual(changed);
    expect((await run(app, "postback", "rule", "list")).stdout).toMatch(/\n +\d+ +tencent +pay +pay .*12\.5%/);
    expect((await run(app, "postback", "rule", "remove", id)).stdout).toBe(`Rule ${id} was removed.\n`);
    expect(await runJson(app, "postback", "rule", "list")).toHaveLength(4);
  });

  test("failures are one sentence, and nothing changes", async () => {
    const [app, other] = [await server.createApp(), await server.createApp()];
    const before = await runJson(app, "postback", "rule", "list");
    const foreign = String((await runJson(other, "postback", "rule", "list"))[0].rule_id);
    const pays = ["--moment", "pay", "--event-type", "pay"];
    const refused: [string[], RegExp][] = [
      [["add", "--moment", "pay"], /^event_type is missing/],
      [["add", ...pays, "--share", "101%"], /^share must be/],
      [
        ["add", ...pays, "--platform", "asa"],
        /^ad_platform must be one of tencent, .*no other platform accepts postbacks/,
      ],
      [["add", ...pays, "--campaign", "nothing"], /^App \d+ has no campaign "nothing"/],
      [["set", foreign, "--share", "1%"], /^App \d+ has no rule/],
      [["remove", foreign], /^App \d+ has no rule/],
    ];
    const fails = async ([args, sentence]: [string[], RegExp]) =>
      expectFailure(await run(app, "postback", "rule", ...args), sentence);
    await Promise.all(refused.map(fails));
    expectFailure(await run(NOBODY, "postback", "rule", "list"), /no app 999999999/);
    expectWrongArguments(await run(app, "postback", "rule", "set"), /rule/);
    expectWrongArguments(await run(app, "postback", "rule", "remove", "first"), /whole number/);
    expect(await runJson(app, "postback", "rule", "list")).toEqual(before);
    expect(await runJson(other, "postback", "rule", "list")).toHaveLength(4);
  });

  test("rules can be reordered", async () => {
    const app = await server.createApp();
    const ids = (rules: any[]) => rules.map((rule) => rule.rule_id);
    const [first, ...rest] = ids(await runJson(app, "postback", "rule", "list"));
    const order = [...rest, first];
    expect(ids(await runJson(app, "postback", "rule", "order", order.join(",")))).toEqual(order);
    expect(ids(await runJson(app, "postback", "rule", "list"))).toEqual(order);
    expectFailure(await run(app, "postback", "rule", "order", rest.join(",")), /^rule_ids must name each rule/);
  });

  test("an app has at most 200 rules", async () => {
    const app = await server.createApp();
    await tables.query(
      `insert into postback_rule (app_id, ad_platform, turbo_promoted_object_id, moment, event_type, conditions, share_bp,
        value, window_days, enabled, changed_at_ms)
       select $1, '', '', 'pay', 'pay', '{}', 0, '{"kind":"as_is"}', 30, false, 0 from generate_series(1, 196)`,
      [app.appId],
    );
    const add = ["postback", "rule", "add", "--moment", "pay", "--event-type", "pay"];
    expectFailure(await run(app, ...add), /^An app can have at most 200 rules/);
  });
});

describe("postback dry-run", () => {
  let app: App;
  const dryRun = (...args: string[]) => runJson(app, "postback", "dry-run", ...someDays(), ...args);
  const PAYS = ["--moment", "pay", "--event-type", "pay"];

  /** Without any account: `big` and `small` were brought by Kuaishou, `other` by a network that takes no postbacks. */
  beforeAll(async () => {
    app = await server.createApp();
    for (const client of ["big", "small"]) await bring(server, app, client);
    const click = { app_id: String(app.appId), company: "my_network", oaid: "o" };
    await server.get("/event_center/api/v1/event/click/", click);
    await server.register(app, "other", { device_info: { os_name: "android", oaid: "o" } });
    await server.register(app, "organic");
    await pay(server, app, "big", { order: "b1", cents: 3_000, product: "gold" });
    await pay(server, app, "big", { order: "b2", cents: 5_001 });
    await pay(server, app, "small", { order: "s1", cents: 100 });
    for (const client of ["other", "organic"]) await pay(server, app, client, { order: client, cents: 700 });
    await server.collect(app, "big", [track("level_up", { level: 2 }), track("level_up", { level: 3 })]);
    await server.settle();
  });

  test("prints what would have been sent, and why the rest would not, by platform", async () => {
    const result = await dryRun(...PAYS, "--amount", "600..", "--value", "factor:0.5,cap:2000");
    expect(result).toMatchObject({ users: 4, sent: 2, amount_cents: 3_500, skipped: 3 });
    expect(result.platforms).toEqual([
      { ad_platform: "kuaishou", sent: 2, amount_cents: 3_500, skipped: 1, reasons: { amount: 1 } },
      { ad_platform: "my_network", sent: 0, amount_cents: 0, skipped: 1, reasons: { takes_none: 1 } },
      { ad_platform: "natural", sent: 0, amount_cents: 0, skipped: 1, reasons: { organic: 1 } },
    ]);
    expect(result.rule).toMatchObject({ rule_id: 0, amount: "600..", value: "factor:0.5,cap:2000" });
  });

  test("tries a stored rule, even a disabled one, and one with changes", async () => {
    const { rule_id } = await runJson(app, "postback", "rule", "add", ...PAYS, "--count", "2..", "--disabled");
    const rule = ["--rule", String(rule_id)];
    expect((await dryRun(...rule)).platforms[0]).toMatchObject({ sent: 1, amount_cents: 5_001, reasons: { count: 2 } });
    expect((await dryRun(...rule, "--count", "1")).platforms[0]).toMatchObject({ sent: 2, amount_cents: 3_100 });
    expect(await runJson(app, "postback", "rule", "list")).toHaveLength(5);
    await run(app, "postback", "rule", "remove", String(rule_id));
  });

  test("ignores users whom the rule does not match, and days outside the range", async () => {
    expect((await dryRun(...PAYS, "--platform", "vivo")).platforms).toMatchObject([{ ad_platform: "natural" }]);
    const past = ["--from", "2020-01-01", "--to", "2020-01-31"];
    expect(await runJson(app, "postback", "dry-run", ...past, ...PAYS)).toMatchObject({
      users: 4,
      sent: 0,
      platforms: [],
    });
  });

  test("handles own events, tests on properties, and moments reported once per user", async () => {
    const levels = ["--moment", "event:level_up"];
    const sent = async (...args: string[]) => (await dryRun(...args)).sent;
    expect(await sent(...levels, "--event-type", "create_role"), "once a user").toBe(1);
    expect(await sent(...levels, "--event-type", "game_action"), "once a day").toBe(1);
    const high = ["--property", "event$level between 3,9"];
    expect(await sent(...levels, "--event-type", "game_action", ...high), "the second one passes").toBe(1);
    expect(await sent(...PAYS, "--property", 'event$product equal "gold"')).toBe(1);
    expect(await sent("--moment", "register", "--event-type", "register")).toBe(2);
    expect(await sent("--moment", "register", "--event-type", "register", "--share", "0%")).toBe(0);
  });

  test("reads users page by page, and shows its progress", async () => {
    const many = await server.createApp();
    await bring(server, many, "u");
    await server.settle();
    await tables.query(
      `insert into user_account select (jsonb_populate_record(u, jsonb_build_object('client_id', 'copy ' || n))).*
       from user_account u, generate_series(1, 1200) n where u.app_id = $1`,
      [many.appId],
    );
    const args = ["--moment", "activate", "--event-type", "activate", ...someDays()];
    const result = await run(many, "postback", "dry-run", ...args);
    expect(result.stdout).toMatch(/kuaishou +1201 +0 +0/);
    expect(result.stdout).toContain("1201 users: 1201 postbacks with 0 cents would have been sent, 0 skipped.");
    expect(result.stderr).toMatch(/judged 0 %\n(?:judged \d+ %\n)+judged 100 %\n$/);
  });

  test("never sends or stores anything", async () => {
    const [row] = await tables.query(
      "select (select count(*) from postback where app_id = $1) as postbacks, (select count(*) from outbox where app_id = $1) as waiting",
      [app.appId],
    );
    expect(row).toEqual({ postbacks: 0, waiting: 0 });
  });

  test("refuses invalid rules, and days in the wrong order", async () => {
    expectFailure(await run(app, "postback", "dry-run", ...someDays()), /^moment is missing/);
    expectFailure(await run(app, "postback", "dry-run", ...someDays(), "--rule", "999999"), /has no rule 999999/);
    const turned = ["--from", "2026-01-02", "--to", "2026-01-01"];
    expectFailure(await run(app, "postback", "dry-run", ...turned, ...PAYS), /^from is after to/);
    expectWrongArguments(await run(app, "postback", "dry-run", ...PAYS), /--from/);
  });
});

describe("postback list, status and resend", () => {
  let app: App;
  let kuaishou: KuaishouStandIn;
  const ACCOUNT = ["--platform", "kuaishou"];
  const list = (...args: string[]) => runJson(app, "postback", "list", ...args);
  const ofOrder = async (order: string) =>
    (await list()).find((row: any) => row.trace_id === order && row.event_type === "pay");
  const order = async (id: string) =>
    (await tables.orders(app)).find((row) => row.trace_id === id) as Record<string, unknown>;
  const becomes = (id: string, status: string) =>
    eventually(async () => expect(await ofOrder(id)).toMatchObject({ status_text: status }));

  beforeAll(async () => {
    kuaishou = await startKuaishou();
    app = await server.createApp();
    // Some account, so that skipped postbacks are recorded.
    await runJson(app, "account", "set", "--platform", "huawei");
    await bring(server, app, "u");
    await server.register(app, "organic");
    await pay(server, app, "u", { order: "o1", cents: 600 });
    await pay(server, app, "organic", { order: "o2", cents: 700 });
    await server.settle();
  });
  afterAll(async () => {
    await runJson(app, "account", "remove", ...ACCOUNT);
    await kuaishou.close();
  });

  test("skipped postbacks are listed with their reason, and can be filtered", async () => {
    expect(
      (await list()).map((row: any) => `${row.client_id} ${row.event_type} ${row.status_text} ${row.reason}`).sort(),
    ).toEqual([
      ...["organic activate skipped organic", "organic pay skipped organic", "organic register skipped organic"],
      ...["u activate skipped no_account", "u pay skipped no_account", "u register skipped no_account"],
    ]);
    expect(await list("--client", "u", "--event-type", "pay")).toEqual([
      {
        client_id: "u",
        event_type: "pay",
        subject: "o1",
        trace_id: "o1",
        ad_platform: "kuaishou",
        moment: "pay",
        rule_id: 0,
        status: 3,
        status_text: "skipped",
        reason: "no_account",
        attempts: 0,
        resent: 0,
        value_cents: null,
        back_cents: 0,
        refunded_cents: 0,
        refunded_at: "",
        at: expect.stringMatching(/^\d{4}-/),
        changed_at: expect.stringMatching(/^\d{4}-/),
      },
    ]);
    expect(await list("--platform", "kuaishou")).toHaveLength(3);
    expect(await list("--status", "2")).toEqual([]);
    expect(await list("--limit", "2")).toHaveLength(2);
    expect((await run(app, "postback", "list", "--client", "u")).stdout).toMatch(
      / u +pay +o1 +kuaishou +skipped +no_account/,
    );
    expectWrongArguments(await run(app, "postback", "list", "--status", "4"), /--status/);
    expectFailure(await run(app, "postback", "list", "--limit", "0"), /^limit must be/);
    expectFailure(await run(app, "postback", "list", "--event-type", "paid"), /^event_type must be/);
  });

  test("without an account nothing can be sent again, and the reason is given", async () => {
    expect(await runJson(app, "postback", "resend", "--status", "3")).toEqual({
      taken: 0,
      refused: { no_account: 3, organic: 3 },
      has_more: false,
    });
    expect((await run(app, "postback", "resend", "--client", "organic", "--order", "o2")).stdout).toBe(
      "0 postbacks will be sent again.\nRefused: organic 1.\n",
    );
  });

  test("with an account, skipped postbacks are sent after all, with the amount of their order", async () => {
    await runJson(app, "account", "set", ...ACCOUNT, "--set", `url=${urlOf(kuaishou)}`);
    kuaishou.fail = () => "bad_token";
    const resend = ["postback", "resend", "--status", "3", "--reason", "no_account", "--platform", "kuaishou"];
    expect(await runJson(app, ...resend)).toEqual({ taken: 3, refused: {}, has_more: false });
    await becomes("o1", "given up");
    expect(await ofOrder("o1")).toMatchObject({ value_cents: 600, back_cents: 0, resent: 1, attempts: 1 });
    expect(await order("o1")).toMatchObject({ postback_status: 2, postback_count: 1, back_cents: 0 });
  });

  test("failed postbacks are accepted later, counted, and never sent again", async () => {
    await eventually(async () => expect(await list("--status", "2")).toHaveLength(3));
    kuaishou.fail = () => undefined;
    const resend = ["postback", "resend", "--client", "u", "--event-type", "pay", "--order", "o1"];
    expect(await runJson(app, ...resend)).toEqual({ taken: 1, refused: {}, has_more: false });
    await becomes("o1", "accepted");
    expect(kuaishou.accepted).toMatchObject([{ key: "token-u", code: "3", cents: 600 }]);
    expect(await ofOrder("o1")).toMatchObject({ back_cents: 600, resent: 2, reason: "" });
    expect(await order("o1")).toMatchObject({ postback_status: 1, postback_count: 2, back_cents: 600 });
    expect(await runJson(app, ...resend)).toEqual({ taken: 0, refused: { accepted: 1 }, has_more: false });
    expect(kuaishou.accepted).toHaveLength(1);
  });

  test("part of a sentence finds a reason, part of a name does not; days are those on which it happened", async () => {
    const resend = (...args: string[]) => runJson(app, "postback", "resend", "--status", "2", ...args);
    expect(await resend("--reason", "no such sentence")).toMatchObject({ taken: 0 });
    expect(await resend("--from", "2020-01-01", "--to", "2020-01-02")).toMatchObject({ taken: 0 });
    expect(await resend("--reason", "decoded fail", ...someDays())).toMatchObject({ taken: 2 });
    await eventually(() => expect(kuaishou.accepted).toHaveLength(3));
    const organic = ["postback", "resend", "--status", "3", "--reason"];
    expect(await runJson(app, ...organic, "organ")).toMatchObject({ refused: {} });
    expect(await runJson(app, ...organic, "organic")).toMatchObject({ taken: 0, refused: { organic: 3 } });
  });

  test("waiting postbacks are shown by account, fail when it is removed, and can be sent again later", async () => {
    kuaishou.fail = () => "server_error";
    await pay(server, app, "u", { order: "o3", cents: 900 });
    await eventually(async () => expect(await ofOrder("o3")).toMatchObject({ attempts: 1 }));
    expect(await ofOrder("o3")).toMatchObject({
      status_text: "waiting",
      reason: expect.stringMatching(/50\d/),
    });
    const { lanes, accounts } = await runJson(app, "postback", "status");
    expect(lanes).toEqual([
      {
        app_id: app.appId,
        to: "kuaishou",
        waiting: 1,
        in_flight: 0,
        paused_until: "",
        failures: 0,
        first_due_at: expect.stringMatching(/^\d{4}-/),
      },
    ]);
    expect(accounts.map((account: any) => account.ad_platform)).toEqual(["huawei", "kuaishou"]);
    expect((await cli(dataDir, ["postback", "status"])).stdout).toMatch(/Waiting\n[\s\S]*kuaishou[\s\S]*Accounts\n/);
    expect(await runJson(app, "postback", "resend", "--client", "u", "--order", "o3")).toMatchObject({
      refused: { waiting: 1 },
    });

    expect(await runJson(app, "account", "remove", ...ACCOUNT)).toEqual({ given_up: 1 });
    expect(await ofOrder("o3")).toMatchObject({
      status_text: "given up",
      reason: "The account was removed.",
      attempts: 1,
    });
    expect(await order("o3")).toMatchObject({ postback_status: 2 });
    expect((await runJson(app, "postback", "status")).lanes).toEqual([]);

    kuaishou.fail = () => undefined;
    await runJson(app, "account", "set", ...ACCOUNT, "--set", `url=${urlOf(kuaishou)}`);
    expect(await runJson(app, "postback", "resend", "--status", "2")).toMatchObject({ taken: 1 });
    await becomes("o3", "accepted");
  });

  test("wrong selections are refused", async () => {
    expectFailure(await run(app, "postback", "resend"), /^Name either client_id, or status/);
    expectFailure(await run(app, "postback", "resend", "--status", "1"), /^Only failed/);
    expectFailure(await run(app, "postback", "resend", "--client", "nobody"), /^There is no matching postback/);
    expectFailure(await run(NOBODY, "postback", "resend", "--status", "2"), /no app/);
  });
});
