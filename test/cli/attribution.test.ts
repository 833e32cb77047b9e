import { beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../src/db/app.ts";
import { calendarOf } from "../../src/domain/calendar.ts";
import { sharedServer } from "../support/shared-server.ts";
import { cli, cliJson, expectFailure, expectWrongArguments } from "./run.ts";

const server = sharedServer();
const { dataDir } = server;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const dayOf = (ms: number) => calendarOf("Asia/Shanghai").dayOf(ms);
/** Includes yesterday, in case midnight passes during the tests. */
const someDays = () => ["--from", dayOf(Date.now() - DAY_MS), "--to", dayOf(Date.now())];
const of = (app: App, ...args: string[]) => [...args, "--app", String(app.appId)];
const run = (app: App, ...args: string[]) => cli(dataDir, of(app, ...args));
const runJson = (app: App, ...args: string[]) => cliJson(dataDir, of(app, ...args));

async function touch(app: App, parameters: Record<string, string | number>): Promise<void> {
  const texts = Object.entries({ app_id: app.appId, ...parameters }).map(([name, value]) => [name, String(value)]);
  const answer = await server.get("/event_center/api/v1/event/click/", Object.fromEntries(texts));
  expect(answer.code).toBe(0);
}

const device = (oaid: string) => ({ device_info: { os_name: "android", oaid } });

describe("rules", () => {
  const DEFAULTS = {
    click_window: "7d",
    ip_ua_window: "1d",
    impression_window: "1d",
    impressions: "off",
    min_gap: "0",
    flagged_may_win: "on",
    flood_per_address: "200",
    flood_per_device: "30",
    short_gap: "10s",
    datacentres: "",
    reattribution: "off",
    reclick_days: "30",
    reflux_days: "90",
  };
  const CHANGED = {
    click_window: "14d",
    ip_ua_window: "90m",
    impression_window: "2h",
    impressions: "on",
    min_gap: "5s",
    flagged_may_win: "off",
    flood_per_address: "0",
    flood_per_device: "7",
    short_gap: "0",
    datacentres: "203.0.113.0/24,2001:db8::/32",
    reattribution: "on",
    reclick_days: "1",
    reflux_days: "2",
  };
  const optionsOf = (rules: Record<string, string>) =>
    Object.entries(rules).flatMap(([name, value]) => [`--${name.replaceAll("_", "-")}`, value]);

  test("show prints the defaults of an app without settings", async () => {
    const app = await server.createApp();
    expect(await runJson(app, "rules", "show")).toEqual([{ ad_platform: "(all)", ...DEFAULTS }]);
    expect((await run(app, "rules", "show")).stdout).toMatch(/click_window.*\n\(all\) +7d/);
  });

  test("set changes each rule and keeps the others, and --reset clears earlier ones", async () => {
    const app = await server.createApp();
    const set = async (...args: string[]) => (await runJson(app, "rules", "set", ...args))[0];
    expect(await set(...optionsOf(CHANGED))).toEqual({ ad_platform: "(all)", ...CHANGED });
    expect(await set("--click-window", "3d")).toEqual({ ad_platform: "(all)", ...CHANGED, click_window: "3d" });
    expect(await set("--reset", "--min-gap", "1m")).toEqual({ ad_platform: "(all)", ...DEFAULTS, min_gap: "1m" });
    expect(await set("--reset")).toEqual({ ad_platform: "(all)", ...DEFAULTS });
    expect(await runJson(await server.createApp(), "rules", "show"), "another app").toMatchObject([DEFAULTS]);
  });

  test("--platform sets rules of one platform that override the app's", async () => {
    const app = await server.createApp();
    await runJson(app, "rules", "set", "--click-window", "3d", "--short-gap", "0");
    const shown = await runJson(app, "rules", "set", "--platform", "gdt", "--click-window", "1d");
    expect(shown).toEqual([
      { ad_platform: "(all)", ...DEFAULTS, click_window: "3d", short_gap: "0" },
      { ad_platform: "tencent", ...DEFAULTS, click_window: "1d", short_gap: "0" },
    ]);
    expect(await runJson(app, "rules", "show")).toEqual(shown);
  });

  test("a bad value is named in one sentence, and nothing changes", async () => {
    const app = await server.createApp();
    const refused: [string[], RegExp][] = [
      [["--click-window", "7"], /click_window must be a duration/],
      [["--click-window", "91d"], /click_window.*at most 90d/],
      [["--impressions", "yes"], /impressions must be on or off/],
      [["--flood-per-device", "-1"], /flood_per_device must be a whole number/],
      [["--reclick-days", "1.5"], /reclick_days must be a whole number/],
      [["--datacentres", "10.0.0.0/8,nowhere"], /datacentres: "nowhere"/],
      [["--min-gap", "5s", "--platform", "vivo", "--reattribution", "on"], /reattribution is set for the whole app/],
      [["--akey", "k"], /^akey needs ad_platform baidu/],
      [["--akey", "k", "--platform", "vivo"], /^akey needs ad_platform baidu/],
    ];
    for (const [args, sentence] of refused) expectFailure(await run(app, "rules", "set", ...args), sentence);
    expectWrongArguments(await run(app, "rules", "set", "--platform", "natural"), /--platform/);
    expectWrongArguments(await run(app, "rules", "set", "--window", "3d"), /--window/);
    expectFailure(await run({ appId: 999_999_999 } as App, "rules", "show"), /no app/);
    expect(await runJson(app, "rules", "show")).toEqual([{ ad_platform: "(all)", ...DEFAULTS }]);
  });

  test("the next decision follows the new rules", async () => {
    const app = await server.createApp();
    await touch(app, { company: "vivo", oaid: "o", ts: Date.now() - 2 * DAY_MS });
    await runJson(app, "rules", "set", "--platform", "vivo", "--click-window", "1d");
    await server.register(app, "narrow", device("o"));
    await server.settle();
    await runJson(app, "rules", "set", "--platform", "vivo", "--reset");
    await server.register(app, "wide", device("o"));
    await server.settle();
    expect(await runJson(app, "why", "narrow")).toMatchObject({ verdict: "organic" });
    expect(await runJson(app, "why", "wide")).toMatchObject({ verdict: "attributed" });
  });
});

describe("why, what-if, fraud and the ledger of touches", () => {
  let app: App;
  const campaign = "campaign-0000001";

  /**
   * "old" was brought 2 days ago, "young" an hour ago, "nobody" is organic, "key" was brought by a click key that beat a
   * device id.
   */
  beforeAll(async () => {
    app = await server.createApp();
    await touch(app, { company: "vivo", oaid: "old", aid: "7", track_id: campaign, ts: Date.now() - 2 * DAY_MS });
    for (const oaid of ["young", "key"]) await touch(app, { company: "vivo", oaid, ts: Date.now() - HOUR_MS });
    await touch(app, { company: "oppo", oaid: "old", ts: Date.now() - 8 * DAY_MS });
    await touch(app, { company: "tencent", click_id: "vid", ts: Date.now() - 3 * HOUR_MS });
    await touch(app, { company: "tencent", click_id: "vid" });
    for (const client of ["old", "young"]) await server.register(app, client, device(client));
    await server.register(app, "key", { ...device("key"), ad_data: { gdt_vid: "vid" } });
    await server.register(app, "nobody");
    const $pay = (id: string, $pay_amount: number) => ({ $order_id: id, $pay_amount, $pay_type: "CNY" });
    const paid = (id: string, cents: number) => ({ type: "track", event: "$PayEvent", properties: $pay(id, cents) });
    await server.collect(app, "old", [{ ...paid("a", 600), time: Date.now() }]);
    await server.collect(app, "young", [{ ...paid("b", 50), time: Date.now() }]);
    await server.settle();
  });

  test("why says which touch won, and why each other one lost", async () => {
    const why = await runJson(app, "why", "old");
    expect(why).toMatchObject({
      client_id: "old",
      verdict: "attributed",
      method: "device_id",
      platform: "vivo",
      number: 1,
      flags: [],
      touch: { platform: "vivo", kind: "click", campaign, aid: "7", matched_by: "device_id", outcome: "won" },
    });
    expect(why.candidates).toMatchObject(
      [
        { platform: "vivo", matched_by: "device_id", matches: "device_id (oaid)", window: "7d", outcome: "won" },
        { platform: "oppo", matched_by: "device_id", outcome: "outside_window", reason: /8d.*window of 7d/ },
      ].map(({ reason, ...one }) => (reason ? { ...one, reason: expect.stringMatching(reason) } : one)),
    );
    for (const candidate of why.candidates) {
      expect(candidate.touch_id).toMatch(/^[0-9a-f]{32}$/);
      expect(candidate.touched_at).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
      expect(candidate.kind).toBe("click");
    }
    expect((await runJson(app, "why", "key")).candidates).toMatchObject([
      { platform: "tencent", matched_by: "click_key", outcome: "won" },
      { platform: "vivo", matched_by: "device_id", outcome: "earlier_method_won" },
    ]);
  });

  test("why is readable for attributed and organic users, and for one that does not exist", async () => {
    const attributed = (await run(app, "why", "old")).stdout;
    expect(attributed).toMatch(
      /^Registered at [\d-]+ [\d:]+\. Known by: .*oaid.*\nAttributed to vivo by device_id\.\n/,
    );
    expect(attributed).toMatch(
      /\n→ .* vivo click .*: won\. This click counts: it came 2d before, within the window of 7d/,
    );
    expect(attributed).toMatch(
      /\n {2}.* oppo click .*: outside_window\. It came 8d before, outside the window of 7d\./,
    );
    const organic = (await run(app, "why", "nobody")).stdout;
    expect(organic).toContain("Organic: no touch counted.\nNo stored touch shares a key with the user.");
    expect(await runJson(app, "why", "nobody")).toMatchObject({
      client_id: "nobody",
      verdict: "organic",
      method: "",
      touch: null,
      candidates: [],
    });
    expectFailure(await run(app, "why", "stranger"), /has no user "stranger"/);
    expectFailure(await run({ appId: 999_999_999 } as App, "why", "old"), /no app/);
    expectWrongArguments(await run(app, "why"), /client/);
  });

  test("what-if moves users and revenue under a narrower window, and changes nothing", async () => {
    const days = someDays();
    const before = await runJson(app, "why", "old");
    const none = { gained: 0, lost: 0 };
    expect(await runJson(app, "what-if", ...days, "--click-window", "1d")).toEqual({
      decisions: 4,
      moved: 1,
      moved_revenue_cents: 600,
      rows: [
        {
          ad_platform: "natural",
          campaign: "",
          users: 1,
          users_then: 2,
          gained: 1,
          lost: 0,
          revenue_cents: 0,
          revenue_then_cents: 600,
        },
        {
          ad_platform: "tencent",
          campaign: "",
          users: 1,
          users_then: 1,
          ...none,
          revenue_cents: 0,
          revenue_then_cents: 0,
        },
        {
          ad_platform: "vivo",
          campaign: "",
          users: 1,
          users_then: 1,
          ...none,
          revenue_cents: 50,
          revenue_then_cents: 50,
        },
        {
          ad_platform: "vivo",
          campaign,
          users: 1,
          users_then: 0,
          gained: 0,
          lost: 1,
          revenue_cents: 600,
          revenue_then_cents: 0,
        },
      ],
    });
    expect(await runJson(app, "what-if", ...days, "--click-window", "7d")).toMatchObject({ decisions: 4, moved: 0 });
    // A wider window moves nobody here: the older touch loses to the later one.
    expect(await runJson(app, "what-if", ...days, "--click-window", "20d")).toMatchObject({ moved: 0 });
    expect(await runJson(app, "what-if", ...days, "--min-gap", "2h")).toMatchObject({
      moved: 1,
      moved_revenue_cents: 50,
    });
    const empty = ["--from", "2020-01-01", "--to", "2020-01-31"];
    expect(await runJson(app, "what-if", ...empty, "--click-window", "1d")).toMatchObject({ decisions: 0, rows: [] });
    const { stdout } = await run(app, "what-if", ...days, "--click-window", "1d");
    expect(stdout).toContain("1 of 4 users and 600 cents of revenue would move.");
    expect([await runJson(app, "why", "old"), (await runJson(app, "rules", "show")).length]).toEqual([before, 1]);
  });

  test("what-if requires a rule and days", async () => {
    const days = someDays();
    expectFailure(await run(app, "what-if", ...days), /at least one rule/);
    expectFailure(await run(app, "what-if", ...days, "--click-window", "soon"), /click_window/);
    expectWrongArguments(await run(app, "what-if", "--from", "2026-02-30", "--to", "2026-03-01"), /--from/);
    expectWrongArguments(await run(app, "what-if", "--click-window", "1d"), /--from/);
  });

  test("fraud finds flagged touches, and devices shared by more than five clients", async () => {
    const own = await server.createApp();
    for (let number = 0; number < 6; number += 1) await server.register(own, `shared-${number}`, device("shared"));
    await touch(own, { company: "vivo", oaid: "fast" });
    await server.register(own, "fast", device("fast"));
    await server.settle();
    const days = someDays();
    expect(await runJson(own, "fraud", ...days)).toEqual({
      flags: [{ flag: "short_gap", ad_platform: "vivo", users: 1 }],
      even_gaps: [],
      many_clients: [{ clients: 6, client_ids: Array.from({ length: 6 }, (_, number) => `shared-${number}`) }],
    });
    expect((await run(own, "fraud", ...days)).stdout).toMatch(
      /^flags\n.*\nshort_gap.*\n\neven_gaps\n\(none\)\n\nmany_clients\n/,
    );
    expect(await runJson(own, "why", "shared-1")).toMatchObject({ verdict: "organic", flags: ["many_clients"] });
    expect((await run(own, "why", "fast")).stdout).toContain("[short_gap]");
  });

  test("fraud finds ads whose users register too regularly, from 30 users on", async () => {
    const own = await server.createApp();
    const bring = async (client: string) => {
      await touch(own, { company: "vivo", oaid: client, aid: "robots", ts: Date.now() - HOUR_MS });
      await server.register(own, client, device(client));
    };
    for (let number = 1; number < 30; number += 1) await bring(`robot-${number}`);
    const evenGaps = async () => {
      await server.settle();
      return (await runJson(own, "fraud", ...someDays())).even_gaps;
    };
    expect(await evenGaps()).toEqual([]);
    await bring("robot-30");
    expect(await evenGaps()).toEqual([
      { ad_platform: "vivo", aid: "robots", users: 30, mean_s: expect.closeTo(3_600, -2) },
    ]);
    expect(await runJson(own, "why", "robot-7")).toMatchObject({ verdict: "attributed", flags: ["even_gaps"] });
    expect((await run(own, "why", "robot-7")).stdout).toMatch(/30 users of the same ad .* 36\d\d s .*\[even_gaps\]/);
  });

  test("ledger --touches counts link calls, and the ledger of events does not", async () => {
    const sum = (minutes: any[], name: string) => minutes.reduce((total, minute) => total + minute[name], 0);
    const minutes = await runJson(app, "ledger", "--touches");
    expect(["received", "stored", "duplicate"].map((name) => sum(minutes, name))).toEqual([6, 5, 1]);
    for (const minute of minutes) expect(minute).toMatchObject({ minute: expect.stringMatching(/Z$/), rejected: {} });
    expect(sum(await runJson(app, "ledger"), "received")).toBe(2);
    expect((await run(app, "ledger", "--touches")).stdout).toMatch(/\ntotal +6 +5 +1 +0/);
  });
});

test("admin token prints the same token every time, and the server accepts it", async () => {
  const { admin_token } = await cliJson(dataDir, ["admin", "token"]);
  expect(await cli(dataDir, ["admin", "token"])).toMatchObject({ code: 0, stdout: `${admin_token}\n`, stderr: "" });
  expect(admin_token).toMatch(/^[0-9a-f]{32,}$/);
  const app = await server.createApp();
  const url = `${server.url}/admin/api/v1/campaigns?app_id=${app.appId}`;
  const answer = await fetch(url, { headers: { authorization: `Bearer ${admin_token}` } });
  expect(await answer.json()).toMatchObject({ code: 0, data: { campaigns: [] } });
});
