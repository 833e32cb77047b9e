import fc from "fast-check";
import { expect, test } from "vitest";
import { cleanId, cleanValue, md5 } from "../../../src/domain/user/identity.ts";

test.each<[unknown]>([
  [""],
  ["   "],
  [null],
  [undefined],
  [true],
  [{}],
  [[]],
  [Number.NaN],
  [0],
  ["0"],
  ["000000000000000"],
  ["00000000-0000-0000-0000-000000000000"],
  ["00:00:00:00:00:00"],
  ["02:00:00:00:00:00"],
  ["null"],
  ["NULL"],
  ["undefined"],
  ["unknown"],
  ["__IDFA__"],
  ["{{idfa}}"],
  ["{idfa}"],
  ["$idfa$"],
  ["%%IDFA%%"],
  [md5("")],
  [md5("").toUpperCase()],
  [md5("00000000-0000-0000-0000-000000000000")],
])("%j is no id", (value) => {
  expect(cleanId(value)).toBe("");
});

test.each<[unknown, string]>([
  [" 1fe9a970-efbb-29e0-0bdd-f5dbbf751ab5 ", "1fe9a970-efbb-29e0-0bdd-f5dbbf751ab5"],
  ["867530012345678", "867530012345678"],
  [867530012345678, "867530012345678"],
  ["AEBE52E7-03EE-455A-B3C4-E57283966239", "AEBE52E7-03EE-455A-B3C4-E57283966239"],
  ["10:00:00:00:00:00", "10:00:00:00:00:00"],
  ["nullable", "nullable"],
  ["__IDFA", "__IDFA"],
])("%j is the id %j", (value, expected) => {
  expect(cleanId(value)).toBe(expected);
});

test.each<[unknown, string]>([
  [0, "0"],
  ["0", "0"],
  [false, "false"],
  [" feed ", "feed"],
  ["__CSITE__", ""],
  [null, ""],
  [{}, ""],
  [Number.POSITIVE_INFINITY, ""],
])("as a plain value %j is %j", (value, expected) => {
  expect(cleanValue(value)).toBe(expected);
});

test("cleaning is idempotent, and nothing makes it throw", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.anything()), (value) => {
      expect(cleanId(cleanId(value))).toBe(cleanId(value));
      expect(cleanValue(cleanValue(value))).toBe(cleanValue(value));
    }),
  );
});
