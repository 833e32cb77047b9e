import { expect, test } from "vitest";
import { addressKey, clickKeys, deviceKeys, touchDeviceKeys } from "../../../src/domain/attribution/touch-key.ts";
import { deviceOf } from "../../../src/domain/user/device.ts";
import { md5 } from "../../../src/domain/user/identity.ts";
import { type ParsedAgent, parseUserAgent } from "../../../src/domain/user/user-agent.ts";

test.each<[string, ParsedAgent | undefined]>([
  ["Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 Chrome/124.0.0.0 Mobile", undefined],
  ["Mozilla/5.0 (Linux; Android 10; K; wv) AppleWebKit/537.36 Chrome/124.0.0.0 Mobile", undefined],
  ["Mozilla/5.0 (Android 13; Mobile; rv:109.0) Gecko/113.0 Firefox/113.0", undefined],
  ["Mozilla/5.0 (Linux; Android 13; ) x", undefined],
  ["Mozilla/5.0 (Linux; Android 13; wv) x", undefined],
  ["Mozilla/5.0 (Linux; Android 9; Build/PPR1) x", undefined],
])("a browser that hides the model is not compared by it: %s", (ua, expected) => {
  expect(parseUserAgent(ua)).toEqual(expected);
});

test.each<[string, ParsedAgent]>([
  [
    "Mozilla/5.0 (Linux; Android 10; HarmonyOS; CDY-AN00; HMSCore 6.7.0.322) x",
    { os: "android", version: "10", model: "CDY-AN00" },
  ],
  ["Dalvik/2.1.0 (Linux; U; Android 10; MI 8 MIUI/V12.5.2.0.QEACNXM)", { os: "android", version: "10", model: "MI 8" }],
  ["Mozilla/5.0 (Linux; Android 10; moto g(7) power) x", { os: "android", version: "10", model: "MOTO G(7) POWER" }],
  [
    "Mozilla/5.0 (Linux; U; Android 4.0.3; de; GT-I9100 Build/x)",
    { os: "android", version: "4.0.3", model: "GT-I9100" },
  ],
  ["MyGame/1.2 (iPhone; iOS 17.4.1; Scale/3.00)", { os: "ios", version: "17.4.1", model: "IPHONE" }],
])("the model stands where each maker puts it: %s", (ua, expected) => {
  expect(parseUserAgent(ua)).toEqual(expected);
});

const long = (text: string, start = "") => start + text.repeat(Math.ceil(100_000 / text.length));

test.each([
  [long(" ", "Android 1;")],
  [long("Build/", "Android 1;a")],
  [long("(iPhone")],
  [long("(a", "Android 1;")],
  [long("(a)", "Android 1;")],
  [long(";", "Android 1;")],
])("a user agent of 100,000 characters is read like any other (%#)", (ua) => {
  expect(parseUserAgent(ua)).toEqual(parseUserAgent(ua.slice(0, 1_024)));
});

const MAC = "3C:06:30:4F:9A:B1";
const FORMS = [MAC, MAC.replaceAll(":", ""), MAC.replaceAll(":", "-"), MAC.toLowerCase()];

const sharedKeys = (device: Record<string, string>, link: Record<string, string>): number => {
  const known = new Set(deviceKeys(deviceOf(device)).map((key) => key.value));
  return touchDeviceKeys((name) => link[name] ?? "").filter((key) => known.has(key.value)).length;
};

test("a MAC is the same in every spelling, raw and hashed", () => {
  for (const mac of FORMS) {
    for (const raw of FORMS) expect(sharedKeys({ mac }, { mac: raw })).toBe(1);
    for (const hashed of FORMS.slice(0, 2)) expect(sharedKeys({ mac }, { mac_md5: md5(hashed) })).toBe(1);
  }
});

test("a placeholder is no id, even if it was hashed", () => {
  for (const mac of ["020000000000", "02-00-00-00-00-00"]) expect(deviceKeys(deviceOf({ mac }))).toEqual([]);
  for (const text of ["0", "null", "02:00:00:00:00:00", "020000000000", "000000000000000"]) {
    for (const name of ["imei_md5", "mac_md5", "muid"]) {
      expect(touchDeviceKeys((field) => (field === name ? md5(text) : ""))).toEqual([]);
    }
  }
  expect(clickKeys("tencent", [""])).toEqual([]);
  for (const ip of ["", "null", "unknown", "0.0.0.0"]) expect(addressKey(ip)).toBeUndefined();
});

const CAID = "c0ffee00c0ffee00c0ffee00c0ffee00";

test.each([
  [`[{"caid":"${CAID}","version":"20220111"}]`],
  [`[{"caid_md5":"${md5(CAID)}","version":20220111}]`],
  [`[{"caid":"","hash_caid":"${md5(CAID)}","version":"20220111"}]`],
  [`[{"kenyId":"${CAID}","kenyId_MD5":"${md5(CAID)}","version":"20220111"}]`],
  [`[{"vendor":"1","caid":[{"caid":"${CAID}","version":"20220111"}],"generateTime":1}]`],
  [`20220111_${CAID},20211207_other`],
])("a caid is read in each platform's form: %s", (caid) => {
  expect(sharedKeys({ caid1_md5: md5(CAID) }, { caid })).toBe(1);
});

test("an IPv4 address is the same inside IPv6", () => {
  expect(addressKey("::ffff:203.0.113.7")).toBe(addressKey("203.0.113.7"));
  expect(addressKey("::ffff:cb00:7107")).toBe(addressKey("203.0.113.7"));
});
