import { createCipheriv } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import type { App } from "../../src/db/app.ts";
import { PROFILE_OPERATIONS } from "../../src/domain/event/profile.ts";
import { cliJson } from "../cli/run.ts";
import type { Answer, Touchpoint } from "../support/touchpoint.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/**
 * Sends everything that a journal can hold: every kind of entry, every profile operation, every outcome of the ledger. It is
 * sent in many small batches, so that a replay, which takes all of it at once, has every chance to differ.
 */
export async function sendEverything(server: Touchpoint): Promise<void> {
  const east = await server.createApp({ timeZone: "Asia/Shanghai" });
  const west = await server.createApp({ timeZone: "America/Los_Angeles" });
  const strict = await server.createApp({ metadataMode: "strict" });
  const loose = await server.createApp();
  await cliJson(server.dataDir, ["app", "set", String(east.appId), "--rate", "USD=7.12"]);
  await cliJson(server.dataDir, ["app", "set", String(loose.appId), "--require-registration", "off"]);
  await untilUnregisteredAreTaken(server, loose);
  for (const app of [east, west]) {
    await callLinks(server, app);
    await registerAll(server, app);
    await server.settle();
    await callLateLinks(server, app);
    await server.settle();
    await collectAll(server, app);
    await server.settle();
    await sendOlderKinds(server, app);
    await rename(server, app);
  }
  await taken(server.register(strict, "s"));
  await taken(server.collect(strict, "s", [track("undeclared_event"), track("$MPLogin", { other: 1, $scene: "x" })]));
  await taken(server.collect(loose, "never-registered", [track("early", { n: 1 }), pay("loose-1", 300)]));
  await taken(server.register(loose, "never-registered"));
  await taken(server.collect(loose, "never-registered", [track("late", { n: 2 })]));
}

/** Touches before the registrations that they bring. */
async function callLinks(server: Touchpoint, app: App): Promise<void> {
  const seconds = Math.floor(Date.now() / 1000);
  await link(server, app, `company=tencent&track_id=campaign-0000001&click_id=g-1&aid=71&ts=${seconds - 60}`);
  await link(server, app, `company=tencent&track_id=campaign-0000001&click_id=g-1&aid=71&ts=${seconds - 60}`);
  await link(server, app, `company=weibo&click_id=nobody&ts=${seconds - 9 * 86_400}`);
}

/** Touches after them: a click, an impression, and one older than every window. */
async function callLateLinks(server: Touchpoint, app: App): Promise<void> {
  const seconds = Math.floor(Date.now() / 1000);
  await link(server, app, `company=kuaishou&oaid=oaid-1&aid=72&ts=${seconds - 3_600}`);
  await link(server, app, `company=bilibili&oaid=oaid-1&aid=73&ts=${seconds - 60}`, "impression");
  await link(server, app, `company=baidu&wx_openid=open-1&aid=74&ts=${seconds - 20 * 86_400}`);
}

async function link(server: Touchpoint, app: App, query: string, kind = "click"): Promise<void> {
  const answer = await fetch(`${server.url}/event_center/api/v1/event/${kind}/?app_id=${app.appId}&${query}`);
  expect(((await answer.json()) as Answer).code).toBe(0);
}

async function registerAll(server: Touchpoint, app: App): Promise<void> {
  await taken(server.register(app, "plain", { wx_openid: "open-1" }));
  await taken(server.register(app, "plain", { name: "Second", version: 2, wx_unionid: "union-1" }));
  await taken(server.register(app, "tencent", { ad_data: { gdt_vid: "g-1", weixinadinfo: "1.2.3.4" } }));
  await taken(server.register(app, "kuaishou", { ad_data: { callback: "cb", ksCampaignId: "7", ksUnitId: "8" } }));
  await taken(
    server.register(app, "bytedance", { client_ip: "114.114.114.114", ad_data: { clue_token: "t", ad_id: "9" } }),
  );
  await taken(server.post("user/register/attributed/", app, attributed("reported", "bytedance")));
  await taken(server.post("user/register/attributed/", app, { ...attributed("organic", ""), click_time: "" }));
  const history = { create_time: Date.now() - 400 * DAY_MS, company: "kuaishou" };
  const initialization = { client_id: "moved", name: "m", channel: "c", version: 1, history_info: history };
  await taken(server.post("user/initialize/", app, initialization));
  const device = { os_name: "android", oaid: "oaid-1", imei: "00000", android_id: "a-1", mac: "", api_version: 33 };
  const query = { client_id: "plain" };
  await taken(server.post("user/device_info/", app, { data: encrypted(device, app.aesKey) }, { query }));
  await taken(
    server.post(
      "user/device_info/",
      app,
      { data: { os_name: "ios", idfa: "idfa-1" } },
      { query: { client_id: "tencent" } },
    ),
  );
  await taken(server.post("user/update_data/", app, { click_id: "late-click", wx_openid: "open-2" }, { query }));
}

/** Enough to be stored apart from the events that have it in common. */
const PHONE = { $os: "iOS 17", $device_id: "0123456789abcdef".repeat(8) };

async function collectAll(server: Touchpoint, app: App): Promise<void> {
  const profile = PROFILE_OPERATIONS.flatMap((operation) => [
    { type: "profile", event: operation, time: Date.now(), properties: { level: 5, best: 7, tags: ["a"], note: "x" } },
    { type: "profile", event: operation, time: Date.now() - 1, properties: { level: -2, best: 9, tags: ["a", "b"] } },
  ]).filter(({ event }) => event !== "profile_delete");
  await taken(server.collect(app, "plain", profile));
  await taken(server.collect(app, "tencent", [...profile, { ...profile[0], event: "profile_delete" }]));
  const mixed = [
    track("level_up", { level: 3, tags: ["x"], nested: { b: 1, a: [1, 2] } }),
    track("level_up", { level: 3 }, Date.now() - 8 * DAY_MS),
    { ...track("ancient", {}, Date.UTC(2019, 1, 28)), time_free: true },
    pay("order-1", 600),
    pay("order-2", 100, "USD"),
    pay("order-3", 100, "XAU"),
    track("$RefundEvent", { $order_id: "order-1", $pay_amount: 200 }),
    track("$RefundEvent", { $order_id: "unknown order" }),
    pay("", 50),
    track("$AdShow", { $ecpm: 12.345, $ad_type: "reward" }),
    track("$AdShow", { $ecpm: 0.1, $ad_type: "interstitial" }, Date.now() - 2 * DAY_MS),
    track("$AdShow", { $ad_type: "interstitial", $ad_unit_id: "unit" }, Date.now() - 2 * DAY_MS),
    track("$MPRegister", { ...PHONE }),
    track("level_up", { ...PHONE, level: 4 }),
    track("level_up", { ...PHONE, level: 2 }, Date.now() - 2 * DAY_MS),
    track("$BindThirdPlatform", { $ta_account_id: "ta", $ta_distinct_id: "td" }),
  ];
  const bad = [
    track("too_old", {}, Date.now() - 11 * DAY_MS),
    track("too_new", {}, Date.now() + 2 * HOUR_MS),
    track("bad name"),
    { ...track("x"), type: "other" },
    track("bad_time", {}, 17 as number),
    { ...track("x"), properties: "text" },
    track("bad_properties_left_out", { "1st": 1, long: "x".repeat(3_000), huge: 1e15, ok: true }),
  ];
  for (const clientId of ["plain", "reported", "moved"]) {
    await taken(server.collect(app, clientId, [...mixed, ...bad], { client_ip: "8.8.8.8" }));
    await sleep(20);
    // The same again, in another order and with new events in between.
    await taken(server.collect(app, clientId, [...mixed.toReversed(), track("level_up", { level: 4 })]));
  }
  await taken(
    server.post("eventv2/collect/", app, {
      client_id: "plain",
      type: "track",
      event_list: [{ ...track("v2"), type: undefined }],
    }),
  );
}

async function sendOlderKinds(server: Touchpoint, app: App): Promise<void> {
  const query = { client_id: "kuaishou" };
  const consumed = { event_type: "PAY", ts: Date.now() - HOUR_MS, amount: 900, real_amount: 800 };
  await taken(server.post("event/consumer_event/", app, consumed, { query }));
  await taken(server.post("event/consumer_event/", app, consumed, { query }));
  await taken(server.post("event/consumer_event/", app, { event_type: "START", ts: String(Date.now()) }, { query }));
  const handled = { event_type: "pay", trace_id: "handled-1", properties: { amount: 70 } };
  await taken(server.post("event/handle_event/", app, handled, { query }));
  await taken(server.post("event/handle_event/", app, handled, { query }));
  await taken(
    server.post(
      "event/handle_event/",
      app,
      { event_type: "activate", use_client_time: true, timestamp: Date.now() },
      { query },
    ),
  );
}

async function rename(server: Touchpoint, app: App): Promise<void> {
  const before = track("before_rename", { n: 1 });
  await taken(server.collect(app, "bytedance", [before, pay("renamed-order", 200)]));
  await taken(
    server.post("user/reset_client_id/", app, { new_client_id: "renamed" }, { query: { client_id: "bytedance" } }),
  );
  await taken(server.collect(app, "renamed", [before, track("after_rename"), pay("renamed-order", 200)]));
  await taken(server.register(app, "renamed", { name: "Renamed", version: 9 }));
}

function track(event: string, properties: object = {}, time = Date.now()) {
  return { type: "track", event, time, properties };
}

function pay(orderId: string, amount: number, currency = "CNY") {
  const order = orderId === "" ? {} : { $order_id: orderId };
  return track("$PayEvent", { $pay_amount: amount, $pay_type: currency, $pay_method: "wx", ...order });
}

function attributed(clientId: string, company: string) {
  return {
    client_id: clientId,
    name: "n",
    channel: "c",
    version: 3,
    turbo_promoted_object_id: "0123456789abcdef",
    active_time: Date.now() - 3 * DAY_MS,
    active_ip: "1.2.4.8",
    click_time: Date.now() - 3 * DAY_MS - 5 * HOUR_MS,
    click_ip: "",
    click_company: company,
    ad_data: { bytedance: { advertiser_id: "77", project_id: "88", promotion_id: "99", mid1: "m" } },
    os_type: "ios",
    device_info: { os_name: "ios", idfa: "idfa-2", mac: "" },
  };
}

function encrypted(device: object, aesKey: string): string {
  const key = Buffer.from(aesKey, "base64");
  const cipher = createCipheriv(`aes-${key.length * 8}-ecb`, key, null);
  return Buffer.concat([cipher.update(JSON.stringify(device)), cipher.final()]).toString("base64");
}

async function taken(asked: Promise<Answer>): Promise<void> {
  expect(await asked).toMatchObject({ status: 200, code: 0 });
}

async function untilUnregisteredAreTaken(server: Touchpoint, app: App): Promise<void> {
  await expect.poll(async () => (await server.collect(app, "probe", [track("probe")])).code).toBe(0);
}
