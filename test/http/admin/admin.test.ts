import { beforeAll, describe, expect, test } from "vitest";
import { fraudReport } from "../../../src/contract/admin/fraud.ts";
import { ruleSettings, whatIfAnswer } from "../../../src/contract/setting/attribution-rule.ts";
import type { App } from "../../../src/db/app.ts";
import { calendarOf } from "../../../src/domain/calendar.ts";
import { cliJson } from "../../cli/run.ts";
import { AdminCaller, adminTokenOf, dataOf } from "../../support/admin-caller.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { BASE, DAY_MS, HOUR_MS, type Row, Tables } from "../fixture.ts";

const server = sharedServer();
const tables = new Tables(server);
const admin = new AdminCaller(server);
const token = adminTokenOf(server);
const CAMPAIGN = "campaign-0000001";

const dayOf = (ms: number) => calendarOf("Asia/Shanghai").dayOf(ms);
/** Includes yesterday, in case midnight passes during the tests. */
const days = () => ({ from: dayOf(Date.now() - DAY_MS), to: dayOf(Date.now()) });
const cliDays = () => ["--from", days().from, "--to", days().to];

type Endpoint = { method: "GET" | "POST"; path: string; call: (appId: number) => Row };

/** Every endpoint, with a call that it answers with 0 for the app of `appWithUser`. */
const ENDPOINTS: readonly Endpoint[] = [
  { method: "GET", path: "campaigns", call: (app_id) => ({ app_id }) },
  { method: "POST", path: "campaigns/create", call: (app_id) => ({ app_id, name: "made" }) },
  {
    method: "POST",
    path: "campaigns/edit",
    call: (app_id) => ({ app_id, turbo_promoted_object_id: CAMPAIGN, name: "edited" }),
  },
  { method: "GET", path: "campaigns/links", call: (app_id) => ({ app_id, turbo_promoted_object_id: CAMPAIGN }) },
  { method: "GET", path: "attribution/rules", call: (app_id) => ({ app_id }) },
  { method: "POST", path: "attribution/rules", call: (app_id) => ({ app_id, rules: { click_window: "3d" } }) },
  { method: "GET", path: "attribution/why", call: (app_id) => ({ app_id, client_id: "u" }) },
  {
    method: "POST",
    path: "attribution/what-if",
    call: (app_id) => ({ app_id, ...days(), rules: { click_window: "1d" } }),
  },
  { method: "GET", path: "attribution/fraud", call: (app_id) => ({ app_id, ...days() }) },
];
const NAMES = ENDPOINTS.map((endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint] as const);

const ask = (
  { method, path }: { method: string; path: string },
  sent: Row | string,
  headers?: Record<string, string>,
) => new AdminCaller(server, headers).send(method, path, sent);

/** An app with a campaign, and a user brought by a click of two days ago. */
async function appWithUser(): Promise<App> {
  const app = await server.createApp();
  const made = { app_id: app.appId, turbo_promoted_object_id: CAMPAIGN, ad_platform: "vivo", channel: "c" };
  expect(await admin.post("campaigns/create", made)).toMatchObject({ code: 0 });
  const click = { app_id: String(app.appId), company: "vivo", oaid: "u", track_id: CAMPAIGN, aid: "7" };
  await server.get(`${BASE}/event/click/`, { ...click, ts: String(Date.now() - 2 * DAY_MS) });
  await server.get(`${BASE}/event/click/`, { ...click, company: "oppo", ts: String(Date.now() - 8 * DAY_MS) });
  await server.register(app, "u", { device_info: { os_name: "android", oaid: "u" } });
  await server.settle();
  return app;
}

const cliOf = (app: App, ...args: string[]) => cliJson(server.dataDir, [...args, "--app", String(app.appId)]);

describe("every endpoint", () => {
  let app: App;
  beforeAll(async () => {
    app = await appWithUser();
  });

  test.each(NAMES)("%s answers with the token, with and without a trailing slash", async (_, endpoint) => {
    const call = endpoint.call(app.appId);
    for (const path of [endpoint.path, `${endpoint.path}/`])
      expect(await ask({ ...endpoint, path }, call)).toMatchObject({ status: 200, code: 0, msg: "success", extra: {} });
    expect(await ask(endpoint, call, { authorization: token }), "without the word Bearer").toMatchObject({ code: 0 });
  });

  test.each(NAMES)("%s refuses every other token with 2002, and does nothing", async (_, endpoint) => {
    const before = await tables.query("select * from campaign where app_id = $1", [app.appId]);
    const wrong = ["", "Bearer ", `Bearer ${token}0`, `Bearer ${token.slice(1)}`, `Basic ${token}`];
    wrong.push(`Bearer ${token.replace(/^./, (first) => (first === "0" ? "1" : "0"))}`, `Bearer ${app.accessToken}`);
    for (const authorization of wrong) {
      const answer = await ask(endpoint, endpoint.call(app.appId), { authorization });
      expect(answer).toMatchObject({ status: 200, code: 2002, msg: expect.stringContaining("admin token"), data: {} });
    }
    expect(await ask(endpoint, endpoint.call(app.appId), {})).toMatchObject({ status: 200, code: 2002 });
    expect(await tables.query("select * from campaign where app_id = $1", [app.appId])).toEqual(before);
  });

  test.each(NAMES)("%s checks the token before anything else", async (_, endpoint) => {
    expect(await ask(endpoint, endpoint.method === "GET" ? {} : "{", {})).toMatchObject({ status: 200, code: 2002 });
  });

  test.each(NAMES)("%s answers 2001 for an app that does not exist, and 1004 if none is named", async (_, endpoint) => {
    expect(await ask(endpoint, endpoint.call(999_999_999))).toMatchObject({ status: 200, code: 2001, data: {} });
    const { app_id: _app, ...rest } = endpoint.call(app.appId);
    const missing = await ask(endpoint, rest);
    expect(missing).toMatchObject({ status: 200, code: 1004, msg: expect.stringContaining("app_id"), data: {} });
    const bad = await ask(endpoint, { ...rest, app_id: "x" });
    expect(bad).toMatchObject({ status: 200, code: 1004, msg: expect.stringContaining("app_id"), data: {} });
  });

  test.each(NAMES)("%s refuses pages of other sites", async (_, endpoint) => {
    const headers = { authorization: `Bearer ${token}`, origin: "https://elsewhere.example" };
    const answer = await ask(endpoint, endpoint.call(app.appId), headers);
    expect(answer.headers.get("access-control-allow-origin")).toBeNull();
  });

  test.each(NAMES)("%s refuses another method with 405", async (_, endpoint) => {
    const answer = await ask({ ...endpoint, method: "PUT" }, endpoint.call(app.appId));
    expect(answer).toMatchObject({ status: 405, code: 1405, data: {} });
  });

  test("that does not exist is 404, with the envelope", async () => {
    expect(await admin.get("nothing", {})).toMatchObject({ status: 404, code: 1404, data: {} });
  });
});

describe("campaigns", () => {
  /** An app with a campaign that no test changes. */
  let kept: App;
  beforeAll(async () => {
    kept = await appWithUser();
  });

  test("are created, changed and listed as on the command line", async () => {
    const app = await server.createApp();
    const fields = { name: "夏", ad_platform: "tencent", channel: "c", os_platform: "ios", operator: "o", dept: "d" };
    const made = await admin.post("campaigns/create", { app_id: app.appId, ...fields, ad_platform: "gdt" });
    expect(made.data).toEqual({ turbo_promoted_object_id: expect.stringMatching(/^[a-z0-9]{16}$/), ...fields });
    const own = await admin.post("campaigns/create", { app_id: app.appId, turbo_promoted_object_id: CAMPAIGN });
    const { turbo_promoted_object_id } = made.data;
    const edit = { app_id: app.appId, turbo_promoted_object_id, channel: "", ad_platform: "", os_platform: "android" };
    const edited = await admin.post("campaigns/edit", edit);
    expect(edited.data).toEqual({ ...made.data, channel: "", ad_platform: "", os_platform: "android" });
    const { campaigns } = (await admin.get("campaigns", { app_id: app.appId })).data;
    expect(campaigns).toMatchObject([own.data, edited.data]);
    expect(await cliOf(app, "campaign", "list")).toEqual([edited.data, own.data]);
  });

  test("have the links of the command line, at the called address unless another is named", async () => {
    const query = { app_id: kept.appId, turbo_promoted_object_id: CAMPAIGN };
    const linksOf = async (more: Row = {}) => (await admin.get("campaigns/links", { ...query, ...more })).data.links;
    const cliLinks = (...args: string[]) => cliOf(kept, "campaign", "link", CAMPAIGN, ...args);
    expect(await linksOf()).toEqual(await cliLinks("--base-url", server.url));
    const base_url = "https://track.example.com/";
    const all = await linksOf({ ad_platform: "all", base_url });
    expect(all).toEqual(await cliLinks("--platform", "all", "--base-url", base_url));
    expect(all[0].url).toMatch(/^https:\/\/track\.example\.com\/event_center\//);
    expect(await linksOf({ ad_platform: "asa" })).toEqual([]);
    for (const wrong of ["track.example.com", "ftp://a", "https://a?b", "https://a b", "https://"])
      expect(await admin.get("campaigns/links", { ...query, base_url: wrong })).toMatchObject({
        code: 1004,
        msg: expect.stringMatching(/^base_url must be an address/),
      });
  });

  test.each<[string, string, Row, RegExp]>([
    ["an id of 15 characters", "create", { turbo_promoted_object_id: "012345678901234" }, /turbo_promoted_object_id/],
    ["an id that the app has", "create", { turbo_promoted_object_id: CAMPAIGN }, /already/],
    ["a value that is no platform", "create", { ad_platform: "natural" }, /ad_platform/],
    ["a platform that is no name", "edit", { turbo_promoted_object_id: CAMPAIGN, ad_platform: "a b" }, /ad_platform/],
    ["an unknown device type", "create", { os_platform: "windows" }, /os_platform/],
    ["a name that is a number", "create", { name: 5 }, /name/],
    ["a very long name", "create", { name: "n".repeat(201) }, /name/],
    ["no campaign", "edit", {}, /turbo_promoted_object_id/],
    ["a campaign that is not there", "edit", { turbo_promoted_object_id: "nothing" }, /no campaign/],
  ])("refused with 1004: %s", async (_, path, body, msg) => {
    const answer = await admin.post(`campaigns/${path}`, { app_id: kept.appId, ...body });
    expect(answer).toMatchObject({ status: 200, code: 1004, msg: expect.stringMatching(msg), data: {} });
    expect((await admin.get("campaigns", { app_id: kept.appId })).data.campaigns).toHaveLength(1);
  });

  test("of one app cannot be shown or changed through another", async () => {
    const other = await server.createApp();
    const key = { app_id: other.appId, turbo_promoted_object_id: CAMPAIGN };
    expect((await admin.get("campaigns", { app_id: other.appId })).data.campaigns).toEqual([]);
    expect(await admin.post("campaigns/edit", { ...key, name: "stolen" })).toMatchObject({ code: 1004 });
    expect(await admin.get("campaigns/links", key)).toMatchObject({ code: 1004 });
    expect(await cliOf(kept, "campaign", "list")).toMatchObject([{ name: "" }]);
  });
});

describe("rules", () => {
  /** An app without rules of its own. */
  let plain: App;
  beforeAll(async () => {
    plain = await server.createApp();
  });

  test("are set for the app and for a platform, and replace the earlier ones", async () => {
    const app = await server.createApp();
    const set = (rules: Row, ad_platform?: string) =>
      admin.post("attribution/rules", { app_id: app.appId, rules, ...(ad_platform !== undefined && { ad_platform }) });
    const shown = async () => (await admin.get("attribution/rules", { app_id: app.appId })).data;
    expect(await shown()).toMatchObject({ defaults: { click_window: "7d", impressions: "off" }, set: [] });
    expect((await set({ click_window: "3d", impressions: "on" })).data.set).toEqual([
      { ad_platform: "", rules: { click_window: "3d", impressions: "on" } },
    ]);
    await set({ min_gap: "5s" }, "gdt");
    expect((await set({ click_window: "2d" }, "")).data.set).toEqual([
      { ad_platform: "", rules: { click_window: "2d" } },
      { ad_platform: "tencent", rules: { min_gap: "5s" } },
    ]);
    expect(await cliOf(app, "rules", "show")).toMatchObject([
      { ad_platform: "(all)", click_window: "2d", impressions: "off", min_gap: "0" },
      { ad_platform: "tencent", click_window: "2d", min_gap: "5s" },
    ]);
  });

  test.each<[Row, RegExp]>([
    [{ rules: { click_window: "soon" } }, /click_window/],
    [{ rules: { window: "3d" } }, /"window" is not a rule/],
    [{ rules: { click_window: 3 } }, /rules/],
    [{ rules: { datacentres: "nowhere" } }, /nowhere/],
    [{ rules: { reattribution: "on" }, ad_platform: "vivo" }, /whole app/],
    [{ rules: {}, ad_platform: "natural" }, /ad_platform/],
    [{}, /rules/],
  ])("refused with 1004: %j", async (body, msg) => {
    const answer = await admin.post("attribution/rules", { app_id: plain.appId, ...body });
    expect(answer).toMatchObject({ status: 200, code: 1004, msg: expect.stringMatching(msg), data: {} });
    expect((await admin.get("attribution/rules", { app_id: plain.appId })).data.set).toEqual([]);
  });

  test("are described with their values, and with whether they can be tried or set for a platform", async () => {
    const { fields, defaults, ad_platforms } = dataOf(
      await admin.get("attribution/rules", { app_id: plain.appId }),
      ruleSettings,
    );
    expect(Object.keys(defaults).sort()).toEqual(fields.map(({ name }: Row) => name).sort());
    const field = (wanted: string) => fields.find(({ name }: Row) => name === wanted);
    expect(field("click_window")).toMatchObject({ takes: "duration", app_only: false, triable: true });
    expect(field("reattribution")).toMatchObject({ takes: "switch", app_only: true, triable: false });
    expect(ad_platforms).toEqual(expect.arrayContaining(["tencent", "bytedance", "vivo"]));
  });
});

describe("explanations", () => {
  let app: App;
  beforeAll(async () => {
    app = await appWithUser();
    const $PayEvent = { $order_id: "o", $pay_amount: 600, $pay_type: "CNY" };
    const event = { type: "track", event: "$PayEvent", time: Date.now() - HOUR_MS, properties: $PayEvent };
    expect((await server.collect(app, "u", [event])).code).toBe(0);
    for (let number = 0; number < 6; number += 1)
      await server.register(app, `s${number}`, { device_info: { os_name: "android", oaid: "shared" } });
    await server.settle();
  });

  test("why equals that of the command line", async () => {
    const { data } = await admin.get("attribution/why", { app_id: app.appId, client_id: "u" });
    expect(data).toEqual(await cliOf(app, "why", "u"));
    expect(data).toMatchObject({ verdict: "attributed", method: "device_id", touch: { aid: "7", campaign: CAMPAIGN } });
    expect(data.candidates.map((one: Row) => one.outcome)).toEqual(["won", "outside_window"]);
  });

  test("why answers 2000 for an unknown user", async () => {
    const answer = await admin.get("attribution/why", { app_id: app.appId, client_id: "stranger" });
    expect(answer).toMatchObject({ status: 200, code: 2000, data: {} });
    expect(await admin.get("attribution/why", { app_id: app.appId })).toMatchObject({
      code: 1004,
      msg: expect.stringContaining("client_id"),
    });
  });

  test("what-if equals that of the command line, and changes nothing", async () => {
    const before = await cliOf(app, "why", "u");
    const body = { app_id: app.appId, ...days(), rules: { click_window: "1d" } };
    const { data } = await admin.post("attribution/what-if", body);
    expect(data).toEqual(await cliOf(app, "what-if", ...cliDays(), "--click-window", "1d"));
    expect(data).toMatchObject({ decisions: 7, moved: 1, moved_revenue_cents: 600 });
    expect(await cliOf(app, "why", "u")).toEqual(before);
  });

  test("what-if of one setting leaves the others as they are", async () => {
    const own = await appWithUser();
    const set = (rules: Row, ad_platform = "") =>
      admin
        .post("attribution/rules", { app_id: own.appId, ad_platform, rules })
        .then(({ code }) => expect(code).toBe(0));
    const moved = async (rules: Row, ad_platform?: string) => {
      const body = { app_id: own.appId, ...days(), rules, ...(ad_platform !== undefined && { ad_platform }) };
      return dataOf(await admin.post("attribution/what-if", body), whatIfAnswer).moved;
    };
    // The click of vivo is two days old.
    expect([await moved({ click_window: "1d" }), await moved({ click_window: "1d" }, "")]).toEqual([1, 1]);
    expect([await moved({ click_window: "1d" }, "vivo"), await moved({ click_window: "1d" }, "oppo")]).toEqual([1, 0]);
    await set({ click_window: "3d" }, "vivo");
    expect(await moved({ click_window: "1d" }), "everywhere, whatever is set").toBe(1);
    expect(await moved({ click_window: "1d" }, ""), "vivo keeps its own").toBe(0);
    await set({ click_window: "1d" });
    expect(await moved({}, "vivo"), "without its own, that of the app holds").toBe(1);
    const bad = { app_id: own.appId, ...days(), rules: {} };
    expect(await admin.post("attribution/what-if", { ...bad, ad_platform: "a b" })).toMatchObject({ code: 1004 });
    const flags = { ...bad, rules: { flood_per_device: "1" }, ad_platform: "vivo" };
    expect(await admin.post("attribution/what-if", flags)).toMatchObject({
      code: 1004,
      msg: expect.stringMatching(/tried/),
    });
  });

  test("fraud equals that of the command line", async () => {
    const data = dataOf(await admin.get("attribution/fraud", { app_id: app.appId, ...days() }), fraudReport);
    expect(data).toEqual(await cliOf(app, "fraud", ...cliDays()));
    expect(data.many_clients).toMatchObject([{ clients: 6 }]);
  });

  test.each<[Row, RegExp]>([
    [{ from: "2026-02-30" }, /from/],
    [{ from: "yesterday" }, /from/],
    [{ to: "" }, /to/],
    [{ rules: { click_window: "1y" } }, /click_window/],
  ])("what-if refuses %j with 1004", async (change, msg) => {
    const body = { app_id: app.appId, ...days(), rules: { click_window: "1d" }, ...change };
    const answer = await admin.post("attribution/what-if", body);
    expect(answer).toMatchObject({ status: 200, code: 1004, msg: expect.stringMatching(msg), data: {} });
  });
});
