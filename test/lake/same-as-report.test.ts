import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { EventsQuestion } from "../../src/contract/analysis/events.ts";
import { ask } from "../../src/lake/ask.ts";
import { objectsOf } from "../../src/lake/asker.ts";
import { viewsFor } from "../../src/lake/lake-views.ts";
import { verifyLake } from "../../src/lake/verify.ts";
import { MIB } from "../../src/limits.ts";
import { runAdReport } from "../../src/report/ad/ad-report.ts";
import { readAdReport } from "../../src/report/ad/ad-report-request.ts";
import { textOf } from "../../src/report/analysis/duck-sql.ts";
import { eventsAnswer } from "../../src/report/analysis/events-answer.ts";
import { eventsSql } from "../../src/report/analysis/events-sql.ts";
import { enact } from "../db/enact.ts";
import { makeApp } from "../db/temp-database.ts";
import { type MadeMarket, markets } from "../report/market.ts";
import { LakeStage, takeInstance } from "./lake-stage.ts";

let stage: LakeStage;
beforeAll(async () => {
  stage = await LakeStage.open();
});
afterAll(() => stage.close());

/** All that happens in a market. */
const DATES = ["2024-02-01", "2024-06-30"];
const DIMENSIONS = ["ad_platform", "aid"];

const question: EventsQuestion = {
  date_list: DATES,
  by: "total",
  split: DIMENSIONS,
  top: 100,
  series: [
    { source: "order", measure: "sum", amount: "net_cents" },
    { source: "order", measure: "count" },
    { source: "order", measure: "users" },
  ],
};

/** Payments, orders and payers by platform and ad: as the ad report tells them, and as the lake answers. */
async function reported(appId: number, market: MadeMarket): Promise<Map<string, number[]>> {
  const metrics = ["AppGamePayAmountStandard", "AppGamePayCntStandard", "AppGamePayUserCntStandard"];
  const body = { app_id: appId, sign: "", date_list: DATES, metrics_list: metrics, dims_list: DIMENSIONS };
  const asked = readAdReport({ ...body, statistics_caliber: "behavior_occurred_time", decimal_point: 2 });
  const { items } = await runAdReport(stage.apply.pool, asked, market);
  const figures = items.map(
    (item) =>
      [
        DIMENSIONS.map((name) => item[name]).join(" "),
        [Math.round(Number(item[metrics[0]!]) * 100), Number(item[metrics[1]!]), Number(item[metrics[2]!])],
      ] as const,
  );
  return new Map(figures.filter(([, [, count]]) => count! > 0).map(([key, values]) => [key, [...values]]));
}

async function answered(appId: number, timeZone: string): Promise<Map<string, number[]>> {
  const files = (await stage.files())
    .filter((file) => file.appId === appId)
    .map((file) => ({ ...file, path: stage.folder.pathOf(file) }));
  const statement = textOf(eventsSql(question, new Set()));
  const answer = await ask(
    {
      ...viewsFor(files, { zone: timeZone, statement }),
      files: files.map(({ path }) => path),
      rowsMax: 10_000,
      msMax: 600_000,
      root: stage.folder.root,
      diskBytes: 1_000 * MIB,
    },
    { takeInstance },
  );
  if (answer.kind !== "rows") throw new Error(answer.message);
  const { lines } = eventsAnswer(question, objectsOf(answer));
  const sums = new Map<string, number[]>();
  for (const { group, total } of lines) sums.set(group.join(" "), [...(sums.get(group.join(" ")) ?? []), total ?? 0]);
  return new Map([...sums].filter(([, [, count]]) => count! > 0));
}

test("payments, orders and payers by platform and ad are those of the ad report, for random markets", async () => {
  let orders = 0;
  await fc.assert(
    fc.asyncProperty(markets, async (market) => {
      const { appId } = await makeApp(stage.apply.pool, market.timeZone);
      await enact(stage.apply, appId, market);
      await stage.lake.catchUp();
      await stage.lake.catchUp();
      const told = await reported(appId, market);
      expect(await answered(appId, market.timeZone)).toEqual(told);
      for (const [, [, count]] of told) orders += count!;
      const { days } = await verifyLake({ ...stage, pool: stage.apply.pool }, appId);
      expect(days.filter(({ outcome }) => outcome !== "equal")).toEqual([]);
    }),
    { numRuns: 6, endOnFailure: true },
  );
  expect(orders).toBeGreaterThan(0);
});
