import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { isSignedByBaidu } from "../../../src/platform/baidu/link.ts";
import { linkOf } from "../../../src/platform/link.ts";
import { platformNamed } from "../../../src/platform/registry.ts";

const AKEY = "MjAyNmFrZXk=";
const ADDRESS =
  "https://t.example.com/event_center/api/v1/event/click/?app_id=7&company=baidu&track_id=c0ffee0123456789&advertiser_id=30412345&gid=120000001&click_id=8f3a51c2&ts=1700000000123&ip=203.0.113.9";

/** The documented rule: md5 of the address with all macros replaced, without `&sign=`, followed by the akey. */
function signOf(address: string, akey = AKEY): string {
  return createHash("md5").update(`${address}${akey}`).digest("hex");
}

const signed = (address: string, akey = AKEY) => `${address}&sign=${signOf(address, akey)}`;

test("a vector made elsewhere is accepted", () => {
  expect(isSignedByBaidu(`${ADDRESS}&sign=f0ccd60045469e4e7586fec9c95d3275`, AKEY)).toBe(true);
});

test.each<[string, string]>([
  ["without a query", "https://t.example.com/click"],
  ["over http, with a port", "http://t.example.com:8080/click/?click_id=1"],
  ["with an encoded callback", `${ADDRESS}&callback=http%3A%2F%2Focpc.baidu.com%2Fcb%3Fa_type%3D%7B%7BATYPE%7D%7D`],
  ["with a user agent that is not encoded", `${ADDRESS}&ua=Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X)`],
  ["with Chinese text that is not encoded", `${ADDRESS}&model=小米 14`],
  ["with macros that stayed as they were", `${ADDRESS}&idfa=__IDFA__&oaid={{OAID}}`],
  ["with an earlier sign", `${ADDRESS}&sign=${signOf("another")}`],
  ["with an empty value before the sign", `${ADDRESS}&caid=`],
  ["with an extension of three kilobytes", `${ADDRESS}&ext_info=${"e".repeat(3072)}`],
])("an address %s is accepted as Baidu signed it", (_, address) => {
  expect(isSignedByBaidu(signed(address), AKEY)).toBe(true);
});

test("our own link is accepted once Baidu has filled it in", () => {
  const options = { baseUrl: "https://t.example.com", appId: 7, campaignId: "c0ffee", channel: "a b", macros: {} };
  const link = linkOf(platformNamed("baidu")!, "click", options)!;
  const filled = link.replace("__CLICK_ID__", "8f3a51c2").replace("__TS__", "1700000000123");
  const address = filled.replace("&sign=__SIGN__", "");
  expect(isSignedByBaidu(filled.replace("__SIGN__", signOf(address)), AKEY)).toBe(true);
  expect(isSignedByBaidu(filled, AKEY)).toBe(false);
});

test("a sign in upper case is accepted", () => {
  expect(isSignedByBaidu(`${ADDRESS}&sign=${signOf(ADDRESS).toUpperCase()}`, AKEY)).toBe(true);
});

test.each<[string, string]>([
  ["no sign", ADDRESS],
  ["an empty sign", `${ADDRESS}&sign=`],
  ["the macro in place of a sign", `${ADDRESS}&sign=__SIGN__`],
  ["a sign that is cut off", signed(ADDRESS).slice(0, -1)],
  ["a sign that is too long", `${signed(ADDRESS)}0`],
  ["a sign that is not hexadecimal", `${ADDRESS}&sign=${"g".repeat(32)}`],
  ["the sign of another address", `${ADDRESS}&sign=${signOf(ADDRESS.replace("8f3a51c2", "8f3a51c3"))}`],
  ["a sign made without the akey", signed(ADDRESS, "")],
  ["a sign made with another akey", signed(ADDRESS, `${AKEY}x`)],
  ["a sign under another name", signed(ADDRESS).replace("&sign=", "&signature=")],
  ["a name in upper case", signed(ADDRESS).replace("&sign=", "&SIGN=")],
  ["a parameter after the sign", `${signed(ADDRESS)}&gid=1`],
  ["an ampersand after the sign", `${signed(ADDRESS)}&`],
  ["a line break after the sign", `${signed(ADDRESS)}\n`],
  ["a fragment after the sign", `${signed(ADDRESS)}#`],
  ["a second, wrong sign", `${signed(ADDRESS)}&sign=${signOf("another")}`],
  ["a changed parameter", signed(ADDRESS).replace("gid=120000001", "gid=120000002")],
  ["a parameter less", signed(ADDRESS).replace("&gid=120000001", "")],
  ["a parameter more", signed(ADDRESS).replace("&sign=", "&aid=1&sign=")],
  ["two parameters that changed places", signed(ADDRESS).replace(/(&gid=\d+)(&click_id=\w+)/, "$2$1")],
  ["another host", signed(ADDRESS).replace("t.example.com", "u.example.com")],
  ["another scheme", signed(ADDRESS).replace("https:", "http:")],
  ["nothing at all", ""],
])("an address with %s is refused", (_, address) => {
  expect(isSignedByBaidu(address, AKEY)).toBe(false);
});

test("what Baidu signed is accepted only with its akey, and any change to it is refused", () => {
  const text = fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(text, text, text, fc.nat(), (value, akey, other, at) => {
      const address = `${ADDRESS}&ext_info=${value}`;
      expect(isSignedByBaidu(signed(address, akey), akey)).toBe(true);
      expect(isSignedByBaidu(signed(address, akey), other)).toBe(other === akey);
      const index = at % address.length;
      const changed = `${address.slice(0, index)}\u0001${address.slice(index)}`;
      expect(
        isSignedByBaidu(
          signed(address, akey).replace(address, () => changed),
          akey,
        ),
      ).toBe(false);
    }),
  );
});
