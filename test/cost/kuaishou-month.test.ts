import { afterAll, beforeAll, expect, test } from "vitest";
import type { CostRow } from "../../sim/platforms/costs.ts";
import { type KuaishouStandIn, startKuaishou } from "../../sim/platforms/kuaishou.ts";
import type { App } from "../../src/db/app.ts";
import { loadPulledDays } from "../../src/db/cost-pull.ts";
import type { PlatformAccount } from "../../src/db/platform-account.ts";
import { addDays } from "../../src/domain/calendar.ts";
import { daysOf } from "../../src/domain/cost-schedule.ts";
import { ACCESS, CostStage, NOON_MS, spent, TODAY } from "./stage.ts";

const stage = new CostStage();
const FIRST = addDays(TODAY, -30);
const MONTH = { kind: "range", fromDay: FIRST, toDay: TODAY } as const;
const DAYS = daysOf(MONTH).reverse();
/** A campaign that Kuaishou manages itself, and one of which it manages a part. */
const MANAGED = { planId: "7100000000000000009", planName: "Managed", isManaged: true };
const MIXED = { planId: "7100000000000000001", planName: "Plan 7100000000000000001", isManaged: true };

let rows: CostRow[];
let kuaishou: KuaishouStandIn;
let app: App;
let account: PlatformAccount;

beforeAll(async () => {
  stage.nowMs = NOON_MS;
  rows = DAYS.flatMap((day, at) => [
    spent(day, 1, 10_000 + 7 * at),
    spent(day, 2, 2_500 + at),
    // Managed on two days of three.
    ...(at % 3 === 0 ? [] : [spent(day, 8, 4_321 + 11 * at, MANAGED)]),
    ...(at % 5 === 0 ? [spent(day, 6, 99, MIXED)] : []),
  ]);
  kuaishou = await startKuaishou({ clock: stage.clock, costs: rows });
  app = await stage.app();
  account = await stage.account(app, ACCESS.kuaishou(kuaishou));
});
afterAll(() => kuaishou.close());

const cents = (choose: (row: CostRow) => boolean) => rows.filter(choose).reduce((sum, row) => sum + row.cents, 0);

test("a month with managed campaigns equals the account's own total, day by day", async () => {
  const pulled = await stage.pull(account, MONTH);
  expect(kuaishou.refused).toEqual([]);
  // Three reports of the last week; three tasks for the older days, each made, asked after twice, and fetched; then the
  // names of plans and ads, of the managed plans, and of the account.
  expect(kuaishou.calls).toBe(3 + 3 * 4 + 2 + 1 + 1);
  expect(pulled).toMatchObject({ days: 31, costE4: cents(() => true) * 100, error: "" });
  const days = await loadPulledDays(stage.pool, { appId: app.appId, fromDay: FIRST, toDay: TODAY });
  expect(days.map(({ day, costE4, totalE4, notByAdE4 }) => [day, costE4, totalE4, notByAdE4])).toEqual(
    DAYS.map((day) => {
      const whole = cents((row) => row.day === day) * 100;
      return [day, whole, whole, cents((row) => row.day === day && row.isManaged === true) * 100];
    }),
  );
  const { rows: sums } = await stage.pool.query(
    `select sum(cost_e4) filter (where aid <> '')::bigint as by_ad, sum(cost_e4) filter (where aid = '')::bigint as not_by_ad
      from cost where app_id = $1`,
    [app.appId],
  );
  expect(sums).toEqual([{ by_ad: 39_122_000, not_by_ad: 9_041_300 }]);
  expect(days.reduce((sum, { totalE4 }) => sum + totalE4!, 0)).toBe(48_163_300);
});

test("what is not by ad stands beside its campaign, by its name", async () => {
  const { rows: found } = await stage.pool.query(
    `select c.gid, o.name, count(*)::int as days, sum(c.cost_e4)::bigint as cost from cost c
      left join ad_object o on o.app_id = c.app_id and o.ad_platform = c.ad_platform and o.level = 'plan' and o.object_id = c.gid
      where c.app_id = $1 and c.aid = '' group by 1, 2 order by 1`,
    [app.appId],
  );
  const managed = (planId: string) => rows.filter((row) => row.isManaged === true && row.planId === planId);
  expect(found).toEqual(
    [MIXED, MANAGED].map(({ planId, planName }) => ({
      gid: planId,
      name: planName,
      days: managed(planId).length,
      cost: cents((row) => row.isManaged === true && row.planId === planId) * 100,
    })),
  );
});

test("a task that is never done ends the wait, and leaves the older days as they were", async () => {
  const before = await stage.costs(app);
  rows[0]!.cents += 1;
  const pulled = await stage.pull(account, MONTH, { reportWaitsMs: [] });
  expect(pulled.error).toBe(`Kuaishou has not finished the report of ${FIRST} to ${addDays(FIRST, 23)} yet.`);
  // The last week needs no task.
  expect(pulled.days).toBe(7);
  expect(await stage.costs(app)).toEqual(before);
});
