import { createHash } from "node:crypto";
import { signedRequest } from "../../src/client/report-client.ts";
import { systemClock } from "../../src/clock.ts";
import type { App } from "../../src/db/app.ts";
import { calendarOf, DAY_MS } from "../../src/domain/calendar.ts";
import { NASTY_TEXTS } from "./nasty.ts";
import type { Hints } from "./operation.ts";
import type { Random } from "./random.ts";
import type { World } from "./request.ts";

type Row = Record<string, unknown>;

/** What the fuzzer needs to know about an app. */
export type FuzzedApp = Pick<App, "appId" | "accessToken" | "appKey" | "timeZone">;

export type WorldOptions = {
  app: FuzzedApp;
  /** The key of a developer application that may pull. */
  appKey: string;
  adminToken: string;
  /** Developer applications that nothing else uses. */
  developers: readonly number[];
};

/** Clients to register before fuzzing. */
export const FUZZ_CLIENTS: readonly string[] = Array.from({ length: 20 }, (_, number) => `client-${number}`);

/** Valid values and credentials for the whole interface and one app, so that every error in a request is deliberate. */
export function fuzzWorld({ app, appKey, adminToken, developers }: WorldOptions): World {
  return {
    hints: hintsOf(app, developers),
    authorize({ path }, body) {
      if (path.startsWith("/openapi/api")) {
        const { sign: _, ...unsigned } = body as Row;
        const { body: text, authorization } = signedRequest(unsigned, appKey);
        return { headers: { authorization }, text };
      }
      const token = mediaTokenBody({ appKey: app.appKey, token: "media-token", atMs: systemClock() });
      const sent = path.includes("/base/") ? { ...(body as Row), ...token } : body;
      const authorization = path.includes("/event/stream") ? app.appKey : adminToken;
      return { headers: { authorization: `Bearer ${authorization}` }, text: JSON.stringify(sent) ?? "" };
    },
  };
}

/** The call with which an app's own server reports its media platform's token. */
export function mediaTokenBody({ appKey, token, atMs }: { appKey: string; token: string; atMs: number }): Row {
  const current_time = Math.floor(atMs / 1000);
  const text = `app_key=${appKey}&wx_access_token=${token}&current_time=${current_time}`;
  return { wx_access_token: token, current_time, sign: createHash("md5").update(text).digest("hex") };
}

const EVENT_NAMES = ["level_up", "$PayEvent", "$AdShow", "profile_set", "constructor"];
const PROPERTIES = ["a", "$order_id", "$pay_amount", "$ecpm", "$trace_id", "constructor", "$os"];

function eventOf(random: Random): Row {
  const properties = { [random.pick(PROPERTIES)]: random.pick([...NASTY_TEXTS, 1, 600, true]) };
  const time = random.chance(0.9) ? systemClock() - random.integer(10_000) : random.pick([0, 1e15, -5, "x"]);
  return { type: random.pick(["track", "track", "profile"]), event: random.pick(EVENT_NAMES), time, properties };
}

function hintsOf(app: FuzzedApp, developers: readonly number[]): Hints {
  const text = (random: Random) => random.pick(["a", "tencent", "c", ...NASTY_TEXTS]);
  const texts = (random: Random) => Array.from({ length: random.integer(3) }, () => text(random));
  const calendar = calendarOf(app.timeZone);
  const days = () => [calendar.dayOf(systemClock() - DAY_MS), calendar.dayOf(systemClock())];
  return {
    app_id: () => app.appId,
    apps: (random) => random.pick(["all", [app.appId]]),
    access_token: () => app.accessToken,
    client_id: (random) => random.pick(FUZZ_CLIENTS),
    new_client_id: (random) => `client-${random.integer(40)}`,
    user_list: (random) => [random.pick(FUZZ_CLIENTS)],
    event_list: (random) => Array.from({ length: 1 + random.integer(4) }, () => eventOf(random)),
    event_type: (random) => random.pick(["START", "PAY", "pay", "activate", "register"]),
    name: text,
    channel: text,
    wx_openid: text,
    click_id: text,
    aid: text,
    gid: text,
    callback: text,
    oaid: text,
    ad_data: (random) => ({ gdt_vid: text(random), tencent: { account_id: text(random) }, constructor: 1 }),
    version: () => 1,
    ts: () => systemClock(),
    timestamp: () => systemClock(),
    active_time: () => systemClock(),
    click_time: () => systemClock() - 1_000,
    company: (random) => random.pick(["tencent", "bytedance", "kuaishou", "baidu", "vivo", "x"]),
    click_company: (random) => random.pick(["tencent", ""]),
    turbo_promoted_object_id: () => "0123456789abcdef",
    date_list: days,
    from: () => days()[0],
    to: () => days()[1],
    metrics_list: (random) => [random.pick(["AdCost", "AppROI", "AppDAU", "AppActivateStandard"])],
    metric: () => "AppROI",
    dims_list: (random) => [random.pick(["date", "hour", "ad_platform", "channel", "aid", "creative", "csite"])],
    dims_metrics_list: (random) => random.pick([[], ["AidName"], ["advertiser_name"]]),
    order_by_list: (random) => [
      { field: random.pick(["ClientID", "Amount", "CreateTime", "x"]), sort: random.integer(2) },
    ],
    property_condition: (random) => [
      { field: random.pick(["user$a", "event$a", "user$constructor"]), operator: "equal", values: texts(random) },
    ],
    page: () => 1,
    page_size: () => 20,
    id: (random) => random.pick(developers),
    row: (random) => ({ ad_platform: text(random) }),
    rules: () => ({ click_window: "3d" }),
    csv: (random) => `date,ad_platform,cost\n${days()[1]},tencent,${random.pick(["1", "x", '"', ...NASTY_TEXTS])}\n`,
    // The app stays enabled and keeps its access token, because the other operations need both.
    enabled: () => true,
    which: (random) => random.pick(["aes_key", "aes_key", "x"]),
    metadata: () => "open",
    names: (random) => [random.pick(["level_up", ...NASTY_TEXTS])],
    url: () => "https://own.invalid/told",
    moment: (random) => random.pick(["pay", "register", "event:level_up"]),
    ad_platform: (random) => random.pick(["tencent", "vivo", "oppo"]),
    data: () => ({ os_name: "android", oaid: "oaid-1" }),
    device_info: () => ({ os_name: "android", oaid: "oaid-1" }),
  };
}
