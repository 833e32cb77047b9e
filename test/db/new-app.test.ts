import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { App } from "../../src/db/app.ts";
import { inTransaction, preferIndexes } from "../../src/db/engine/pool.ts";
import { CITUS_URL } from "../support/citus.ts";
import { eventually } from "../support/patience.ts";
import { ApplyStage, track } from "./apply-stage.ts";
import { StatementWatch } from "./statement-watch.ts";
import { makeApp } from "./temp-database.ts";

let stage: ApplyStage;
let other: App;
beforeAll(async () => {
  stage = await ApplyStage.open();
  other = await makeApp(stage.pool);
});
beforeEach(() => stage.begin());
afterAll(() => stage.close());

async function register(app: App, { from, until }: { from: number; until: number }): Promise<void> {
  for (let number = from; number < until; number += 1) await stage.register(`c${number}`, {}, { app: app.appId });
  await stage.applyAll();
}

async function timesAnalysed(): Promise<number> {
  const { rows } = await stage.pool.query(
    "select analyze_count as times from pg_stat_user_tables where relname = 'user_account'",
  );
  return rows[0].times;
}

test("the planner's statistics are refreshed when an app has 500 new users, and again at 2,000", async () => {
  // The database's own would skip the table while it has it.
  await stage.pool.query("alter table user_account set (autovacuum_enabled = off)");
  const before = await timesAnalysed();
  const since = async () => (await timesAnalysed()) - before;
  await register(stage.app, { from: 0, until: 499 });
  expect(await since()).toBe(0);
  await register(other, { from: 0, until: 1 });
  expect(await since()).toBe(0);
  await register(stage.app, { from: 499, until: 500 });
  expect(await since()).toBe(1);
  await register(stage.app, { from: 500, until: 1_999 });
  expect(await since()).toBe(1);
  await register(stage.app, { from: 1_999, until: 2_000 });
  // Refreshing pauses for some time after each time.
  await eventually(async () => {
    await stage.applyAll();
    expect(await since()).toBe(2);
  });
});

// On a cluster, the app must be a constant for the planner; what helps there is that the statistics follow its growth.
const USERS = CITUS_URL === "" ? 300 : 600;

test("a batch of an app that the planner's statistics do not know compares no row with every other", async () => {
  await register(stage.app, { from: 0, until: USERS });
  await stage.pool.query("analyze");
  await register(other, { from: 0, until: USERS });
  for (let number = 0; number < USERS; number += 1)
    await stage.collect(`c${number}`, [track("level_up")], { app: other.appId });
  const watch = new StatementWatch();
  await stage.applyAll();
  const selects = watch.stop().filter(({ text }) => /^\s*select/.test(text));
  expect(selects.length).toBeGreaterThan(2);
  await inTransaction(stage.pool, async (tx) => {
    await preferIndexes(tx);
    for (const { text, values } of selects) {
      const { rows } = await tx.query(`explain (analyze) ${text}`, values);
      const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
      for (const [, removed] of plan.matchAll(/Rows Removed by \w+(?: \w+)*: (\d+)/g))
        expect(Number(removed), `${text}\n${plan}`).toBeLessThan(2 * USERS);
    }
  });
});
