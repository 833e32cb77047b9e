import { describe, expect, test } from "vitest";
import {
  adUnitOf,
  type Ecpm,
  ecpmOverlapText,
  type GivenEcpm,
  overlapOfEcpms,
  readEcpm,
  shownEcpm,
} from "../../src/domain/ad-revenue.ts";
import { LIMITS } from "../../src/limits.ts";

const GIVEN: GivenEcpm = { ad_unit_id: "adunit-1", start_date: "2026-11-01", end_date: "2026-11-30", ecpm: 35.5 };

describe("an eCPM", () => {
  test.each<[string, Partial<GivenEcpm>, Partial<Ecpm>]>([
    ["is a thousandth for each ad, and its last day is included", {}, { viewMicros: 35_500, untilDay: "2026-12-01" }],
    ["may have no end", { end_date: "" }, { untilDay: null }],
    ["may have three decimals", { ecpm: 1.001 }, { viewMicros: 1_001 }],
    ["may be nothing", { ecpm: 0 }, { viewMicros: 0 }],
  ])("%s, and is shown as it was written", (_, change, expected) => {
    const given = { ...GIVEN, ...change };
    expect(readEcpm(given)).toMatchObject(expected);
    expect(shownEcpm(readEcpm(given))).toEqual(given);
  });

  test.each<[Partial<GivenEcpm>, string]>([
    [{ ad_unit_id: "" }, "ad_unit_id is empty or too long"],
    [{ ad_unit_id: "字".repeat(LIMITS.dimensionBytes) }, "ad_unit_id is empty or too long"],
    [{ start_date: "2026-02-30" }, "start_date must look like 2026-11-15"],
    [{ end_date: "2026-10-31" }, "end_date lies before start_date"],
    [{ ecpm: -1 }, "ecpm must be between 0 and 100000, with at most 3 decimals"],
    [{ ecpm: 100_001 }, "ecpm must be between 0 and 100000, with at most 3 decimals"],
    [{ ecpm: 1.0001 }, "ecpm must be between 0 and 100000, with at most 3 decimals"],
    [{ ecpm: Number.NaN }, "ecpm must be between 0 and 100000, with at most 3 decimals"],
  ])("is refused with %j", (change, problem) => {
    expect(() => readEcpm({ ...GIVEN, ...change })).toThrow(new Error(problem));
  });
});

test("periods of one unit must not share a day; those of different units may", () => {
  const [november, later] = [readEcpm(GIVEN), readEcpm({ ...GIVEN, start_date: "2026-11-30", end_date: "" })];
  expect(overlapOfEcpms([november, { ...later, adUnit: "adunit-2" }])).toBeUndefined();
  expect(overlapOfEcpms([november, { ...later, fromDay: "2026-12-01" }])).toBeUndefined();
  expect(ecpmOverlapText(overlapOfEcpms([later, november])!)).toBe(
    "the periods of ad unit adunit-1 overlap: 2026-11-01 to 2026-11-30 and from 2026-11-30 on",
  );
});

test("a unit is a text or a number, and not longer than an index can hold", () => {
  expect([adUnitOf("unit"), adUnitOf(7), adUnitOf(undefined), adUnitOf({})]).toEqual(["unit", "7", "", ""]);
  expect(adUnitOf("u".repeat(300))).toHaveLength(LIMITS.dimensionBytes);
});
