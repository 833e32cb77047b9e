import { beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../../src/db/app.ts";
import type { DeveloperApp } from "../../../src/db/developer-app.ts";
import { sharedServer } from "../../support/shared-server.ts";
import type { Answer } from "../../support/touchpoint.ts";
import { DAY_MS, type Row } from "../fixture.ts";
import { adReportOf, dayOf, Reports, recentDays } from "./reports.ts";

const server = sharedServer();
const reports = new Reports(server);

let app: App;
let developer: DeveloperApp;
beforeAll(async () => {
  app = await server.createApp();
  developer = await reports.developer();
  await server.register(app, "u", { channel: "c" });
  await reports.counted(developer, app, 1);
});

/** All but the hour, which has its own rules. */
const DIMENSIONS = [
  ...["date", "ad_platform", "advertiser_id", "gid", "aid", "creative", "channel", "os_platform"],
  ...["operator", "turbo_promoted_object_id", "csite", "dept"],
];

/** The pairs that the interface lists, each once. */
const INCOMPATIBLE = new Set(
  [
    ..."advertiser_id gid aid creative channel os_platform operator turbo_promoted_object_id dept"
      .split(" ")
      .map((name) => [name, "csite"]),
    ...["operator", "turbo_promoted_object_id", "dept"].map((name) => [name, "channel"]),
    ["dept", "turbo_promoted_object_id"],
  ].map((pair) => pair.sort().join(" ")),
);

const PAIRS = DIMENSIONS.flatMap((one, index) => DIMENSIONS.slice(index + 1).map((other) => [one, other]));

const ask = (more: Row = {}) => reports.call(developer, "combo_sql", adReportOf(app, more));

function expectBad(answer: Answer, ...words: string[]): void {
  expect(answer).toMatchObject({ status: 200, code: 1004, data: {} });
  for (const word of words) expect(answer.msg).toContain(word);
  expect(answer.data).toEqual({});
  expect(answer.extra.error).toBe(answer.msg);
}

describe("in a report request", () => {
  test.each(["app_id", "date_list", "metrics_list", "dims_list", "statistics_caliber", "decimal_point"])(
    "%s is required",
    async (field) => {
      const { [field]: _, ...rest } = adReportOf(app);
      const answer = await reports.call(developer, "combo_sql", rest);
      expectBad(answer, field, "missing");
      expectBad(await ask({ [field]: null }), field);
    },
  );

  test("everything else is optional, and lists may be empty", async () => {
    const filtering = { ad_platform_list: [], channel_list: [], version_list: [], turbo_promoted_object_id_list: [] };
    const [plain, full] = [await ask(), await ask({ roi_version: 1, filtering, dims_metrics_list: [] })];
    expect(plain).toMatchObject({ code: 0 });
    expect(full.data).toEqual(plain.data);
    expect(await ask({ filtering: {} })).toMatchObject({ code: 0, data: plain.data });
  });

  test.each<[string, unknown[]]>([
    ["app_id", ["10000001", 1.5, [], true]],
    ["date_list", ["2026-11-01", 20261101, {}, [20261101, 20261102], ["2026-11-01", null]]],
    ["metrics_list", ["AdCost", 1, {}, [1], [["AdCost"]], []]],
    ["dims_list", ["date", {}, [null], [["date"]]]],
    ["statistics_caliber", [1, ["user_activated_time"], "", "other", "USER_ACTIVATED_TIME"]],
    ["decimal_point", ["2", 0, 1, 3, 2.5, -2, [2], true]],
    ["roi_version", ["1", 0, 3, 1.5, [1]]],
    ["filtering", ["text", 1, []]],
    ["dims_metrics_list", ["gName", 1, {}, [1]]],
  ])("%s of a wrong type or value is refused by its name", async (field, values) => {
    for (const value of values) expectBad(await ask({ dims_list: ["gid"], [field]: value }), field);
  });

  test.each<[string, unknown[]]>([
    ["ad_platform_list", ["tencent", {}, [1]]],
    ["channel_list", ["c", 5, [["c"]]]],
    ["version_list", [1, "1", ["1"], [null]]],
    ["turbo_promoted_object_id_list", ["x", [16]]],
    ["advertiser_id_list", ["x", [16]]],
    ["gid_list", ["x", [16]]],
    ["aid_list", ["x", [16]]],
    ["creative_list", ["x", [16]]],
    ["os_platform_list", ["ios", 5]],
    ["csite_list", ["x", [null]]],
  ])("filtering.%s of a wrong type is refused by its name", async (field, values) => {
    for (const value of values) expectBad(await ask({ filtering: { [field]: value } }), `filtering.${field}`);
  });

  test("unknown keys are ignored, at every level", async () => {
    const filtering = { channel_list: ["c"], planet_list: 5, nothing: { deep: [1] } };
    const unknown = { time_zone: "utc", multi_days: 30, need_cname: true, nothing: null, other: { a: [{}] } };
    const [plain, answer] = [await ask({ filtering: { channel_list: ["c"] } }), await ask({ ...unknown, filtering })];
    expect(answer).toMatchObject({ code: 0, data: plain.data });
  });
});

describe("the dates of a report", () => {
  test.each<[string, string[]]>([
    ["none", []],
    ["one", ["2026-11-01"]],
    ["three", ["2026-11-01", "2026-11-02", "2026-11-03"]],
    ["words", ["today", "today"]],
    ["empty", ["", ""]],
    ["one empty", ["2026-11-01", ""]],
    ["with a clock", ["2026-11-01 00:00:00", "2026-11-02 00:00:00"]],
    ["of another form", ["20261101", "20261102"]],
    ["without zeros", ["2026-1-1", "2026-1-2"]],
    ["of month zero", ["0000-00-00", "0000-00-00"]],
    ["of the year zero", ["0000-01-01", "0000-01-02"]],
    ["of a day that February lacks", ["2026-02-30", "2026-03-01"]],
    ["of a day that the year lacks", ["2026-02-29", "2026-03-01"]],
    ["of an invalid month", ["2026-13-01", "2026-13-02"]],
    ["of five digits", ["12026-11-01", "12026-11-02"]],
    ["of the far future", ["9999-12-31", "9999-12-31"]],
    ["with more behind", ["2026-11-01\n", "2026-11-02"]],
    ["reversed", ["2026-11-02", "2026-11-01"]],
    ["more than ten years apart", ["2010-01-01", "2026-01-01"]],
  ])("are refused: %s", async (_, dates) => {
    expectBad(await ask({ date_list: dates }), "date_list");
  });

  test.each<[string, string[]]>([
    ["a single day", ["2026-11-01", "2026-11-01"]],
    ["the day that only leap years have", ["2024-02-29", "2024-02-29"]],
    ["ten whole years", ["2016-01-01", "2025-12-31"]],
    ["days to come", ["2040-01-01", "2040-01-02"]],
  ])("are accepted: %s", async (_, dates) => {
    expect(await ask({ date_list: dates })).toMatchObject({ code: 0 });
  });

  test("are both included", async () => {
    const [first, last] = recentDays();
    const days = async (date_list: string[]) => (await ask({ date_list })).data.items.length;
    expect(await days([first, last])).toBe(1);
    const [{ date }] = (await ask()).data.items;
    expect(await days([date, date])).toBe(1);
    expect(await days([date, last])).toBe(1);
    expect(await days([first, date])).toBe(1);
  });
});

describe("the dimensions of a report", () => {
  test("include thirteen pairs that cannot be combined", () => {
    expect(PAIRS).toHaveLength(66);
    expect(INCOMPATIBLE.size).toBe(13);
  });

  test("are refused with 2006 for exactly the listed pairs, naming both, in either order", async () => {
    for (const [one, other] of PAIRS) {
      const isBad = INCOMPATIBLE.has([one, other].sort().join(" "));
      for (const dims_list of [
        [one, other],
        [other, one],
      ]) {
        const answer = await ask({ dims_list });
        expect({ dims_list, code: answer.code }).toEqual({ dims_list, code: isBad ? 2006 : 0 });
        if (!isBad) continue;
        expect(answer.msg).toMatch(new RegExp(`\\b${one}\\b`));
        expect(answer.msg).toMatch(new RegExp(`\\b${other}\\b`));
        expect(answer.data).toEqual({});
      }
    }
  });

  test("are refused if an incompatible pair is among others", async () => {
    const others = ["date", "ad_platform", "os_platform"];
    const answer = await ask({ dims_list: [...others, "channel", "dept"] });
    expect(answer).toMatchObject({ status: 200, code: 2006, data: {} });
    expect(answer.msg).toMatch(/channel.*dept|dept.*channel/);
    const compatible = [...others, "advertiser_id", "gid", "aid", "operator", "dept"];
    expect(await ask({ dims_list: compatible })).toMatchObject({ code: 0 });
  });

  test("may be missing: the report then has one row", async () => {
    const { data } = await ask({ dims_list: [] });
    expect(data).toMatchObject({ items: [{ AdCost: 0, AppActivateStandard: 1 }], static: [] });
    expect(data.total).toEqual(data.items);
  });
});

describe("a name that does not exist is refused:", () => {
  const ODD = ["Nothing", "adcost", "DATE", "", " ", "toString", "__proto__", "constructor", "日期", "a".repeat(3_000)];

  test.each<[string, Row]>([
    ["metrics_list", { dims_list: ["gid"] }],
    ["dims_list", {}],
    ["dims_metrics_list", { dims_list: ["gid"] }],
  ])("%s", async (field, more) => {
    for (const name of ODD) {
      const answer = await ask({ ...more, [field]: [name] });
      expectBad(answer, field, ...(name.length > 2_000 ? [] : [name]));
      expect(answer.msg.length).toBeLessThan(400);
    }
  });

  test("even beside valid names", async () => {
    expectBad(await ask({ metrics_list: ["AdCost", "Nothing"] }), "Nothing");
    expectBad(await ask({ dims_list: ["date", "Nothing"] }), "Nothing");
    expectBad(await ask({ dims_list: ["gid"], dims_metrics_list: ["gName", "Nothing"] }), "Nothing");
  });
});

test.each([
  ["advertiser_status", "advertiser_id"],
  ["advertiser_name", "advertiser_id"],
  ["advertiser_remark", "advertiser_id"],
  ["gName", "gid"],
  ["gStatus", "gid"],
  ["AidName", "aid"],
  ["AidStatus", "aid"],
  ["CidName", "creative"],
  ["CidStatus", "creative"],
])("%s needs the grouping %s", async (name, dimension) => {
  const dims_metrics_list = [name];
  const others = ["advertiser_id", "gid", "aid"].filter((one) => one !== dimension);
  for (const dims_list of [[], ["date"], others]) {
    expectBad(await ask({ dims_list, dims_metrics_list }), name, dimension);
  }
  expect(await ask({ dims_list: [dimension], dims_metrics_list })).toMatchObject({ code: 0 });
});

describe("a report by hour", () => {
  const daysAgo = (days: number) => dayOf(Date.now() - days * DAY_MS);
  const metrics_list = ["AppActivateStandard", "AppGamePayAmountStandard"];

  test("has the hours of one or two days, beside the date or without it", async () => {
    const statistics_caliber = "behavior_occurred_time";
    const body = { metrics_list, statistics_caliber, date_list: [daysAgo(1), daysAgo(0)] };
    const { data } = await ask({ ...body, dims_list: ["date", "hour", "ad_platform"] });
    expect(data.items).toEqual([
      {
        date: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
        hour: expect.stringMatching(/^(?:[01]\d|2[0-3])$/),
        ad_platform: "natural",
        AppActivateStandard: 1,
        AppGamePayAmountStandard: 0,
      },
    ]);
    expect((await ask({ ...body, dims_list: ["hour"] })).data.items).toEqual([
      { hour: data.items[0].hour, AppActivateStandard: 1, AppGamePayAmountStandard: 0 },
    ]);
  });

  test("of three days is refused", async () => {
    const date_list = [daysAgo(2), daysAgo(0)];
    expectBad(await ask({ metrics_list, dims_list: ["hour"], date_list }), "date_list", "2 days", "hour");
  });

  test("has activity and ads where they happened, but not postbacks, and says why", async () => {
    const statistics_caliber = "behavior_occurred_time";
    const body = { dims_list: ["hour"], date_list: [daysAgo(0), daysAgo(0)], statistics_caliber };
    const known = await ask({ ...body, metrics_list: ["AppDAU", "AppAdRevenue", "AppROI"] });
    expect(known).toMatchObject({ code: 0, data: { total: [{ AppAdRevenue: 0, AppROI: 0 }] } });
    expect(await ask({ ...body, metrics_list: ["AppActivateStandard", "AppPostbackCnt"] })).toMatchObject({
      code: 2006,
      msg: "AppPostbackCnt cannot be queried with hour: only the day is kept on which a platform accepted a postback. Ask for them by date, or with statistics_caliber user_activated_time.",
      data: {},
    });
  });

  test("has costs, but not by creative at the same time", async () => {
    const body = { date_list: [daysAgo(0), daysAgo(0)], metrics_list: ["AppROI"] };
    expect(await ask({ ...body, dims_list: ["hour"] })).toMatchObject({ code: 0 });
    for (const more of [
      { dims_list: ["hour", "creative"] },
      { dims_list: ["hour"], filtering: { creative_list: ["k"] } },
    ]) {
      const answer = await ask({ ...body, ...more });
      expect(answer).toMatchObject({ code: 2006, data: {} });
      expect(answer.msg).toBe(
        "AppROI cannot be queried with hour: costs are known by creative or by hour, not by both. Ask for them without creative or without hour.",
      );
    }
  });
});

test("versions that no user can have match nobody", async () => {
  const { code, data } = await ask({ filtering: { version_list: [1.5, 1e30] } });
  expect({ code, items: data.items }).toEqual({ code: 0, items: [] });
});
