import fc from "fast-check";
import { expect, test } from "vitest";
import { LIMITS } from "../../src/config.ts";
import { cleanValue } from "../../src/domain/identity.ts";
import { storableText } from "../../src/domain/json.ts";
import { LinkQuery } from "../../src/platform/link-query.ts";

const NAMES = ["company", "app_id", "aid", "", "名"];

/** The rule in its plainest form: the standard's own parser, and the first value that says anything. */
function expected(text: string, name: string): string {
  const values = new URLSearchParams(text).getAll(name).map((value) => storableText(cleanValue(value)));
  return values.find((value) => value !== "") ?? "";
}

test("whatever bytes are sent, a link is read as the standard reads a form", () => {
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
    { numRuns: 2_000 },
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

test("a value is as long as allowed at most, and no character is split", () => {
  const max = LIMITS.linkValueBytes;
  expect(new LinkQuery(`a=${"x".repeat(max)}`).get("a")).toHaveLength(max);
  expect(new LinkQuery(`a=${"x".repeat(max + 1)}`).get("a")).toHaveLength(max);
  expect(new LinkQuery(`a=${"广".repeat(max)}`).get("a")).toBe("广".repeat(Math.floor(max / 3)));
});
