import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { type Platforms, startPlatforms } from "../../sim/platforms/platforms.ts";
import type { StandIn } from "../../sim/platforms/stand-in.ts";
import { startTencent, type TencentStandIn } from "../../sim/platforms/tencent.ts";
import type { Tokens } from "../../sim/platforms/tokens.ts";
import { testPostback } from "../../src/admin/operation/postback-tests.ts";
import type { PostbackTest } from "../../src/contract/admin/postback-test.ts";
import { storeMediaToken } from "../../src/db/media-token.ts";
import { md5 } from "../../src/domain/user/identity.ts";
import { TestDesk } from "../../src/postback/test-desk.ts";
import { DAY_MS, HOUR_MS, NOW_MS, pay, track } from "../db/apply-stage.ts";
import { vault } from "../db/temp-database.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { PostbackStage } from "./postback-stage.ts";

let stage: PostbackStage;
let platforms: Platforms;
let openTencent: TencentStandIn;
beforeAll(async () => {
  stage = await PostbackStage.open();
  const clock = stage.clock;
  platforms = await startPlatforms({ clock });
  openTencent = await startTencent({ clock, callbacks: "open" });
});
beforeEach(() => stage.begin());
afterAll(async () => {
  await stage.close();
  await openTencent.close();
  await platforms.close();
});

const OAID = "1fe9a970-efbb-29e0-0bdd-f5dbbf751ab5";
const PAID_CENTS = 648;

type Told = [code: string, cents: number | null];
/** What a platform must get for an activation, a registration, a payment and the next day; undefined for nothing. */
type Heard = { activate: Told; register: Told; pay: Told; twice: Told | undefined };

type Case = {
  name: string;
  platform: string;
  standIn: () => StandIn;
  settings: () => Record<string, string>;
  secrets?: () => Record<string, string>;
  /** Parameters of the click, by our names. */
  click: () => Record<string, string>;
  /** The launch query; without one, the device ties the user to the click. */
  launch?: Record<string, string>;
  key: string;
  /** Whole seconds, the exact instant, or no time sent to the platform. */
  time: "s" | "ms" | "told";
  heard: Heard;
};

const plain = (codes: [string, string, string, string], cents: number | null = PAID_CENTS): Heard => ({
  activate: [codes[0], null],
  register: [codes[1], null],
  pay: [codes[2], cents],
  twice: [codes[3], null],
});

const CASES: readonly Case[] = [
  {
    name: "Tencent by the delivered callback",
    platform: "tencent",
    key: "cb-1",
    time: "s",
    standIn: () => openTencent,
    settings: () => ({ callback_hosts: "127.0.0.1" }),
    click: () => ({ oaid: OAID, callback: openTencent.callbackUrl("cb-1"), click_id: "c-1" }),
    heard: plain(["ACTIVATE_APP", "REGISTER", "PURCHASE", "START_APP"]),
  },
  {
    name: "Tencent by click id",
    platform: "tencent",
    key: "c-1",
    time: "s",
    standIn: () => platforms.tencent,
    settings: () => ({ url: `${platforms.tencent.url}/v3.0/user_actions/add`, wechat_app_id: "wx1" }),
    secrets: () => ({ access_token: renewed(platforms.tencent.tokens) }),
    click: () => ({ oaid: OAID, click_id: "c-1" }),
    heard: plain(["ACTIVATE_APP", "REGISTER", "PURCHASE", "START_APP"]),
  },
  {
    name: "Tencent by WeChat's interface",
    platform: "tencent",
    key: "g-1",
    time: "s",
    standIn: () => platforms.tencent,
    settings: () => ({
      wechat_url: `${platforms.tencent.url}/marketing/user_actions/add`,
      user_action_set_id: "1106060482",
      page: "https://game.example/",
    }),
    click: () => ({ click_id: "other" }),
    launch: { gdt_vid: "g-1" },
    heard: plain(["ACTIVATE_APP", "REGISTER", "PURCHASE", "START_APP"]),
  },
  {
    name: "Kuaishou by a whole callback",
    platform: "kuaishou",
    key: "ks-1",
    time: "ms",
    standIn: () => platforms.kuaishou,
    settings: () => ({ callback_hosts: "127.0.0.1" }),
    click: () => ({ oaid: OAID, callback: platforms.kuaishou.callbackUrl("ks-1") }),
    heard: plain(["1", "2", "3", "7"]),
  },
  {
    name: "Kuaishou by a token",
    platform: "kuaishou",
    key: "ks-2",
    time: "ms",
    standIn: () => platforms.kuaishou,
    settings: () => ({ url: `${platforms.kuaishou.url}/track/activate` }),
    click: () => ({ oaid: OAID, callback: "ks-2" }),
    heard: plain(["1", "2", "3", "7"]),
  },
  {
    name: "Ocean Engine v2",
    platform: "bytedance",
    key: "oe-1",
    time: "ms",
    standIn: () => platforms.bytedance,
    settings: () => ({ url: `${platforms.bytedance.url}/api/v2/conversion` }),
    click: () => ({ oaid: OAID, callback: "oe-1" }),
    heard: plain(["active", "active_register", "active_pay", "next_day_open"]),
  },
  {
    name: "Ocean Engine v1",
    platform: "bytedance",
    key: "oe-2",
    time: "s",
    standIn: () => platforms.bytedance,
    settings: () => ({ route: "v1", v1_url: `${platforms.bytedance.url}/track/activate/` }),
    click: () => ({ oaid: OAID, callback: "oe-2" }),
    heard: plain(["0", "1", "2", "6"]),
  },
  {
    name: "Ocean Engine's gateway for mini-games",
    platform: "bytedance",
    key: "clue-1",
    time: "told",
    standIn: () => platforms.bytedance,
    settings: () => ({
      clue_url: `${platforms.bytedance.url}/outer/wechat/applet/token/`,
      gateway_id: platforms.bytedance.gatewayId,
    }),
    secrets: () => ({ gateway_token: platforms.bytedance.gatewayToken }),
    click: () => ({ callback: "other" }),
    launch: { clue_token: "clue-1" },
    heard: plain(["0", "1", "2", "6"]),
  },
  {
    name: "Baidu by bd_vid",
    platform: "baidu",
    key: "bd-1",
    time: "s",
    standIn: () => platforms.baidu,
    settings: () => ({ url: `${platforms.baidu.url}/ocpcapi/api/uploadConvertData`, page: "https://game.example/p" }),
    secrets: () => ({ token: platforms.baidu.token }),
    click: () => ({ bd_vid: "other" }),
    launch: { bd_vid: "bd-1" },
    heard: { ...plain(["4", "25", "26", ""]), twice: undefined },
  },
  {
    name: "Baidu by an app's callback",
    platform: "baidu",
    key: "ext-1",
    time: "s",
    standIn: () => platforms.baidu,
    settings: () => ({ callback_hosts: "127.0.0.1" }),
    secrets: () => ({ akey: platforms.baidu.akey }),
    click: () => ({ oaid: OAID, callback: platforms.baidu.callbackUrl("ext-1") }),
    heard: plain(["activate", "register", "orders", "retain_1day"]),
  },
  {
    name: "Bilibili",
    platform: "bilibili",
    key: "track-1",
    time: "ms",
    standIn: () => platforms.bilibili,
    settings: () => ({ url: `${platforms.bilibili.url}/conv/api/conversion/ad/cb/v1` }),
    click: () => ({ oaid: OAID, click_id: "track-1" }),
    heard: plain(["APP_FIRST_ACTIVE", "USER_REGISTER", "USER_COST", "RETENTION"]),
  },
  {
    name: "vivo",
    platform: "vivo",
    key: "click-1",
    time: "ms",
    standIn: () => platforms.vivo,
    settings: () => ({
      url: `${platforms.vivo.url}/openapi/v2/advertiser/behavior/upload`,
      src_id: platforms.vivo.srcId,
      pkg_name: "com.game",
    }),
    secrets: () => ({ access_token: renewed(platforms.vivo.tokens) }),
    click: () => ({ oaid_md5: md5(OAID), click_id: "click-1" }),
    heard: plain(["ACTIVATION", "REGISTER", "PAY_ONETIME", "RETENTION_1"]),
  },
  {
    name: "vivo's older upload",
    platform: "vivo",
    key: "req-1",
    time: "ms",
    standIn: () => platforms.vivo,
    settings: () => ({
      v1_url: `${platforms.vivo.url}/openapi/v1/advertiser/behavior/upload`,
      src_id: platforms.vivo.srcId,
      pkg_name: "com.game",
    }),
    secrets: () => ({ access_token: renewed(platforms.vivo.tokens) }),
    click: () => ({ oaid_md5: md5(OAID), req_id: "req-1", cid: "9" }),
    heard: plain(["ACTIVATION", "REGISTER", "PAY_ONETIME", "RETENTION_1"]),
  },
  {
    name: "OPPO",
    platform: "oppo",
    key: OAID,
    time: "ms",
    standIn: () => platforms.oppo,
    settings: () => ({ url: `${platforms.oppo.url}/api/uploadActiveData`, pkg: "com.game" }),
    secrets: () => ({ key: platforms.oppo.aesKey, salt: platforms.oppo.salt }),
    click: () => ({ oaid: OAID, aid: "77" }),
    heard: plain(["1", "2", "3", "4"]),
  },
  {
    name: "Xiaomi by the click's callback",
    platform: "xiaomi",
    key: "mi-1",
    time: "ms",
    standIn: () => platforms.xiaomi,
    settings: () => ({ callback_url: `${platforms.xiaomi.url}/api/callback` }),
    secrets: () => ({ sign_key: platforms.xiaomi.callbackKey }),
    click: () => ({ oaid: OAID, callback: "mi-1" }),
    heard: plain(["APP_ACTIVE", "APP_REGISTER", "APP_PAY", "APP_RETENTION"], null),
  },
  {
    name: "Xiaomi",
    platform: "xiaomi",
    key: OAID,
    time: "ms",
    standIn: () => platforms.xiaomi,
    settings: () => ({
      url: `${platforms.xiaomi.url}/global/log`,
      app_id: platforms.xiaomi.appId,
      customer_id: platforms.xiaomi.customerId,
    }),
    secrets: () => ({ sign_key: platforms.xiaomi.signKey, encrypt_key: platforms.xiaomi.encryptKey }),
    click: () => ({ oaid: OAID }),
    heard: plain(["APP_ACTIVE", "APP_REGISTER", "APP_PAY", "APP_RETENTION"], null),
  },
  {
    name: "Huawei",
    platform: "huawei",
    key: "hw-1",
    time: "s",
    standIn: () => platforms.huawei,
    settings: () => ({ url: `${platforms.huawei.url}/action-lib-track/hiad/v2/actionupload` }),
    secrets: () => ({ secret_key: platforms.huawei.secretKey }),
    click: () => ({ oaid: OAID, callback: "hw-1", cid: "5", gid: "6" }),
    heard: plain(["activate", "register", "paid", "retain"]),
  },
  {
    name: "Honor",
    platform: "honor",
    key: "track-2",
    time: "ms",
    standIn: () => platforms.honor,
    settings: () => ({ url: `${platforms.honor.url}/api/ad-tracking/v1/conversion` }),
    click: () => ({ oaid: OAID, click_id: "track-2", advertiser_id: "1001" }),
    heard: plain(["10001", "10002", "10004", "10003"], null),
  },
];

/** Odd milliseconds, so that rounding to seconds shows. */
const REGISTERED_MS = NOW_MS + 123;
const PAID_MS = NOW_MS + HOUR_MS + 456;
const BACK_MS = NOW_MS + DAY_MS + 789;

/** Returns the account's secrets. */
async function live(one: Case): Promise<string[]> {
  const { stage: apply } = stage;
  stage.nowMs = BACK_MS + 1_000;
  const lent = await lend(one);
  const secrets = one.secrets?.() ?? {};
  await stage.account({ adPlatform: one.platform, settings: one.settings(), secrets });
  const link = new URLSearchParams({ company: one.platform, ts: String(NOW_MS - HOUR_MS), ...one.click() });
  await apply.append("click", "", link.toString(), { at: NOW_MS - HOUR_MS });
  const device_info = { os_name: "Android 14", oaid: OAID };
  const source = one.launch ? { ad_data: one.launch } : { device_info };
  await apply.register("u", { wx_openid: "open-1", ...source }, { at: REGISTERED_MS, ip: "203.0.113.9" });
  await apply.collect("u", [pay("o1", PAID_CENTS, {}, PAID_MS)], { at: PAID_MS });
  await apply.collect("u", [track("e", {}, BACK_MS)], { at: BACK_MS });
  await apply.applyAll();
  return [...lent, ...Object.values(secrets)];
}

/** WeChat's token, which the app's own server reports. */
async function lend({ launch }: Case): Promise<string[]> {
  if (!launch?.gdt_vid) return [];
  const token = renewed(platforms.tencent.wechatTokens);
  const { appId } = stage.stage.app;
  await storeMediaToken(stage.pool, vault, { appId, platform: "wechat", token, refreshedAtMs: 0 });
  return [token];
}

/** A renewed token: the stand-ins' first tokens have expired by the next day. */
function renewed(tokens: Tokens): string {
  tokens.renew();
  return tokens.accessToken;
}

describe.each(CASES)("$name", (one) => {
  test("gets activation, registration, payment and the next day, in its own codes and units", async () => {
    const standIn = one.standIn();
    standIn.accepted.length = 0;
    standIn.refused.length = 0;
    await live(one);
    const worker = stage.worker();
    await stage.send(worker);
    expect(standIn.refused).toEqual([]);
    const timeOf = (ms: number) => ({ s: Math.floor(ms / 1000) * 1000, ms, told: stage.nowMs })[one.time];
    const { activate, register, pay: paid, twice } = one.heard;
    const at: [Told | undefined, number][] = [
      ...([[activate, REGISTERED_MS] as const, [register, REGISTERED_MS] as const] as [Told, number][]),
      ...([[paid, PAID_MS] as const, [twice, BACK_MS] as const] as [Told | undefined, number][]),
    ];
    const expected = at.flatMap(([told, ms]) =>
      told ? [{ key: one.key, code: told[0], cents: told[1], atMs: timeOf(ms), isDuplicate: false }] : [],
    );
    const byCode = (list: readonly { code: string }[]) => [...list].sort((a, b) => (a.code < b.code ? -1 : 1));
    expect(byCode(standIn.accepted)).toMatchObject(byCode(expected));
    expect(standIn.accepted).toHaveLength(expected.length);
    // The order says exactly what amount the platform got.
    expect(await stage.orders()).toEqual([{ trace_id: "o1", postback_status: 1, back_cents: paid[1] ?? 0 }]);
    const statuses = (await stage.postbacks("event_type, status")).map((row) => [row.event_type, row.status]);
    expect(Object.fromEntries(statuses)).toEqual({ activate: 1, register: 1, pay: 1, twice: twice ? 1 : 3 });
    expect(await stage.outbox()).toEqual([]);
    stage.nowMs += 40 * DAY_MS;
    await stage.send(worker);
    expect(standIn.accepted).toHaveLength(expected.length);
  });

  test("gets a test like a real conversion; its secrets stay masked, and nothing is stored", async () => {
    const standIn = one.standIn();
    standIn.accepted.length = 0;
    standIn.refused.length = 0;
    const secrets = await live(one);
    const before = [await stage.postbacks(), await stage.outbox()];
    const sent = await tested(one.platform, "register");
    expect(standIn.refused).toEqual([]);
    expect(standIn.accepted).toMatchObject([{ key: one.key, code: one.heard.register[0], isDuplicate: false }]);
    expect(["", sent.test_id]).toContain(standIn.accepted[0]!.dedupeId);
    expect(sent).toMatchObject({ verdict: "accepted", reason: "", answer: { status: 200 } });
    const shown = JSON.stringify([sent.request, sent.answer]);
    for (const secret of secrets) expect(shown).not.toContain(secret);
    expect(shown).not.toMatch(/(?<!clue_|ext_)(?:sign|signature|info|token|authorization)\\?"?[=:]\\?"?[^…&"\\]/);
    expect([await stage.postbacks(), await stage.outbox()]).toEqual(before);
  });
});

/** Sends a test conversion of the user "u". */
function tested(ad_platform: string, event_type: string): Promise<PostbackTest> {
  const { pool, clock } = stage;
  const tests = new TestDesk({ pool, vault, clock, deadlineMs: PATIENCE_MS, mayCallPrivate: true });
  const desk = { pool, vault, clock, by: { name: "mei", address: "" }, tests, mayCallPrivate: true };
  return testPostback(desk, { app_id: stage.stage.app.appId, ad_platform, event_type, client_id: "u" });
}

test("a user of a native mini-game is reported only to the ad's platform, with what the launch query brought", async () => {
  const { kuaishou, bytedance } = platforms;
  const before = [kuaishou.accepted.length, bytedance.accepted.length];
  await stage.kuaishou(kuaishou.url);
  await stage.oceanEngine(bytedance.url);
  const { stage: apply } = stage;
  const ofKuaishou = { gsid: "s", callback: "ks-3", account_id: "1", campaign_id: "2", unit_id: "3", creative_id: "4" };
  await apply.register("kuaishou", { ad_data: ofKuaishou });
  const link = new URLSearchParams({ company: "bytedance", callback: "B.other", req_id: "r-1", promotion_id: "7" });
  await apply.append("click", "", link.toString(), { at: NOW_MS - HOUR_MS });
  const ofDouyin = { clickid: "dy-1", projectid: "6", promotionid: "7", requestid: "r-1", aid: "1128" };
  await apply.register("douyin", { ad_data: ofDouyin });
  await apply.applyAll();
  await stage.send(stage.worker());
  const told = [kuaishou, bytedance].map(({ accepted }, at) => accepted.slice(before[at]));
  expect(told.map((list) => list.map(({ key, code }) => `${key} ${code}`).sort())).toEqual([
    ["ks-3 1", "ks-3 2"],
    ["dy-1 active", "dy-1 active_register"],
  ]);
});
