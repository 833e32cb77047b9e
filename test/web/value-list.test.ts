import fc from "fast-check";
import { expect, test } from "vitest";
import { listOf, listText } from "../../web/src/report/value-list.ts";

test("a list of values in the address is read as it was written, whatever the values hold", () => {
  const list = fc.array(fc.string({ unit: "grapheme" }).filter((text) => text.isWellFormed()));
  fc.assert(
    fc.property(list, (values) => {
      expect(listOf(listText(values))).toEqual(values);
    }),
  );
});

test.each<[string[], string]>([
  [[], ""],
  [["ios", "android"], "ios,android"],
  [["", "a,b", "~"], "~,a%2Cb,%7E"],
  [["渠道"], "%E6%B8%A0%E9%81%93"],
])("%j is written as %j", (values, text) => {
  expect(listText(values)).toBe(text);
});

test("a value typed into the address is read as it is", () => {
  expect(listOf("50%,x")).toEqual(["50%", "x"]);
});
