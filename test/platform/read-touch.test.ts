import fc from "fast-check";
import { expect, test } from "vitest";
import { TOUCH_KINDS, type Touch, type TouchKind } from "../../src/domain/attribution/touch.ts";
import {
  clickKeys,
  deviceKeys,
  ipUaKeys,
  openIdKeys,
  touchDeviceKeys,
} from "../../src/domain/attribution/touch-key.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import { deviceOf } from "../../src/domain/user/device.ts";
import { cleanId, md5 } from "../../src/domain/user/identity.ts";
import { linkOf, type ReadTouch, readTouch } from "../../src/platform/link.ts";
import { LinkQuery } from "../../src/platform/link-query.ts";
import { fieldsOf } from "../../src/platform/platform.ts";
import { PLATFORM_NAMES, platformOfLink } from "../../src/platform/registry.ts";
import { PHONE_CALLS } from "./phone-calls.ts";
import {
  type Arrival,
  AT_MS,
  BROWSER,
  CALLS,
  type Call,
  CLICKED_MS,
  HASH,
  IP,
  IPHONE_APP,
  MS,
  SECONDS,
} from "./touch-calls.ts";

function read(query: string, kind: TouchKind = "click"): ReadTouch {
  return readTouch(kind, new LinkQuery(query), AT_MS)!;
}

/** Our link as the platform calls it: macros with a value are replaced, the others stay. */
function callOf({ platform, kind = "click", values }: Call): string {
  const options = {
    baseUrl: "https://t.example.com",
    appId: 7,
    campaignId: "c0ffee0123456789",
    channel: "base_channel",
  };
  let query = linkOf(platformOfLink(platform)!, kind, { ...options, macros: {} })!.split("?")[1]!;
  for (const [macro, value] of Object.entries(values)) {
    if (!query.includes(`=${macro}`)) throw new Error(`The ${kind} link for ${platform} has no ${macro}.`);
    query = query.replace(`=${macro}`, () => `=${encodeURIComponent(value)}`);
  }
  return query;
}

/** The ids by which the registration finds the touch. */
function foundBy({ touch, keys }: ReadTouch, arrival: Arrival): string[] {
  const { adData = {}, device = {}, openId = "", ip = "", ua = "" } = arrival;
  const clickIds = platformOfLink(touch.platform)!.launchClickIds(fieldsOf(adData)).map(cleanId);
  const wanted = [
    ...clickKeys(
      touch.platform,
      clickIds.filter((id) => id !== ""),
    ),
    ...deviceKeys(deviceOf(device)),
    ...openIdKeys(openId),
    ...ipUaKeys([ip], ua),
  ].map((key) => JSON.stringify(key));
  return keys.filter((key) => wanted.includes(JSON.stringify(key))).map((key) => key.by);
}

test.each([...CALLS, ...PHONE_CALLS].map((call) => [call.what, call] as const))(
  "%s is read, and found by a registration",
  (_, call) => {
    const { platform, kind = "click", values, ids, details } = call;
    const found = read(callOf(call), kind);
    const touchedAtMs = Object.values(values).includes(MS) ? CLICKED_MS : Number(SECONDS) * 1000;
    expect(found.touch).toMatchObject({ platform, kind, touchedAtMs, receivedAtMs: AT_MS, channel: "base_channel" });
    const { campaignId, advertiserId, gid, aid, cid, csite } = found.touch;
    expect([campaignId, advertiserId, gid, aid, cid, csite]).toEqual(["c0ffee0123456789", ...ids]);
    expect(found.touch.ip).toBe(values.__IP__ || values.__IPV6__ || (values["{ip}"] ?? ""));
    if (details) expect(found.touch.details).toEqual(details);
    expect(foundBy(found, call.arrival)).toEqual(call.by);
    expect(foundBy(found, { adData: { click_id: "other" }, device: { oaid: "other" }, openId: "o", ip: IP })).toEqual(
      [],
    );
  },
);

const ACTIVATE = "http://ad.partner.gifshow.com/track/activate?event_type=1&callback=";

test.each<[string, string, JsonObject]>([
  ["tencent", "click_id=a", { gdt_vid: "a" }],
  ["tencent", "req_id=a", { gdt_vid: "a" }],
  ["tencent", "click_id=a", { qz_gdt: "a" }],
  ["bytedance", "clue_token=a", { clue_token: "a" }],
  ["bytedance", "callback=a", { clue_token: "a" }],
  ["bytedance", "callback=a", { clickid: "a" }],
  ["baidu", "bd_vid=a", { bd_vid: "a" }],
  ["baidu", "click_id=a", { bd_vid: "a" }],
  ["gravity", "click_id=a", { turbo_vid: "a" }],
  ["kuaishou", "callback=a-_B", { callback: "a-_B" }],
  ["kuaishou", `callback=${encodeURIComponent(`${ACTIVATE}a-_B`)}`, { callback: "a-_B" }],
  ["kuaishou", "callback=a-_B", { callback: `${ACTIVATE}a-_B` }],
  ["kuaishou", "callback=http%3A%2F%2F", { callback: "http://" }],
  ["kuaishou", "callback=https%3A%2F%2Fa.example%2F", { callback: "https://a.example/" }],
])("at %s the touch %s is found by %j", (company, query, adData) => {
  const found = read(`company=${company}&${query}`);
  expect(foundBy(found, { adData })).toEqual(["click_key"]);
  expect(found.keys).toHaveLength(1);
  expect(read(`company=weibo&${query}`).keys).not.toContainEqual(found.keys[0]);
});

const CLICK_IDS = ["click_id", "callback", "req_id", "bd_vid", "clue_token"];
const HASHED_IDS = ["imei_md5", "oaid_md5", "idfa_md5", "idfv_md5", "android_id_md5", "mac_md5", "muid"];
const IDS = ["imei", "oaid", "idfa", "idfv", "android_id", "mac", "caid", "wx_openid", ...HASHED_IDS, ...CLICK_IDS];

test.each([
  ...["", "0", "000000000000000", "00000000-0000-0000-0000-000000000000", "02:00:00:00:00:00", "null", "NULL"],
  ...["undefined", "unknown", md5(""), md5("").toUpperCase(), "__X__", "{{X}}", "{x}"],
])("the id %j matches nobody", (id) => {
  const query = IDS.map((name) => `${name}=${encodeURIComponent(id)}`).join("&");
  for (const company of ["tencent", "kuaishou", "bytedance", "baidu", "oppo", "weibo"])
    expect(read(`company=${company}&${query}`).keys).toEqual([]);
});

test("the name of an id says whether it is raw or hashed, and an invalid hash matches nobody", () => {
  const found = read(`company=weibo&oaid=${HASH}`);
  expect(foundBy(found, { device: { oaid: HASH } })).toEqual(["oaid"]);
  expect(read(`company=weibo&oaid_md5=${HASH}`).keys).not.toEqual(found.keys);
  expect(read(`company=weibo&oaid_md5=${md5(HASH).toUpperCase()}`).keys).toEqual(found.keys);
  expect(read(`company=weibo&${HASHED_IDS.map((name) => `${name}=${HASH}0`).join("&")}`).keys).toEqual([]);
});

const NEITHER = Object.fromEntries(
  ["harmony", "2", "__OS__", "constructor", "toString"].map((os) => [os, "imei idfa"]),
);
const MUID_OF = { android: "imei", Android: "imei", 0: "imei", ios: "idfa", iOS: "idfa", 1: "idfa", ...NEITHER };

test.each(Object.entries(MUID_OF))("with os=%s a muid is the hash of %s", (os, by) => {
  const { touch, keys } = read(`company=tencent&os=${os}&muid=${HASH}`);
  expect(keys.map((key) => key.by)).toEqual(by.split(" "));
  expect(typeof (touch.details.os ?? "")).toBe("string");
});

test.each([
  ["bytedance", "2", "harmony"],
  ["bilibili", "2", "2"],
  ["bytedance", "0", "android"],
  ["tencent", "HarmonyOS", "harmony"],
  ["tencent", "harmony", "harmony"],
  ["my_network", "OpenHarmony 5.0", "harmony"],
  ["my_network", "iPhone OS", "ios"],
  ["my_network", "Tizen", "tizen"],
])("at %s the operating system %s is %s", (company, os, name) => {
  expect(read(`company=${company}&os=${encodeURIComponent(os)}`).touch.details.os).toBe(name);
});

test.each(["ip", "ipv4", "ipv6"])("an address in %s alone is the touch's address", (name) => {
  expect(read(`company=weibo&${name}=2001:db8::9`).touch.ip).toBe("2001:db8::9");
});

test("a parameter's second macro counts if the first is not replaced", () => {
  const ids = (query: string) => read(`company=oppo&${query}`).touch.aid;
  expect(ids("aid=__ADID__&aid_2=601")).toBe("601");
  expect(ids("aid=601&aid_2=$ad$")).toBe("601");
  expect(ids("aid=601&aid_2=602")).toBe("601");
});

test("a stored touch keeps the keys that it was read with, and texts that the tables can hold", () => {
  const names = fc.constantFrom(...IDS, "company", "ts", "os", "ip", "ua", "model", "gid");
  const likely = fc.constantFrom(
    ...["gdt", "kuaishou", "weibo", IP, "2001:db8::9%eth0", BROWSER, IPHONE_APP, HASH, "0", "__X__", `${ACTIVATE}a`],
    ...["1", "iOS", "toString", "[", '[{"caid":"a","version":1},null]', "1_a,2_b,_", "\0", "\ud800"],
  );
  const pair = fc.tuple(names, fc.oneof(likely, fc.string(), fc.string({ unit: "binary" }), fc.json()));
  const query = fc
    .tuple(fc.array(pair), fc.constantFrom(...PLATFORM_NAMES))
    .map(([pairs, company]) => String(new URLSearchParams([["company", company], ...pairs])));
  fc.assert(
    fc.property(query, fc.constantFrom(...TOUCH_KINDS), (call, kind) => {
      const { touch, keys } = read(call, kind);
      const stored = JSON.parse(JSON.stringify(touch)) as Touch;
      expect(stored).toEqual(touch);
      const field = (name: string) => stored.details[name] ?? "";
      expect(touchDeviceKeys(field)).toEqual(keys.filter(({ method }) => method === "device_id"));
      expect(Object.values({ ...touch, ...touch.details }).join("")).not.toMatch(/\0|\p{Surrogate}/u);
    }),
    { numRuns: 500 },
  );
});
