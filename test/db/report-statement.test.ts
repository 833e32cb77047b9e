import { afterAll, beforeAll, expect, test } from "vitest";
import { CALIBERS } from "../../src/domain/cube.ts";
import { runAdReport } from "../../src/report/ad/ad-report.ts";
import { type AdReportBody, readAdReport } from "../../src/report/ad/ad-report-request.ts";
import { METRICS } from "../../src/report/metric/catalogue.ts";
import {
  ASSOCIATED,
  type Associated,
  DIMENSIONS,
  type Dimension,
  incompatiblePair,
} from "../../src/report/metric/dimension.ts";
import { makeApp, migratedDatabase, type TempDatabase } from "./temp-database.ts";

let database: TempDatabase;
let appId: number;
beforeAll(async () => {
  database = await migratedDatabase();
  appId = (await makeApp(database.pool)).appId;
});
afterAll(() => database.drop());

const ALL = METRICS.map(({ name }) => name);
/** All but the hour, which has its own rules. */
const NAMES = DIMENSIONS.map(({ name }) => name).filter((name) => name !== "hour");
const READINGS = CALIBERS.flatMap((statistics_caliber) =>
  ([1, 2] as const).map((roi_version) => ({ statistics_caliber, roi_version })),
);

/** Nothing has happened, so a statement that runs gives an empty report with all its containers. */
async function expectEmpty(body: Partial<AdReportBody>): Promise<void> {
  const request = readAdReport({
    app_id: appId,
    date_list: ["2024-06-01", "2024-06-30"],
    metrics_list: ALL,
    dims_list: [],
    statistics_caliber: "user_activated_time",
    decimal_point: 2,
    ...body,
  });
  const report = await runAdReport(database.pool, request, { payShareBp: 10_000, timeZone: "Asia/Shanghai" });
  expect(report).toEqual({
    columns: request.metrics.map(({ name }) => name),
    items: [],
    total: [],
    tips: Object.fromEntries(request.metrics.map(({ label, tip }) => [label, tip])),
    static: request.dimensions.map((name) => DIMENSIONS.find((one) => one.name === name)!.label),
  });
}

test.each(NAMES)("all metrics together by %s run in both calibers and both models, filtered or not", async (name) => {
  const filters: AdReportBody["filtering"][] = [
    {},
    { ad_platform_list: ["tencent"], channel_list: ["c"], turbo_promoted_object_id_list: ["0123456789012345"] },
    { version_list: [1, 2], ad_platform_list: ["natural"] },
  ];
  for (const reading of READINGS)
    for (const filtering of filters) await expectEmpty({ ...reading, dims_list: [name], filtering: filtering! });
});

test.each(CALIBERS)("every metric runs alone, without dimensions, by %s", async (statistics_caliber) => {
  for (const name of ALL) {
    for (const roi_version of [1, 2] as const)
      await expectEmpty({ statistics_caliber, roi_version, metrics_list: [name] });
    await expectEmpty({ statistics_caliber, metrics_list: [name], filtering: { version_list: [1] } });
  }
});

test("every compatible pair of dimensions runs, and the largest combination", async () => {
  const isAllowed = (dims: Dimension[]) => !incompatiblePair(dims);
  const pairs = NAMES.flatMap((one, at) => NAMES.slice(at + 1).map((other) => [one, other]));
  expect(pairs.filter(isAllowed)).toHaveLength(53);
  for (const dims_list of pairs.filter(isAllowed))
    for (const statistics_caliber of CALIBERS) await expectEmpty({ statistics_caliber, dims_list });
  const without = (...left: Dimension[]) => NAMES.filter((name) => !left.includes(name));
  for (const dims_list of [
    without("csite", "channel", "dept"),
    without("csite", "channel", "turbo_promoted_object_id"),
    without("csite", "operator", "turbo_promoted_object_id", "dept"),
  ])
    for (const statistics_caliber of CALIBERS) await expectEmpty({ statistics_caliber, dims_list });
});

test.each(Object.keys(ASSOCIATED) as Associated[])(
  "%s runs with its dimension, and beside the platform",
  async (name) => {
    const { dimension } = ASSOCIATED[name];
    for (const dims_list of [[dimension], ["ad_platform", dimension, "date"]])
      await expectEmpty({ dims_list, dims_metrics_list: [name], metrics_list: ["AdCost"] });
  },
);
