import fc from "fast-check";
import { expect, test } from "vitest";
import {
  addressKey,
  clickKeys,
  deviceKeys,
  type Field,
  ipUaKeys,
  openIdKeys,
  touchDeviceKeys,
} from "../../../src/domain/attribution/touch-key.ts";
import type { JsonObject } from "../../../src/domain/json.ts";
import { deviceOf } from "../../../src/domain/user/device.ts";
import { md5 } from "../../../src/domain/user/identity.ts";

type Link = Readonly<Record<string, string>>;

const OAID = "1fe9a970-efbb-29e0-0bdd-f5dbbf751ab5";
const IDFA = "AEBE52E7-03EE-455A-B3C4-E57283966239";
const IDFV = "599F9C00-92DC-4B5C-9464-7971F01F8370";
const ANDROID_ID = "9f3c5ad1b2e48706";
const IMEI = "867530012345678";
const MEID = "A00000567A4B3C";
const MAC = "3C:06:30:4F:9A:B1";
const CAID = "8fb2aa0d6b2b4a7e9f3f1c5d7e9a0b1c";

const fieldOf =
  (link: Link): Field =>
  (name) =>
    link[name] ?? "";

const keysOfDevice = (device: JsonObject) => deviceKeys(deviceOf(device));
const keysOfTouch = (link: Link) => touchDeviceKeys(fieldOf(link));

/** The ids by which a registration from the device finds the touch of the link call. */
function sharedBy(device: JsonObject, link: Link): string[] {
  const known = new Set(keysOfDevice(device).map((key) => key.value));
  return keysOfTouch(link)
    .filter((key) => known.has(key.value))
    .map((key) => key.by);
}

test("a device with a raw oaid finds the touch with its md5, as in the published vector", () => {
  expect(md5(OAID)).toBe("83e9158a4fb54c0e1ef0b238639a23ae");
  expect(sharedBy({ oaid: OAID }, { oaid_md5: "83e9158a4fb54c0e1ef0b238639a23ae" })).toEqual(["oaid"]);
});

test.each<[string, string, JsonObject, Link]>([
  ["oaid", "raw", { oaid: OAID }, { oaid: OAID }],
  ["oaid", "hashed", { oaid: OAID }, { oaid_md5: md5(OAID) }],
  ["oaid", "hashed, in upper case", { oaid: OAID }, { oaid_md5: md5(OAID).toUpperCase() }],
  ["oaid", "raw, with spaces around it", { oaid: `${OAID} ` }, { oaid: ` ${OAID}` }],
  ["imei", "raw", { imei: IMEI }, { imei: IMEI }],
  ["imei", "raw, sent as a number", { imei: 867530012345678 }, { imei: IMEI }],
  ["imei", "hashed", { imei: IMEI }, { imei_md5: md5(IMEI) }],
  ["imei", "raw, in another case", { imei: MEID }, { imei: MEID.toLowerCase() }],
  ["imei", "hashed in lower case", { imei: MEID }, { imei_md5: md5(MEID.toLowerCase()) }],
  ["imei", "hashed as it is read", { imei: MEID }, { imei_md5: md5(MEID) }],
  ["idfa", "raw", { idfa: IDFA }, { idfa: IDFA }],
  ["idfa", "raw, in another case", { idfa: IDFA.toLowerCase() }, { idfa: IDFA }],
  ["idfa", "raw, in lower case", { idfa: IDFA }, { idfa: IDFA.toLowerCase() }],
  ["idfa", "hashed in upper case", { idfa: IDFA.toLowerCase() }, { idfa_md5: md5(IDFA) }],
  ["idfv", "raw, in another case", { idfv: IDFV }, { idfv: IDFV.toLowerCase() }],
  ["idfv", "hashed in upper case", { idfv: IDFV.toLowerCase() }, { idfv_md5: md5(IDFV) }],
  ["android_id", "raw", { android_id: ANDROID_ID }, { android_id: ANDROID_ID }],
  ["android_id", "raw, in another case", { android_id: ANDROID_ID.toUpperCase() }, { android_id: ANDROID_ID }],
  ["android_id", "hashed in lower case", { android_id: ANDROID_ID.toUpperCase() }, { android_id_md5: md5(ANDROID_ID) }],
  ["mac", "raw", { mac: MAC }, { mac: MAC }],
  ["mac", "raw, in another case", { mac: MAC.toLowerCase() }, { mac: MAC }],
  ["mac", "raw, without colons", { mac: MAC }, { mac: MAC.replaceAll(":", "") }],
  ["mac", "hashed with colons", { mac: MAC.toLowerCase() }, { mac_md5: md5(MAC) }],
  ["mac", "hashed without colons", { mac: MAC.toLowerCase() }, { mac_md5: md5(MAC.replaceAll(":", "")) }],
])("a touch with the %s %s is found by the device with that id", (by, _, device, link) => {
  expect(sharedBy(device, link)).toEqual([by]);
});

test.each<[string, JsonObject, Link]>([
  ["an idfa hashed in lower case", { idfa: IDFA }, { idfa_md5: md5(IDFA.toLowerCase()) }],
  ["an idfa hashed without hyphens", { idfa: IDFA }, { idfa_md5: md5(IDFA.replaceAll("-", "")) }],
  ["an android id hashed in upper case", { android_id: ANDROID_ID }, { android_id_md5: md5(ANDROID_ID.toUpperCase()) }],
  ["an oaid in another case", { oaid: OAID }, { oaid: OAID.toUpperCase() }],
  ["the md5 of its oaid under the name of a raw one", { oaid: OAID }, { oaid: md5(OAID) }],
  ["its oaid under the name of a hash", { oaid: OAID }, { oaid_md5: OAID }],
  ["another oaid", { oaid: OAID }, { oaid: `${OAID}0` }],
  ["the same text as another kind of id", { oaid: OAID }, { android_id: OAID }],
])("a device does not find a touch with %s", (_, device, link) => {
  expect(sharedBy(device, link)).toEqual([]);
});

test("the name of an id says whether it is raw or hashed, never its shape", () => {
  const oaid = md5("an oaid that looks like a hash");
  expect(sharedBy({ oaid }, { oaid })).toEqual(["oaid"]);
  expect(sharedBy({ oaid }, { oaid_md5: md5(oaid) })).toEqual(["oaid"]);
  expect(sharedBy({ oaid }, { oaid_md5: oaid })).toEqual([]);
  expect(keysOfTouch({ oaid_md5: OAID, imei_md5: IMEI, muid: IMEI, idfa_md5: `${md5(IDFA)}0` })).toEqual([]);
});

test("a touch is found by each id that it carries", () => {
  const device = { oaid: OAID, imei: IMEI, android_id: ANDROID_ID, mac: MAC, idfa: IDFA, idfv: IDFV };
  expect(sharedBy(device, device).sort()).toEqual(["android_id", "idfa", "idfv", "imei", "mac", "oaid"]);
  expect(keysOfTouch({ oaid: OAID, oaid_md5: md5(OAID) })).toHaveLength(1);
});

test.each<[string, string[]]>([
  ["ios", ["idfa"]],
  ["iOS", ["idfa"]],
  ["android", ["imei"]],
  ["Android", ["imei"]],
  ["harmony", ["imei", "idfa"]],
  ["", ["imei", "idfa"]],
])("muid on %j stands for %j", (os, kinds) => {
  for (const [by, hash] of Object.entries({ imei: md5(IMEI), idfa: md5(IDFA) })) {
    const expected = kinds.includes(by) ? [by] : [];
    expect(sharedBy({ imei: IMEI, idfa: IDFA }, { os, muid: hash })).toEqual(expected);
    expect(sharedBy({ imei: IMEI, idfa: IDFA }, { os, muid: hash.toUpperCase() })).toEqual(expected);
  }
  expect(keysOfTouch({ os, muid: md5(IMEI) }).map((key) => key.by)).toEqual(kinds);
});

test.each<[string, (version: string) => string]>([
  ["a list of raw values", (version) => JSON.stringify([{ caid: CAID, version }])],
  ["a list of hashed values", (version) => JSON.stringify([{ caid_md5: md5(CAID), version }])],
  ["hashes in upper case", (version) => JSON.stringify([{ caid_md5: md5(CAID).toUpperCase(), version }])],
  ["a version that is a number", (version) => JSON.stringify([{ caid: CAID, version: Number(version) }])],
  ["texts with the version in front", (version) => `${version}_${CAID}`],
  ["several texts", (version) => `20230330_ffff, ${version}_${CAID}`],
  ["several objects", (version) => JSON.stringify([null, 7, {}, { caid: "f", version: "1" }, { caid: CAID, version }])],
])("a caid is matched by version and value: %s", (_, write) => {
  const [first, second] = [{ caid1_md5: md5(CAID) }, { caid2_md5: md5(CAID).toUpperCase() }];
  expect(sharedBy(first, { caid: write("20220111") })).toEqual(["caid"]);
  expect(sharedBy(first, { caid: write("20211207") })).toEqual([]);
  expect(sharedBy(second, { caid: write("20211207") })).toEqual(["caid"]);
  expect(sharedBy(second, { caid: write("20220111") })).toEqual([]);
  expect(sharedBy({ ...first, ...second }, { caid: write("20250325") })).toEqual([]);
  expect(sharedBy({ caid1_md5: md5("another") }, { caid: write("20220111") })).toEqual([]);
});

test("two versions of a caid in one touch are two keys", () => {
  const device = { caid1_md5: md5("one"), caid2_md5: md5("two") };
  expect(sharedBy(device, { caid: "20220111_one,20211207_two" })).toEqual(["caid", "caid"]);
  expect(sharedBy(device, { caid: "20220111_two,20211207_one" })).toEqual([]);
});

test.each<[string]>([
  ["[]"],
  ["[{]"],
  ["[null]"],
  ['["20220111"]'],
  ['[{"caid":"8fb2aa0d"}]'],
  ['[{"version":"20220111"}]'],
  ['[{"caid":"","version":"20220111"}]'],
  ['[{"caid":"__CAID__","version":"20220111"}]'],
  ['[{"caid_md5":"d41d8cd98f00b204e9800998ecf8427e","version":"20220111"}]'],
  ['[{"caid_md5":"not a hash","version":"20220111"}]'],
  ['[{"caid":{},"version":"20220111"}]'],
  ['[{"caid":"8fb2aa0d","version":null}]'],
  ["8fb2aa0d"],
  ["_8fb2aa0d"],
  ["20220111_"],
  ["20220111_0,20211207_null"],
  [","],
])("the caid %j gives no key", (caid) => {
  expect(keysOfTouch({ caid })).toEqual([]);
});

const PLACEHOLDERS = [
  ...["", " ", "0", "null", "NULL", "undefined", "unknown", "000000000000000"],
  ...["00000000-0000-0000-0000-000000000000", "00:00:00:00:00:00", "02:00:00:00:00:00"],
  ...[md5(""), md5("").toUpperCase(), md5("00000000-0000-0000-0000-000000000000")],
  ...["__OAID__", "__HASH_OAID__", "{{oaid}}", "{oaid}", "$oaid$", "%%OAID%%"],
];
const KINDS = ["imei", "oaid", "idfa", "idfv", "android_id", "mac"];

test.each(PLACEHOLDERS)("%j is no id, neither for a touch nor for a device", (placeholder) => {
  for (const name of [...KINDS, ...KINDS.map((kind) => `${kind}_md5`), "muid", "caid"]) {
    expect(keysOfTouch({ [name]: placeholder })).toEqual([]);
  }
  for (const name of [...KINDS, "caid1_md5", "caid2_md5"]) expect(keysOfDevice({ [name]: placeholder })).toEqual([]);
});

test("a device and a touch without ids have no keys", () => {
  expect(keysOfDevice({})).toEqual([]);
  expect(keysOfTouch({})).toEqual([]);
});

test("the same text gives a different key for each kind of id", () => {
  const text = "3c06304f9ab1";
  const keys = [
    ...KINDS.flatMap((kind) => keysOfTouch({ [kind]: text })),
    ...keysOfTouch({ caid: `20220111_${text}` }),
    ...keysOfTouch({ caid: `20211207_${text}` }),
    ...openIdKeys(text),
    ...clickKeys("tencent", [text]),
    ...clickKeys("kuaishou", [text]),
  ];
  expect(keys).toHaveLength(KINDS.length + 5);
  expect(new Set(keys.map((key) => key.value)).size).toBe(keys.length);
  for (const { value } of keys) expect(value).toMatch(/^[0-9a-f]{32}$/);
});

test("a click key names the click of one platform, and is case-sensitive", () => {
  const [key] = clickKeys("tencent", ["wx0abc"]);
  expect(key).toMatchObject({ method: "click_key", by: "click_key" });
  expect(clickKeys("tencent", ["wx0abc", "wx0abc"])).toEqual([key]);
  expect(clickKeys("tencent", ["other", "wx0abc"])).toContainEqual(key);
  expect(clickKeys("kuaishou", ["wx0abc"])).not.toContainEqual(key);
  expect(clickKeys("tencent", ["WX0ABC"])).not.toContainEqual(key);
  expect(clickKeys("tencent", [])).toEqual([]);
});

test("an open id is its own kind of key, and an empty one is no key", () => {
  expect(openIdKeys("oABC_1")).toMatchObject([{ method: "open_id", by: "wx_openid" }]);
  expect(openIdKeys("oABC_1")).not.toEqual(openIdKeys("oabc_1"));
  expect(openIdKeys("")).toEqual([]);
});

const CHROME = "Mozilla/5.0 (Linux; Android 13; SM-G991B) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/112.0.0.0";
const DALVIK = "Dalvik/2.1.0 (Linux; U; Android 13; SM-G991B Build/TP1A.220624.014)";
const OTHER = "Dalvik/2.1.0 (Linux; U; Android 13; SM-G996B Build/TP1A.220624.014)";

test("address and agent are a key if both are known", () => {
  expect(ipUaKeys(["203.0.113.7"], CHROME)).toMatchObject([{ method: "ip_ua", by: "ip_ua" }]);
  expect(ipUaKeys(["203.0.113.7"], CHROME)).toEqual(ipUaKeys(["203.0.113.7"], DALVIK));
  expect(ipUaKeys(["203.0.113.7"], CHROME)).not.toEqual(ipUaKeys(["203.0.113.8"], CHROME));
  expect(ipUaKeys(["203.0.113.7"], CHROME)).not.toEqual(ipUaKeys(["203.0.113.7"], OTHER));
  expect(ipUaKeys([""], CHROME)).toEqual([]);
  expect(ipUaKeys(["203.0.113.7"], "")).toEqual([]);
  expect(ipUaKeys(["203.0.113.7"], "okhttp/4.12.0")).toEqual([]);
});

test.each<[string, string]>([
  ["2001:db8::1", "2001:0db8:0000:0000:0000:0000:0000:0001"],
  ["2001:db8::1", "2001:DB8::1"],
  ["2001:db8::1", "2001:db8:0:0::1"],
  ["2001:db8:0:1::", "2001:db8:0:1:0:0:0:0"],
  ["fe80::1", "fe80::1%wlan0"],
  ["::ffff:203.0.113.7", "::ffff:cb00:7107"],
])("%s and %s are one address", (ip, same) => {
  expect(ipUaKeys([ip], CHROME)).toEqual(ipUaKeys([same], CHROME));
  expect(addressKey(ip)).toBe(addressKey(same));
  expect(ipUaKeys([ip], CHROME)).not.toEqual(ipUaKeys(["2001:db8:9::2"], CHROME));
});

test.each<[string, string, boolean]>([
  ["2001:db8:1:2::1", "2001:db8:1:2:aaaa:bbbb:cccc:dddd", true],
  ["2001:db8:1:2::1", "2001:db8:1:3::1", false],
  ["203.0.113.7", "203.0.113.8", false],
  ["203.0.113.7", "::ffff:203.0.113.7", true],
])("%s and %s are the address of one phone or household: %s", (ip, other, isOne) => {
  expect(ipUaKeys([ip], CHROME)[0]!.value === ipUaKeys([other], CHROME)[0]!.value).toBe(isOne);
  expect(addressKey(ip) === addressKey(other)).toBe(isOne);
});

test("a touch with an IPv4 and an IPv6 address is found by either, and by both spellings of one only once", () => {
  const both = ipUaKeys(["203.0.113.7", "2001:db8::1"], CHROME);
  expect(both).toHaveLength(2);
  expect(both).toEqual([...ipUaKeys(["203.0.113.7"], CHROME), ...ipUaKeys(["2001:db8::1"], CHROME)]);
  expect(ipUaKeys(["203.0.113.7", "", "::ffff:203.0.113.7"], CHROME)).toHaveLength(1);
  expect(ipUaKeys(["0.0.0.0", "::"], CHROME)).toEqual([]);
});

test("an address is counted by a key that finds no user", () => {
  expect(addressKey("203.0.113.7")).toMatch(/^[0-9a-f]{32}$/);
  expect(addressKey("203.0.113.7")).not.toBe(addressKey("203.0.113.8"));
  expect(addressKey("203.0.113.7")).not.toBe(ipUaKeys(["203.0.113.7"], CHROME)[0]!.value);
  expect(addressKey("")).toBeUndefined();
});

const hex = (digits: number) =>
  fc.string({ unit: fc.constantFrom(..."0123456789abcdefABCDEF"), minLength: digits, maxLength: digits });
const uuid = fc.oneof(
  fc.uuid(),
  fc.uuid().map((id) => id.toUpperCase()),
);
const mac = fc.array(hex(2), { minLength: 6, maxLength: 6 }).map((bytes) => bytes.join(":"));

/** Ids as devices read them, and their hashes as ad platforms make them. */
const ID_OF: Record<string, { id: fc.Arbitrary<string>; hashed: (id: string) => string[] }> = {
  imei: {
    id: fc.oneof(fc.stringMatching(/^[1-9]\d{14}$/), hex(14)),
    hashed: (id) => [id.toLowerCase(), id],
  },
  oaid: { id: fc.oneof(uuid, hex(32), hex(64), fc.string({ minLength: 1 })), hashed: (id) => [id.trim()] },
  idfa: { id: uuid, hashed: (id) => [id.toUpperCase()] },
  idfv: { id: uuid, hashed: (id) => [id.toUpperCase()] },
  android_id: { id: hex(16), hashed: (id) => [id.toLowerCase()] },
  mac: { id: mac, hashed: (id) => [id.toUpperCase(), id.toUpperCase().replaceAll(":", "")] },
};

test.each(Object.entries(ID_OF))("any %s is found raw, and by every hash that a platform makes of it", (by, kind) => {
  fc.assert(
    fc.property(kind.id, (id) => {
      const device = { [by]: id };
      fc.pre(keysOfDevice(device).length > 0);
      expect(sharedBy(device, { [by]: id })).toEqual([by]);
      for (const text of kind.hashed(id)) expect(sharedBy(device, { [`${by}_md5`]: md5(text) })).toEqual([by]);
    }),
  );
});

test("any text as a caid is read without failing", () => {
  const json = fc.json({ maxDepth: 3 }).map((text) => `[${text}]`);
  fc.assert(
    fc.property(fc.oneof(fc.string(), json), (caid) => {
      for (const key of keysOfTouch({ caid })) expect(key).toMatchObject({ method: "device_id", by: "caid" });
    }),
  );
});
