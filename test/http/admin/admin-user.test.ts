import { Value } from "typebox/value";
import { beforeAll, describe, expect, test } from "vitest";
import { erasure, TIMELINE_KINDS, timeline, userSearch, userView } from "../../../src/contract/admin/admin-user.ts";
import { explanation } from "../../../src/contract/admin/why.ts";
import type { App } from "../../../src/db/app.ts";
import { md5 } from "../../../src/domain/user/identity.ts";
import { AdminCaller } from "../../support/admin-caller.ts";
import { eventually } from "../../support/patience.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { attributedRegistration } from "../endpoints.ts";
import { BASE, DAY_MS, HOUR_MS, profile, type Row, Tables, track } from "../fixture.ts";
import { payment } from "../report/list-people.ts";

const server = sharedServer();
const admin = new AdminCaller(server);
const tables = new Tables(server);

const CAMPAIGN = "campaign-0000001";
const OAID = "1fe9a970-efbb-29e0-0bdd-f5dbbf751ab5";
const IMEI = "A6600000000001";
const NOW = Date.now();
/** The interval between steps of a timeline. */
const STEP_MS = 1_000;

let app: App;

async function click(query: Row): Promise<void> {
  const texts = Object.entries({ app_id: app.appId, track_id: CAMPAIGN, ...query }).map(([key, value]) => [
    key,
    String(value),
  ]);
  expect(await server.get(`${BASE}/event/click/`, Object.fromEntries(texts))).toMatchObject({ code: 0 });
}

/**
 * "u" came through the second of two clicks, paid twice and sent some events; "back" came back through a click; "other" is
 * unrelated.
 */
beforeAll(async () => {
  app = await server.createApp();
  await admin.post("campaigns/create", { app_id: app.appId, turbo_promoted_object_id: CAMPAIGN, name: "Summer" });
  await admin.post("advertiser/import", { csv: `ad_platform,advertiser_id,name\nvivo,acc-${app.appId},Account\n` });
  await admin.post("ad-object/import", { csv: `ad_platform,level,id,name\nvivo,ad,ad-${app.appId},The ad\n` });
  await admin.post("accounts/set", { app_id: app.appId, ad_platform: "vivo", postbacks: "on" });
  const rules = { reattribution: "on", reclick_days: "0", reflux_days: "1" };
  expect(await admin.post("attribution/rules", { app_id: app.appId, rules })).toMatchObject({ code: 0 });
  const ad = { company: "vivo", oaid: OAID, advertiser_id: `acc-${app.appId}`, aid: `ad-${app.appId}` };
  await click({ ...ad, ts: NOW - 2 * DAY_MS });
  await click({ ...ad, aid: "older", ts: NOW - 3 * DAY_MS });
  await click({ ...ad, company: "oppo", ts: NOW - 9 * DAY_MS });
  await server.register(app, "u", {
    wx_openid: "openid-u",
    wx_unionid: "unionid-u",
    name: "Ann",
    device_info: { os_name: "android", oaid: OAID, imei: IMEI, phone_model: "M2102" },
  });
  await server.collect(app, "u", [
    payment("order-1", 600, {}, NOW - 3 * HOUR_MS),
    payment("order-2", 1_200, {}, NOW - 2 * HOUR_MS),
    track("level_up", { level: 3 }, NOW - HOUR_MS),
    track("level_up", { level: 4 }, NOW - HOUR_MS),
    profile("profile_set", { guild: "red" }, NOW - HOUR_MS),
  ]);
  await server.post("user/register/attributed/", app, {
    ...attributedRegistration("back"),
    active_time: NOW - 40 * DAY_MS,
    click_time: NOW - 40 * DAY_MS,
    click_company: "",
    ad_data: {},
    device_info: { os_name: "ios", idfa: "6D92078A-8246-4BA4-AE5B-76104861E7DC" },
  });
  await click({ company: "vivo", idfa: "6D92078A-8246-4BA4-AE5B-76104861E7DC", ts: NOW - HOUR_MS });
  await server.register(app, "back", { ad_data: { gdt_vid: "vid-back" } });
  await server.register(app, "other", { device_info: { os_name: "android", oaid: OAID.replace("1f", "2f") } });
  await server.settle();
  // A postback changes once more when it is tried.
  const isTold = ({ status, attempts }: Row) => status !== 0 || attempts > 0;
  await eventually(async () => expect((await readAll(200, { kinds: "postback" })).every(isTold)).toBe(true));
});

const view = (client_id: string, app_id = app.appId) => admin.get("user", { app_id, client_id });
const read = (more: Row = {}, client_id = "u") => admin.get("user/timeline", { app_id: app.appId, client_id, ...more });

/** All pages of a timeline together, each checked against the contract. */
async function readAll(limit: number, more: Row = {}, client = "u"): Promise<Row[]> {
  const items: Row[] = [];
  for (let before: string | undefined; ; ) {
    const { data } = await read({ ...more, limit, ...(before && { before }) }, client);
    expect([...Value.Errors(timeline, data)]).toEqual([]);
    items.push(...data.items);
    if (data.next === null) return items;
    expect(data.items).toHaveLength(limit);
    before = data.next;
  }
}

describe("one user", () => {
  test("is shown with registration, source, device, properties and figures", async () => {
    const { data } = await view("u");
    expect([...Value.Errors(userView, data)]).toEqual([]);
    expect(data).toMatchObject({
      record: { ClientID: "u", Name: "Ann", AdPlatform: "vivo", user$pay_amount_sum: 1_800, user$pay_count: 2 },
      time_zone: "Asia/Shanghai",
      currency: "CNY",
      is_registered: true,
      is_history: false,
      wx_unionid: "unionid-u",
      os_platform: "android",
      source: {
        ad_platform: "vivo",
        method: "device_id",
        decision_number: 1,
        turbo_promoted_object_id: CAMPAIGN,
        campaign_name: "Summer",
        advertiser_name: "Account",
        aid_name: "The ad",
        gid_name: "",
      },
      device: { oaid: OAID, imei: IMEI, phone_model: "M2102", idfa: "" },
      properties: { guild: "red" },
      counts: { track_events: 4, active_days: expect.any(Number), postbacks: expect.any(Array) },
    });
    expect(data.counts.postbacks.reduce((sum: number, count: number) => sum + count)).toBeGreaterThan(2);
  });

  test("without device, touch or events is shown too", async () => {
    await server.register(app, "bare");
    await server.settle();
    const { data } = await view("bare");
    expect([...Value.Errors(userView, data)]).toEqual([]);
    expect(data).toMatchObject({ device: null, latest_event_at: "", properties: {} });
    expect(data.source).toMatchObject({ ad_platform: "natural", method: "", touched_at: "", campaign_name: "" });
    const kinds = (await readAll(50, {}, "bare")).map(({ kind }) => kind).filter((kind) => kind !== "postback");
    expect(kinds).toEqual(["registration"]);
  });

  test.each(["user", "user/timeline", "attribution/why"])(
    "%s: an unknown client is answered with 2000",
    async (path) => {
      const ask = (query: Row) => admin.get(path, query);
      expect(await ask({ app_id: app.appId, client_id: "nobody" })).toMatchObject({ code: 2000, data: {} });
      expect(await ask({ app_id: 999_999_999, client_id: "u" })).toMatchObject({ code: 2001, data: {} });
      expect(await ask({ app_id: app.appId })).toMatchObject({ code: 1004, data: {} });
      expect(await ask({ app_id: app.appId, client_id: "x".repeat(129) })).toMatchObject({ code: 1004, data: {} });
      expect(await ask({ app_id: app.appId, client_id: "a\u0000b" })).toMatchObject({ code: 1004, data: {} });
      const elsewhere = await server.createApp();
      expect(await ask({ app_id: elsewhere.appId, client_id: "u" })).toMatchObject({ code: 2000, data: {} });
    },
  );
});

describe("the timeline", () => {
  test("holds everything that happened, newest first", async () => {
    const items = await readAll(200);
    const times = items.map((item) => item.at_ms);
    expect(times).toEqual([...times].sort((left, right) => right - left));
    // Events at the same instant are in the order of their fingerprints.
    const nameOf = ({ event, trace_id, aid }: Row) =>
      /^level_up|^profile_set/.test(event) ? "…" : (event ?? trace_id ?? aid);
    const shown = items.filter(({ kind }) => kind !== "postback").map((item) => [item.kind, nameOf(item)]);
    expect(shown).toEqual([
      ["registration", undefined],
      ...[1, 2, 3].map(() => ["event", "…"]),
      ["order", "order-2"],
      ["event", "$PayEvent"],
      ["order", "order-1"],
      ["event", "$PayEvent"],
      ["touch", `ad-${app.appId}`],
      ["touch", "older"],
      ["touch", `ad-${app.appId}`],
    ]);
    const touches = items.filter(({ kind }) => kind === "touch");
    expect(touches.map(({ outcome, touch_kind }) => [outcome, touch_kind])).toEqual([
      ["won", "click"],
      ["later_touch_won", "click"],
      ["outside_window", "click"],
    ]);
    expect(items.find(({ trace_id, kind }) => kind === "order" && trace_id === "order-2")).toMatchObject({
      cents: 1_200,
      pay_count: 2,
      at_ms: NOW - 2 * HOUR_MS,
      properties: { $pay_amount: 1_200 },
    });
    const told = items.filter(({ kind }) => kind === "postback");
    expect(told.map(({ event_type }) => event_type)).toEqual(expect.arrayContaining(["activate", "register", "pay"]));
    expect(told[0]).toMatchObject({ ad_platform: "vivo", attempts: expect.any(Number), reason: expect.any(String) });
  });

  test("has every entry on exactly one page, whatever the page size", async () => {
    const whole = await readAll(200);
    expect(whole.length).toBeGreaterThan(12);
    for (const limit of [1, 2, 3, 7, whole.length - 1, whole.length]) expect(await readAll(limit)).toEqual(whole);
  });

  test("can be filtered by kinds, and by the name of an event", async () => {
    const whole = await readAll(200);
    for (const kind of TIMELINE_KINDS) {
      expect(await readAll(2, { kinds: kind })).toEqual(whole.filter((item) => item.kind === kind));
    }
    const both = await readAll(3, { kinds: "order,touch" });
    expect(both).toEqual(whole.filter(({ kind }) => kind === "order" || kind === "touch"));
    const named = await readAll(1, { event: "level_up" });
    expect(named.map(({ properties }) => properties.level).sort()).toEqual([3, 4]);
    for (const event of ["never", "what no table\u0000can hold"]) {
      expect((await read({ event })).data).toEqual({ items: [], next: null });
    }
  });

  test("shows a re-attributed return, and the touch that won it", async () => {
    const items = await readAll(50, {}, "back");
    expect(items.map(({ kind }) => kind).filter((kind) => kind !== "postback")).toEqual([
      ...["return", "touch", "registration"],
    ]);
    expect(items.find(({ kind }) => kind === "return")).toMatchObject({ ad_platform: "vivo", number: 2 });
    expect(items.find(({ kind }) => kind === "registration")).toMatchObject({ ad_platform: "", method: "reported" });
    expect(items.find(({ kind }) => kind === "touch")).toMatchObject({ outcome: "won" });
  });

  test("shows later touches of the same device, which no decision considered", async () => {
    await click({ company: "vivo", oaid: OAID.replace("1f", "2f"), ts: Date.now() + 2 * STEP_MS });
    await server.settle();
    expect(await readAll(10, { kinds: "touch" }, "other")).toMatchObject([{ outcome: "", flags: [] }]);
  });

  test("pages through thousands of events, of one instant and of many days", async () => {
    await server.register(app, "busy");
    const many = Array.from({ length: 250 }, (_, index) => track("tap", { index }, NOW - HOUR_MS));
    const old = [1, 5, 9, 40, 200].map((days) => ({ ...track("old", { days }, NOW - days * DAY_MS), time_free: true }));
    await server.collect(app, "busy", [...many, ...old]);
    await server.settle();
    const events = await readAll(60, { kinds: "event" }, "busy");
    expect(new Set(events.map(({ id }) => id)).size).toBe(255);
    expect(events.slice(250).map(({ properties }) => properties.days)).toEqual([1, 5, 9, 40, 200]);
    expect(await readAll(2, { event: "old" }, "busy")).toHaveLength(5);
    const stored = await tables.query("select count(*)::int as n from event where client_id = 'busy' and app_id = $1", [
      app.appId,
    ]);
    expect(stored).toEqual([{ n: 255 }]);
  });

  test.each<[string, Row, RegExp]>([
    ["a kind that does not exist", { kinds: "order,visit" }, /"visit"/],
    ["a limit of 0", { limit: 0 }, /limit/],
    ["a limit over 200", { limit: 201 }, /limit/],
    ["a limit that is no number", { limit: "ten" }, /limit/],
    ["an invalid position", { before: "there" }, /before/],
    ["a position without a key", { before: positionText([NOW, "event"]) }, /before/],
    ["a key that is no fingerprint", { before: positionText([NOW, "event", "x"]) }, /before/],
    ["a position of another kind", { before: positionText([NOW, "visit", "x"]) }, /before/],
    ["an invalid time", { before: positionText(["now", "order", "x"]) }, /before/],
    ["a key that no table can hold", { before: positionText([NOW, "order", "a\u0000"]) }, /before/],
    ["an empty name", { event: "" }, /event/],
  ])("refuses %s", async (_, query, msg) => {
    expect(await read(query)).toMatchObject({ status: 200, code: 1004, msg: expect.stringMatching(msg), data: {} });
  });
});

function positionText(parts: unknown[]): string {
  return Buffer.from(JSON.stringify(parts)).toString("base64url");
}

describe("users are found", () => {
  const search = async (q: string) => {
    const { data } = await admin.get("user/search", { app_id: app.appId, q });
    expect([...Value.Errors(userSearch, data)]).toEqual([]);
    return data.users as Row[];
  };

  test.each<[string, () => string, string]>([
    ["their client id", () => "u", "client_id"],
    ["an open id", () => "openid-u", "wx_openid"],
    ["a union id", () => "unionid-u", "wx_unionid"],
    ["an order", () => "order-2", "order_id"],
    ["an oaid", () => OAID, "oaid"],
    ["the md5 of an oaid", () => md5(OAID), "oaid"],
    ["an imei, however it is written", () => IMEI.toLowerCase(), "imei"],
    ["an id with spaces around it", () => `  ${OAID} `, "oaid"],
  ])("by %s", async (_, q, by) => {
    const [found, ...others] = await search(q());
    expect(found).toMatchObject({ client_id: "u", found_by: [by], name: "Ann", ad_platform: "vivo", pay_cents: 1_800 });
    expect(others).toEqual([]);
  });

  test("by the click id that they came with", async () => {
    expect(await search("vid-back")).toMatchObject([{ client_id: "back", found_by: ["click_key"] }]);
  });

  test("by the beginning of their client id, at most 20 of them", async () => {
    for (let index = 0; index < 25; index += 1) await server.register(app, `many_%${index + 100}`);
    await server.settle();
    const found = await search("many_%");
    expect(found).toHaveLength(20);
    expect(found[0]).toMatchObject({ client_id: "many_%100", found_by: ["client_id_prefix"] });
    expect(await search("many_%124")).toMatchObject([{ client_id: "many_%124", found_by: ["client_id"] }]);
    for (const q of ["many__", "many\u0000"]) expect(await search(q)).toEqual([]);
  });

  test("only in their own app", async () => {
    const other = await server.createApp();
    for (const q of ["u", OAID, "openid-u", "order-1"]) {
      expect((await admin.get("user/search", { app_id: other.appId, q })).data).toEqual({ users: [] });
    }
  });

  test.each<[string, Row]>([
    ["nothing to look for", { q: "" }],
    ["only spaces", { q: "   " }],
    ["too long an id", { q: "x".repeat(513) }],
    ["no app", { app_id: "" }],
  ])("not by %s", async (_, query) => {
    const answer = await admin.get("user/search", { app_id: app.appId, q: "u", ...query });
    expect(answer).toMatchObject({ status: 200, code: 1004, data: {} });
  });
});

describe("the explanation of a decision", () => {
  test("matches the contract, with the times and windows of every candidate", async () => {
    const { data } = await admin.get("attribution/why", { app_id: app.appId, client_id: "u" });
    expect([...Value.Errors(explanation, data)]).toEqual([]);
    expect(data).toMatchObject({ verdict: "attributed", method: "device_id", launch: null, reported: null });
    expect(data.candidates.map((one: Row) => [one.outcome, NOW - one.touched_at_ms, one.window_ms])).toEqual([
      ["won", 2 * DAY_MS, 7 * DAY_MS],
      ["later_touch_won", 3 * DAY_MS, 7 * DAY_MS],
      ["outside_window", 9 * DAY_MS, 7 * DAY_MS],
    ]);
    expect(data.at_ms - NOW).toBeGreaterThan(-1);
  });

  test("matches the contract for a reported user, a return, and a client without a decision", async () => {
    for (const client_id of ["back", "bare", "other"]) {
      const { data } = await admin.get("attribution/why", { app_id: app.appId, client_id });
      expect([...Value.Errors(explanation, data)], client_id).toEqual([]);
    }
  });
});

test("an erased user cannot be found by any id", async () => {
  const oaid = OAID.replace("1f", "3f");
  const ids = { wx_openid: "openid-gone", wx_unionid: "unionid-gone", device_info: { os_name: "android", oaid } };
  expect(await server.register(app, "gone", ids)).toMatchObject({ code: 0 });
  await server.collect(app, "gone", [payment("order-gone", 1)]);
  await server.settle();
  const answer = await admin.post("users/erase", { app_id: app.appId, client_id: "gone" });
  expect([...Value.Errors(erasure, answer.data)]).toEqual([]);
  expect(answer.data).toEqual({ client_id: "gone", state: "erased" });
  for (const q of ["gone", "openid-gone", "unionid-gone", "order-gone", oaid]) {
    expect((await admin.get("user/search", { app_id: app.appId, q })).data).toEqual({ users: [] });
  }
  expect(await view("gone")).toMatchObject({ code: 2000 });
});
