import { describe, expect, test } from "vitest";
import { CALIBERS } from "../../../src/domain/cube.ts";
import { METRICS, metricNamed } from "../../../src/report/metric/catalogue.ts";
import { ASSOCIATED, DIMENSIONS, type Dimension, incompatiblePair } from "../../../src/report/metric/dimension.ts";
import { METRIC_GROUPS } from "../../../src/report/metric/metric.ts";

const NAMES = [
  ..."AdCost AdShow AdClick AdCpm AdCpc AdCtr".split(" "),
  ..."AppActivateStandard AppRealRegisterCnt AppRegisterStandard AppActivateCost AppRegisterCost".split(" "),
  ..."AppDAU AppNewUserRate AppGamePayAmountStandard AppGamePayCntStandard AppGamePayUserCntStandard".split(" "),
  ..."AppFirstPayUserCnt AppGamePayRate AppGamePayCost AppAdRevenue AppAdShowCnt AppAdUserCnt AppAdEcpm".split(" "),
  ..."AppRevenue AppARPU AppARPPU AppROI".split(" "),
  ..."AppFirstDayPayAmount AppFirstDayAdRevenue AppFirstDayROI AppFirstDayLTV".split(" "),
  ..."App24hPayAmount App24hAdRevenue App24hROI App24hLTV".split(" "),
  ..."App3DayPayAmount App3DayAdRevenue App3DayROI App3DayLTV".split(" "),
  ..."App7DayPayAmount App7DayAdRevenue App7DayROI App7DayLTV".split(" "),
  ..."App14DayPayAmount App14DayAdRevenue App14DayROI App14DayLTV".split(" "),
  ..."App30DayPayAmount App30DayAdRevenue App30DayROI App30DayLTV".split(" "),
  ..."AppRetention1dCnt AppRetention2dCnt AppRetention3dCnt AppRetention4dCnt AppRetention5dCnt".split(" "),
  ..."AppRetention6dCnt AppRetention7dCnt AppRetention14dCnt AppRetention30dCnt".split(" "),
  ..."AppRetention1d AppRetention2d AppRetention3d AppRetention4d AppRetention5d".split(" "),
  ..."AppRetention6d AppRetention7d AppRetention14d AppRetention30d".split(" "),
  ..."AppPostbackCnt AppPostbackAmount AppRefundAmount AppRefundCnt AppGamePayNetAmount".split(" "),
  ..."AppAdReportedRevenue AppAdPulledRevenue AppAdEstimatedRevenue".split(" "),
  ..."AdRealCost AppRealROI AppRealFirstDayROI AppReal24hROI".split(" "),
  ..."AppReal3DayROI AppReal7DayROI AppReal14DayROI AppReal30DayROI".split(" "),
];

const RATES = /^(?:AdCtr|AppNewUserRate|AppGamePayRate|App(?:Real)?(?:FirstDay|24h|\d+Day)?ROI|AppRetention\d+d)$/;
const COUNTS = /Cnt(?:Standard)?$|^(?:AdShow|AdClick|AppActivateStandard|AppRegisterStandard|AppDAU)$/;
const READINGS = CALIBERS.flatMap((caliber) => ([1, 2] as const).map((roiVersion) => ({ caliber, roiVersion })));

describe("the catalogue", () => {
  test("holds every metric, and no other", () => {
    expect(METRICS.map(({ name }) => name).sort()).toEqual([...NAMES].sort());
    expect(new Set(NAMES).size).toBe(NAMES.length);
  });

  test.each(["name", "label", "cname", "tip", "ctip"] as const)("has every %s once", (field) => {
    const values = METRICS.map((metric) => metric[field]);
    expect(values.filter((value, index) => values.indexOf(value) !== index)).toEqual([]);
  });

  test.each(METRICS)("$name has a label in each language, and a sentence that defines it", (metric) => {
    expect(metric.label).toMatch(/^[A-Za-z0-9]\S*(?: \S+)*$/);
    expect(metric.cname).toMatch(/^\S+$/);
    expect(metric.tip).toMatch(/^[A-Z].*[^.]\.$/s);
    expect(metric.ctip).toMatch(/^\S.*[^。]。$/s);
    expect(metricNamed(metric.name)).toBe(metric);
  });

  test("lists the metrics by group, in the order of the groups", () => {
    const groups = METRICS.map(({ group }) => group).filter((group, at, list) => group !== list[at - 1]);
    expect(groups).toEqual(METRIC_GROUPS.map(({ name }) => name));
  });

  test.each(METRICS)("$name is a count, an amount of money or a rate", ({ name, unit, formula }) => {
    expect(unit).toBe(RATES.test(name) ? "rate" : COUNTS.test(name) ? "count" : "money");
    for (const reading of READINGS) {
      const { of, by } = formula(reading);
      expect(of.measures.length).toBeGreaterThan(0);
      if (unit === "count") expect(by).toBeUndefined();
      if (unit === "rate") expect(by).toBeDefined();
    }
  });

  test.each(["", "adcost", "AdCost ", "AppRetention8d", "App5DayROI", "constructor"])("has no metric %j", (name) => {
    expect(metricNamed(name)).toBeUndefined();
  });

  test.each([
    ["AppFirstDay", { 1: ["pay_d1", "ad_d1"], 2: ["pay_s1", "ad_s1"] }],
    ["App24h", { 1: ["pay_s1", "ad_s1"], 2: ["pay_s1", "ad_s1"] }],
    ["App3Day", { 1: ["pay_d3", "ad_d3"], 2: ["pay_s3", "ad_s3"] }],
    ["App7Day", { 1: ["pay_d7", "ad_d7"], 2: ["pay_s7", "ad_s7"] }],
    ["App14Day", { 1: ["pay_d14", "ad_d14"], 2: ["pay_s14", "ad_s14"] }],
    ["App30Day", { 1: ["pay_d30", "ad_d30"], 2: ["pay_s30", "ad_s30"] }],
  ])("counts %s by calendar days in roi_version 1 and by spans in 2, but 24 hours always by spans", (window, by) => {
    for (const reading of READINGS) {
      const [pay, ad] = by[reading.roiVersion];
      const measuresOf = (what: string) => metricNamed(`${window}${what}`)!.formula(reading).of.measures;
      // By spans, what share rules say about the payments comes beside them.
      const paid = reading.roiVersion === 2 ? [pay, pay!.replace("pay", "ruled"), pay!.replace("pay", "share")] : [pay];
      expect(measuresOf("PayAmount")).toEqual(paid);
      expect(measuresOf("AdRevenue")).toEqual([ad]);
      expect(measuresOf("ROI")).toEqual([...paid, ad]);
      expect(measuresOf("LTV")).toEqual([...paid, ad]);
    }
  });
});

describe("dimensions", () => {
  const ALL = [
    ..."date hour ad_platform advertiser_id gid aid creative channel os_platform operator".split(" "),
    ..."turbo_promoted_object_id csite dept".split(" "),
  ] as Dimension[];
  const PAIRS = [
    ..."advertiser_id gid aid creative channel os_platform operator turbo_promoted_object_id dept"
      .split(" ")
      .map((other) => ["csite", other]),
    ...["operator", "turbo_promoted_object_id", "dept"].map((other) => ["channel", other]),
    ["turbo_promoted_object_id", "dept"],
  ];
  const isListed = (one: string, other: string) =>
    PAIRS.some(([left, right]) => (left === one && right === other) || (left === other && right === one));

  test("are those of the interface, each with its own label", () => {
    expect(DIMENSIONS.map(({ name }) => name)).toEqual(ALL);
    expect(new Set(DIMENSIONS.map(({ label }) => label)).size).toBe(ALL.length);
    expect(new Set(DIMENSIONS.map(({ cname }) => cname)).size).toBe(ALL.length);
  });

  test("exclude one another in the listed pairs, and only in these", () => {
    const found = ALL.flatMap((one) =>
      ALL.filter((other) => incompatiblePair([one, other])).map((other) => [one, other]),
    );
    const expected = ALL.flatMap((one) => ALL.filter((other) => isListed(one, other)).map((other) => [one, other]));
    expect(expected).toHaveLength(26);
    expect(found).toEqual(expected);
  });

  test("are named as the incompatible pair, wherever they are in the list", () => {
    expect(incompatiblePair(["date", "dept", "gid", "turbo_promoted_object_id"])).toEqual([
      "turbo_promoted_object_id",
      "dept",
    ]);
    expect(
      incompatiblePair(["date", "ad_platform", "advertiser_id", "gid", "aid", "os_platform", "operator", "dept"]),
    ).toBe(undefined);
    expect(incompatiblePair([])).toBeUndefined();
  });

  test("have the associated values of the interface", () => {
    const needed = Object.fromEntries(Object.entries(ASSOCIATED).map(([name, { dimension }]) => [name, dimension]));
    expect(needed).toEqual({
      advertiser_status: "advertiser_id",
      advertiser_name: "advertiser_id",
      advertiser_remark: "advertiser_id",
      gName: "gid",
      gStatus: "gid",
      AidName: "aid",
      AidStatus: "aid",
      CidName: "creative",
      CidStatus: "creative",
    });
  });
});
