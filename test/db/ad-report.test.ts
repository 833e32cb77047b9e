import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runAdReport } from "../../src/report/ad/ad-report.ts";
import { readAdReport } from "../../src/report/ad/ad-report-request.ts";
import { METRICS, metricNamed } from "../../src/report/metric/catalogue.ts";
import { notByHour } from "../../src/report/metric/hour-rule.ts";
import { asked, askedByHour, bodyOf, markets, ruleOf, toldOf } from "../report/market.ts";
import { expectedReport } from "../report/oracle.ts";
import { ApplyStage } from "./apply-stage.ts";
import { enact } from "./enact.ts";
import { EVER, expectLists } from "./expect-lists.ts";
import { makeApp } from "./temp-database.ts";

let stage: ApplyStage;
beforeAll(async () => {
  stage = await ApplyStage.open();
});
afterAll(() => stage.close());

const ALL = METRICS.map(({ name }) => name);

test("every metric and both lists equal their definition, for random markets, dimensions, filters and days", async () => {
  await fc.assert(
    fc.asyncProperty(markets, fc.array(asked, { minLength: 8, maxLength: 8 }), async (market, questions) => {
      // A new app for each market: emptying the tables would take longer than everything else.
      const app = await makeApp(stage.pool, market.timeZone);
      const { appId } = app;
      await enact(stage, appId, market);
      for (const question of questions.slice(0, 2)) {
        await expectLists(stage, app, market, question);
        await expectLists(stage, app, market, { ...question, ...EVER });
      }
      for (const question of questions) {
        const expected = expectedReport(toldOf(market), question, ALL);
        const report = await runAdReport(stage.pool, readAdReport(bodyOf(appId, question, ALL)), market);
        expect(sorted(report.items)).toEqual(sorted(expected.items));
        expect(report.total).toEqual(expected.total);
      }
    }),
    { numRuns: 12, endOnFailure: true },
  );
});

test("every metric that is known by the hour equals its definition, also on days with a clock change", async () => {
  await fc.assert(
    fc.asyncProperty(markets, fc.array(askedByHour, { minLength: 6, maxLength: 6 }), async (market, questions) => {
      const { appId } = await makeApp(stage.pool, market.timeZone);
      await enact(stage, appId, market);
      for (const question of questions) {
        const metrics = ALL.filter((name) => notByHour([metricNamed(name)!], ruleOf(question)) === undefined);
        const expected = expectedReport(toldOf(market), question, metrics);
        const report = await runAdReport(stage.pool, readAdReport(bodyOf(appId, question, metrics)), market);
        expect(sorted(report.items)).toEqual(sorted(expected.items));
        expect(report.total).toEqual(expected.total);
      }
    }),
    { numRuns: 8, endOnFailure: true },
  );
});

function sorted(items: readonly Record<string, string | number>[]): Record<string, string | number>[] {
  return [...items].sort((left, right) => (JSON.stringify(left) < JSON.stringify(right) ? -1 : 1));
}
