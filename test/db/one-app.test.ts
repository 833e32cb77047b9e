import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { App } from "../../src/db/app.ts";
import { refreshOnce } from "../../src/refresh/refresh.ts";
import { runAdReport } from "../../src/report/ad/ad-report.ts";
import { readAdReport } from "../../src/report/ad/ad-report-request.ts";
import { readCell } from "../../src/report/ad/cell-request.ts";
import { explainCell } from "../../src/report/ad/explain.ts";
import { METRICS, metricNamed } from "../../src/report/metric/catalogue.ts";
import { notByHour } from "../../src/report/metric/hour-rule.ts";
import { readTimeline } from "../../src/report/user/timeline.ts";
import { viewUser } from "../../src/report/user/user-view.ts";
import { PostbackStage } from "../postback/postback-stage.ts";
import { asked, askedByHour, bodyOf, markets, ruleOf } from "../report/market.ts";
import { pay } from "./apply-stage.ts";
import { enact } from "./enact.ts";
import { expectLists } from "./expect-lists.ts";
import { isOfOneApp, StatementWatch } from "./statement-watch.ts";

let stage: PostbackStage;
beforeAll(async () => {
  stage = await PostbackStage.open();
  // The statements as a distributed database gets them.
  stage.stage.byApp = true;
});
afterAll(() => stage.close());

/** Statements about all apps at once, and why each of them is. */
const ABOUT_ALL: readonly [beginning: RegExp, reason: string][] = [
  [/^select distinct app_id from ad_revenue_change/, "which apps have changes of ad revenue to take"],
  [/^select distinct app_id from ad_account/, "which apps have accounts to take"],
  [/^select app_id, cohort, day, marked from dirty_day where since/, "which slices are out of date"],
  [
    /^select app_id, name.* from event_meta|^select .* from property_meta/s,
    "the names that every app has seen, at a start",
  ],
  [/^update outbox set due_at_ms/, "rows that a clock ahead has put off, once in a while"],
  [/^select coalesce\(max\(marked\)/, "how far the refresh has come"],
  [
    / as is, .* as should |left join user_account u using|max\(day\) as day from user_day group/,
    "the sums that the test itself checks",
  ],
  [
    /^select 1 from app_cursor a left join journal_cursor/,
    "whether apps are ahead of the cursor; asked where nothing is distributed",
  ],
  [/^select distinct on \(e\.app_id/, "what a replay has not made again, at its end"],
];

async function everyReport(app: App, seed: number): Promise<void> {
  const [market] = fc.sample(markets, { numRuns: 1, seed });
  const own = { ...app, timeZone: market!.timeZone };
  await enact(stage.stage, app.appId, market!);
  const metrics = METRICS.map(({ name }) => name);
  for (const question of fc.sample(asked, { numRuns: 6, seed })) {
    await expectLists(stage.stage, app, market!, question);
    await runAdReport(stage.pool, readAdReport(bodyOf(app.appId, question, metrics)), market!);
    const { metrics_list: _m, dims_list: _d, ...body } = bodyOf(app.appId, question, []);
    await explainCell(stage.pool, readCell({ ...body, metric: "AppARPU", row: {} }), own);
  }
  for (const question of fc.sample(askedByHour, { numRuns: 4, seed })) {
    const known = metrics.filter((name) => notByHour([metricNamed(name)!], ruleOf(question)) === undefined);
    await runAdReport(stage.pool, readAdReport(bodyOf(app.appId, question, known)), market!);
  }
}

async function everyPostback(app: App): Promise<void> {
  await stage.kuaishou("http://127.0.0.1:9");
  await stage.bring("kuaishou", "renamed");
  await stage.stage.collect("renamed", [pay("o1", 600)]);
  await stage.stage.applyAll();
  await stage.send(stage.worker());
  const asked = {
    clientId: "renamed",
    kinds: ["postback", "refund", "order", "event", "registration", "touch"],
  } as const;
  await readTimeline(stage.pool, app, { ...asked, before: undefined, limit: 5, event: undefined } as never);
  await viewUser(stage.pool, app, "renamed");
  await stage.stage.append("reset_client_id", "renamed", { new_client_id: "erased" });
  await stage.stage.append("erase", "erased", {});
  await stage.stage.applyAll();
  await refreshOnce(stage.pool);
}

test("every statement names its app, but for a short list that concerns all", async () => {
  const { app } = stage.stage;
  const watch = new StatementWatch();
  await everyPostback(app);
  for (const seed of [1, 2]) await everyReport(app, seed);
  const statements = watch.stop();
  expect(statements.length).toBeGreaterThan(120);
  const others: string[] = [];
  for (const statement of statements) {
    if (!(await isOfOneApp(stage.pool, statement))) others.push(statement.text.replaceAll(/\s+/g, " ").slice(0, 150));
  }
  expect(others.filter((text) => !ABOUT_ALL.some(([beginning]) => beginning.test(text)))).toEqual([]);
});
