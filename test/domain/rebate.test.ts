import { describe, expect, test } from "vitest";
import {
  type GivenRebate,
  overlapOf,
  overlapText,
  type Rebate,
  readRebate,
  shownRebate,
} from "../../src/domain/rebate.ts";

const GIVEN: GivenRebate = {
  ad_platform: "tencent",
  advertiser_id: "7788",
  start_date: "2026-11-01",
  end_date: "2026-11-30",
  cash_percent: 3.5,
  credit_percent: 10,
};

describe("a rebate as people write it", () => {
  test.each<[string, Partial<GivenRebate>, Partial<Rebate>]>([
    ["ends after its last day", {}, { fromDay: "2026-11-01", untilDay: "2026-12-01", cashBp: 350, creditBp: 1000 }],
    ["may have no end", { end_date: "" }, { untilDay: null }],
    ["may last one day", { end_date: "2026-11-01" }, { untilDay: "2026-11-02" }],
    ["may be nothing", { cash_percent: 0, credit_percent: 0 }, { cashBp: 0, creditBp: 0 }],
    ["has two decimals", { cash_percent: 1.15, credit_percent: 8.29 }, { cashBp: 115, creditBp: 829 }],
    [
      "may be as large as it makes sense",
      { cash_percent: 99.99, credit_percent: 100 },
      { cashBp: 9999, creditBp: 10_000 },
    ],
    ["may be of costs without an account", { advertiser_id: "" }, { advertiserId: "" }],
  ])("%s, and is shown as it was written", (_, change, expected) => {
    const given = { ...GIVEN, ...change };
    expect(readRebate(given)).toMatchObject(expected);
    expect(shownRebate(readRebate(given))).toEqual(given);
  });

  test.each<[Partial<GivenRebate>, string]>([
    [{ ad_platform: "" }, "ad_platform is empty"],
    [{ start_date: "2026-02-30" }, "start_date must look like 2026-11-15"],
    [{ start_date: "" }, "start_date must look like 2026-11-15"],
    [{ end_date: "soon" }, "end_date must look like 2026-11-15 or be empty"],
    [{ end_date: "2026-10-31" }, "end_date lies before start_date"],
    [{ cash_percent: 200 }, "cash_percent must be between 0 and 99.99, with at most 2 decimals"],
    [{ cash_percent: 100 }, "cash_percent must be between 0 and 99.99, with at most 2 decimals"],
    [{ cash_percent: -1 }, "cash_percent must be between 0 and 99.99, with at most 2 decimals"],
    [{ cash_percent: Number.NaN }, "cash_percent must be between 0 and 99.99, with at most 2 decimals"],
    [{ credit_percent: 200 }, "credit_percent must be between 0 and 100, with at most 2 decimals"],
    [{ credit_percent: 1.234 }, "credit_percent must be between 0 and 100, with at most 2 decimals"],
  ])("is refused with %j", (change, problem) => {
    expect(() => readRebate({ ...GIVEN, ...change })).toThrow(new Error(problem));
  });
});

describe("periods", () => {
  const of = (start_date: string, end_date: string, advertiser_id = "7788") =>
    readRebate({ ...GIVEN, start_date, end_date, advertiser_id });
  const [october, november] = [of("2026-10-01", "2026-10-31"), of("2026-11-01", "2026-11-30")];

  test.each<[string, Rebate[]]>([
    ["that follow one another", [november, october]],
    ["of different accounts", [november, of("2026-11-15", "", "7789")]],
    ["of which the last has no end", [november, of("2026-12-01", ""), october]],
  ])("%s do not overlap", (_, rebates) => {
    expect(overlapOf(rebates)).toBeUndefined();
  });

  test.each<[string, Rebate[], string]>([
    [
      "share a day",
      [november, of("2026-10-31", "2026-10-31"), october],
      "2026-10-01 to 2026-10-31 and 2026-10-31 to 2026-10-31",
    ],
    ["begin on the same day", [november, of("2026-11-01", "")], "2026-11-01 to 2026-11-30 and from 2026-11-01 on"],
    ["follow one without an end", [of("2026-01-01", ""), november], "from 2026-01-01 on and 2026-11-01 to 2026-11-30"],
  ])("that %s overlap", (_, rebates, periods) => {
    expect(overlapText(overlapOf(rebates)!)).toBe(`the rebates of tencent 7788 overlap: ${periods}`);
  });
});
