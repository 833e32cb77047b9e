import fc from "fast-check";
import { expect, test } from "vitest";
import { storableText } from "../../src/domain/json.ts";
import { cleanValue } from "../../src/domain/user/identity.ts";
import { LIMITS } from "../../src/limits.ts";
import { readTouch } from "../../src/platform/link.ts";
import { LinkQuery } from "../../src/platform/link-query.ts";
import { PLATFORM_NAMES } from "../../src/platform/registry.ts";

const NAMES = ["company", "app_id", "aid", "", "名"];

/** The rule in its plainest form: the standard parser, and the first value that is not empty. */
function expected(text: string, name: string): string {
  const values = new URLSearchParams(text).getAll(name).map((value) => storableText(cleanValue(value)));
  return values.find((value) => value !== "") ?? "";
}

test("whatever bytes are sent, a link is parsed as the standard parses a form", () => {
  const piece = fc.oneof(
    fc.constantFrom(...NAMES, ...NAMES.map(encodeURIComponent), "%63ompany", "c%6fmpany", "com+pany"),
    fc.constantFrom("baidu", "__AID__", "50%", "%E0%A4%A", "a%00b", "a+b", "=", "==", "&", "?", "#", ";", " ", "\xff"),
    fc.string({ unit: "binary", maxLength: 6 }),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(piece, fc.constantFrom("=", "&", "=&", "")), { maxLength: 12 }), (pieces) => {
      const text = Buffer.from(pieces.flat().join("")).toString("utf8");
      const link = LinkQuery.ofBytes(Buffer.from(text));
      for (const name of NAMES) expect([text, name, link.get(name)]).toEqual([text, name, expected(text, name)]);
    }),
    { numRuns: 500 },
  );
});

test.each<[string, string]>([
  ["company=baidu&company=tencent", "baidu"],
  ["%63ompany=baidu&company=tencent", "baidu"],
  ["company=&company=tencent", "tencent"],
  ["company=__COMPANY__&company=tencent", "tencent"],
  ["Company=baidu&company=tencent", "tencent"],
  ["?company=tencent", "tencent"],
])("%s names %s", (text, company) => {
  expect(new LinkQuery(text).get("company")).toBe(company);
});

test.each<[string, boolean]>([
  ["a=1&b=2", false],
  ["a=1&A=1", false],
  ["&&a=1&", false],
  ["a=1&b=2&a=1", true],
  ["a=1&%61=2", true],
  ["a&a", true],
  ["a=&a=__A__", true],
])("%s has repeats: %s", (text, hasRepeats) => {
  expect(new LinkQuery(text).hasRepeats).toBe(hasRepeats);
});

test("a value is cut to the allowed length, and no character is split", () => {
  const max = LIMITS.linkValueBytes;
  expect(new LinkQuery(`a=${"x".repeat(max)}`).get("a")).toHaveLength(max);
  expect(new LinkQuery(`a=${"x".repeat(max + 1)}`).get("a")).toHaveLength(max);
  expect(new LinkQuery(`a=${"广".repeat(max)}`).get("a")).toBe("广".repeat(Math.floor(max / 3)));
});

test("a touch has at most 8 ids of a kind and 32 keys, whatever an older entry lists", () => {
  const hash = "5d41402abc4b2a76b9719d911017c592";
  const ids = ["imei", "oaid", "idfa", "idfv", "android_id", "mac"].map((name) => `${name}=a1&${name}_md5=${hash}`);
  const ua = encodeURIComponent("Mozilla/5.0 (Linux; Android 14; 23127PN0CC Build/UKQ1.23; wv) AppleWebKit/537.36");
  const rest = `click_id=a&callback=b&bd_vid=c&clue_token=d&wx_openid=e&muid=${hash}&ip=203.0.113.9&ua=${ua}`;
  const many = Array.from({ length: 100_000 }, (_, index) => index.toString(36));
  const objects = many.slice(0, 100).map((caid) => ({ caid, version: "1" }));
  const lists = [
    many.map((id) => `1_${id}`).join(","),
    encodeURIComponent(JSON.stringify(objects)),
    encodeURIComponent(JSON.stringify([{ caid: objects }])),
  ];
  for (const platform of PLATFORM_NAMES) {
    for (const caid of lists) {
      const link = new LinkQuery(`company=${platform}&${ids.join("&")}&${rest}&caid=${caid}`);
      const { keys, addressKey } = readTouch("click", link, 0)!;
      const countOf = (by: string) => keys.filter((key) => key.by === by).length;
      for (const { by } of keys) expect(countOf(by)).toBeLessThanOrEqual(8);
      expect(countOf("caid")).toBe(8);
      expect(keys.length + (addressKey ? 1 : 0)).toBeLessThanOrEqual(32);
    }
  }
});
