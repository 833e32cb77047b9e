import { readFileSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { dropEcpm, setEcpm } from "../../src/admin/setting/ecpms.ts";
import type { App } from "../../src/db/app.ts";
import { refreshOnce } from "../../src/refresh/refresh.ts";
import { runAdReport } from "../../src/report/ad/ad-report.ts";
import { readAdReport } from "../../src/report/ad/ad-report-request.ts";
import { ApplyStage, DAY_MS, NOW_MS, track } from "./apply-stage.ts";
import { makeApp, rowsOf, vault } from "./temp-database.ts";

const [DAY, NEXT_DAY] = ["2024-06-15", "2024-06-16"];
const METRICS = ["AppAdRevenue", "AppAdReportedRevenue", "AppAdEstimatedRevenue", "AppAdShowCnt"];

let stage: ApplyStage;
let app: App;
beforeAll(async () => {
  stage = await ApplyStage.open();
});
afterAll(() => stage.close());
beforeEach(async () => {
  app = await makeApp(stage.pool);
  await stage.register("player", {}, head());
});

const head = (at = NOW_MS) => ({ app: app.appId, at });
const show = (properties: object, time = NOW_MS, client = "player") =>
  stage.collect(client, [track("$AdShow", properties, time)], head());
const desk = () => ({ pool: stage.pool, vault, clock: () => NOW_MS, by: { name: "mei", address: "" } });
const estimate = (ad_unit_id: string, ecpm: number, more: { start_date?: string; end_date?: string } = {}) =>
  setEcpm(desk(), { app_id: app.appId, ad_unit_id, ecpm, start_date: "2024-01-01", ...more });

/** By day: all ad revenue, reported, estimated, and the number of ads, in the second caliber. */
async function days(): Promise<Record<string, unknown[]>> {
  await stage.applyAll();
  while ((await refreshOnce(stage.pool)) > 0);
  const request = readAdReport({
    app_id: app.appId,
    date_list: [DAY, NEXT_DAY],
    metrics_list: METRICS,
    dims_list: ["date"],
    statistics_caliber: "behavior_occurred_time",
    decimal_point: 4,
  });
  const { items } = await runAdReport(stage.pool, request, { payShareBp: 10_000, timeZone: "Asia/Shanghai" });
  return Object.fromEntries(items.map((item) => [item.date, METRICS.map((name) => item[name])]));
}

describe("an ad whose client does not know what it earned", () => {
  test("earns what is set for its unit and day; one that came with its eCPM keeps that", async () => {
    await estimate("a", 35.5, { end_date: DAY });
    await show({ $ad_unit_id: "a" });
    await show({ $ad_unit_id: "a", $ecpm: 0 }, NOW_MS + 1);
    await show({ $ad_unit_id: "a", $ecpm: 20 }, NOW_MS + 2);
    await show({ $ad_unit_id: "a" }, NOW_MS + DAY_MS);
    await show({ $ad_unit_id: "b" }, NOW_MS + 3);
    await show({}, NOW_MS + 4);
    expect(await days()).toEqual({ [DAY]: [0.091, 0.02, 0.071, 5], [NEXT_DAY]: [0, 0, 0, 1] });
  });

  test("is valued anew at once when the setting is made, changed, shortened or removed", async () => {
    await show({ $ad_unit_id: "a" });
    await show({ $ad_unit_id: "a" }, NOW_MS + DAY_MS);
    expect(await days()).toEqual({ [DAY]: [0, 0, 0, 1], [NEXT_DAY]: [0, 0, 0, 1] });
    await estimate("a", 10);
    expect(await days()).toEqual({ [DAY]: [0.01, 0, 0.01, 1], [NEXT_DAY]: [0.01, 0, 0.01, 1] });
    await estimate("a", 20, { end_date: DAY });
    expect(await days()).toEqual({ [DAY]: [0.02, 0, 0.02, 1], [NEXT_DAY]: [0, 0, 0, 1] });
    await estimate("a", 30, { start_date: NEXT_DAY });
    expect(await days()).toEqual({ [DAY]: [0.02, 0, 0.02, 1], [NEXT_DAY]: [0.03, 0, 0.03, 1] });
    await dropEcpm(desk(), { app_id: app.appId, ad_unit_id: "a", start_date: "2024-01-01" });
    expect(await days()).toEqual({ [DAY]: [0, 0, 0, 1], [NEXT_DAY]: [0.03, 0, 0.03, 1] });
  });

  test("follows its user to another id, and goes with an erased one", async () => {
    await estimate("a", 10);
    await show({ $ad_unit_id: "a" });
    await stage.append("reset_client_id", "player", { new_client_id: "renamed" }, head());
    expect(await days()).toEqual({ [DAY]: [0.01, 0, 0.01, 1] });
    await stage.append("erase", "renamed", {}, head());
    expect(await days()).toEqual({});
  });
});

test("a change of a setting marks only the days that have ads of the unit in its period", async () => {
  await show({ $ad_unit_id: "a" });
  await show({ $ad_unit_id: "b" }, NOW_MS + DAY_MS);
  await days();
  await estimate("a", 10);
  // The user's touch and registration cohorts, and the day of the ad.
  expect(await refreshOnce(stage.pool)).toBe(3);
});

test("a period that overlaps another of its unit is refused in a sentence, and changes nothing", async () => {
  await show({ $ad_unit_id: "a" });
  await estimate("a", 10);
  await days();
  await expect(estimate("a", 20, { start_date: DAY })).rejects.toThrow(
    `the periods of ad unit a overlap: from 2024-01-01 on and from ${DAY} on.`,
  );
  expect(await refreshOnce(stage.pool)).toBe(0);
  expect(await days()).toEqual({ [DAY]: [0.01, 0, 0.01, 1] });
});

test("the migrations count the ads that were stored before them as apply does", async () => {
  const fillIn = (name: string) => {
    const text = readFileSync(new URL(`../../migrations/${name}`, import.meta.url), "utf8");
    // Properties were jsonb then.
    return text.slice(text.indexOf("insert into user_ad_day")).replaceAll("e.properties", "e.properties_text::jsonb");
  };
  await show({ $ad_unit_id: "a" });
  await show({ $ad_unit_id: "a", $ecpm: 12.3456 }, NOW_MS + 1);
  await show({ $ad_unit_id: "a", $ecpm: "much" }, NOW_MS + DAY_MS);
  await show({ $ad_unit_id: 7 }, NOW_MS - DAY_MS);
  await show({ $ad_unit_id: "" }, NOW_MS + 2);
  await show({ $ecpm: 3 }, NOW_MS + 3);
  await stage.applyAll();
  const counted = await rowsOf(stage.pool, "user_ad_day");
  expect(counted.length).toBeGreaterThan(2);
  await stage.pool.query("truncate user_ad_day");
  // The columns that later migrations add are not known to the first.
  const withUnits = fillIn("0026-ad-ecpm.sql");
  await stage.pool.query(withUnits.replace("insert into user_ad_day", `insert into user_ad_day (${COLUMNS})`));
  await stage.pool.query(fillIn("0035-user-ad-revenue.sql"));
  expect(await rowsOf(stage.pool, "user_ad_day")).toEqual(counted);
});

const COLUMNS = "app_id, client_id, day, span_t, span_r, ad_unit, reported_count, reported_micros, unpriced_count";
