import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Cost, costRows, storeCosts } from "../../src/db/cost.ts";
import { query, sql } from "../../src/db/engine/sql.ts";
import { storeRebates } from "../../src/db/rebate.ts";
import type { Rebate } from "../../src/domain/rebate.ts";
import { makeApp, migratedDatabase, type TempDatabase } from "./temp-database.ts";

const DAY = "2026-11-15";
const NO_TEXT = { gid: "", aid: "", cid: "", csite: "", channel: "", osPlatform: "", campaignId: "" };

let database: TempDatabase;
beforeAll(async () => {
  database = await migratedDatabase();
});
afterAll(() => database.drop());

type Paid = { advertiserId: string; day?: string; costE4: number };

/** What was really paid for each cost, by account and day. */
async function realCosts(
  costs: readonly Paid[],
  rebates: readonly Omit<Rebate, "adPlatform">[],
): Promise<Record<string, number>> {
  const { appId } = await makeApp(database.pool);
  const rows = costs.map((cost): Cost => {
    return { ...NO_TEXT, appId, day: DAY, adPlatform: "tencent", impressions: 1, clicks: 1, ...cost };
  });
  await storeCosts(database.pool, rows, 0);
  await storeRebates(
    database.pool,
    rebates.map((rebate) => ({ ...rebate, appId, adPlatform: "tencent" })),
    0,
  );
  const range = { appId, fromDay: "2000-01-01", untilDay: "2100-01-01" };
  const found = await query<{ key: string; realCostE4: number }>(
    database.pool,
    sql`select concat_ws(' ', nullif(advertiser_id, ''), day) as key, real_cost_e4 from (${costRows(range)}) c`,
  );
  return Object.fromEntries(found.map(({ key, realCostE4 }) => [key, realCostE4]));
}

test("cash is paid back, credit makes money go further, and both can be given", async () => {
  const rebate = { fromDay: DAY, untilDay: null, cashBp: 0, creditBp: 0 };
  const accounts = ["none", "cash", "credit", "both"];
  const costs = accounts.map((advertiserId) => ({ advertiserId, costE4: 1_100_000 }));
  expect(
    await realCosts(costs, [
      { ...rebate, advertiserId: "cash", cashBp: 1_000 },
      { ...rebate, advertiserId: "credit", creditBp: 1_000 },
      { ...rebate, advertiserId: "both", cashBp: 1_000, creditBp: 1_000 },
    ]),
  ).toEqual({
    [`none ${DAY}`]: 1_100_000,
    [`cash ${DAY}`]: 990_000,
    [`credit ${DAY}`]: 1_000_000,
    [`both ${DAY}`]: 900_000,
  });
});

test("a rebate holds from its first day to the day before its end, for its own account only", async () => {
  const days = ["2026-10-31", "2026-11-01", "2026-11-30", "2026-12-01", "2026-12-31"];
  const costs = ["a", ""].flatMap((advertiserId) => days.map((day) => ({ advertiserId, day, costE4: 10_000 })));
  const half = { advertiserId: "a", fromDay: "2026-11-01", untilDay: "2026-12-01", cashBp: 5_000, creditBp: 0 };
  const rest = { advertiserId: "a", fromDay: "2026-12-31", untilDay: null, cashBp: 9_999, creditBp: 0 };
  const none = { advertiserId: "", fromDay: "2026-12-01", untilDay: null, cashBp: 2_500, creditBp: 0 };
  expect(await realCosts(costs, [half, rest, none])).toEqual({
    "a 2026-10-31": 10_000,
    "a 2026-11-01": 5_000,
    "a 2026-11-30": 5_000,
    "a 2026-12-01": 10_000,
    "a 2026-12-31": 1,
    "2026-10-31": 10_000,
    "2026-11-01": 10_000,
    "2026-11-30": 10_000,
    "2026-12-01": 7_500,
    "2026-12-31": 7_500,
  });
});

/** Rounds half away from zero, by comparing twice the remainder with the divisor. */
function expectedE4(costE4: number, cashBp: number, creditBp: number): number {
  const [size, by] = [BigInt(Math.abs(costE4)) * BigInt(10_000 - cashBp), BigInt(10_000 + creditBp)];
  const whole = size / by + (2n * (size % by) >= by ? 1n : 0n);
  return whole === 0n ? 0 : Number(costE4 < 0 ? -whole : whole);
}

test("real costs are exact for any cost and share, corrections below zero included", async () => {
  const amounts = fc.oneof(
    fc.integer({ min: -100, max: 100 }),
    fc.integer({ min: 0, max: 100_000_000 }),
    fc.maxSafeInteger(),
  );
  const shares = fc.record({
    costE4: amounts,
    cashBp: fc.integer({ min: 0, max: 9_999 }),
    creditBp: fc.integer({ min: 0, max: 10_000 }),
  });
  const cases = fc.sample(shares, 2_000).map((one, index) => ({ ...one, advertiserId: String(index) }));
  const real = await realCosts(
    cases.map(({ advertiserId, costE4 }) => ({ advertiserId, costE4 })),
    cases.map(({ costE4: _, ...rebate }) => ({ ...rebate, fromDay: DAY, untilDay: null })),
  );
  for (const { advertiserId, costE4, cashBp, creditBp } of cases) {
    const expected = expectedE4(costE4, cashBp, creditBp);
    expect(real[`${advertiserId} ${DAY}`], JSON.stringify({ costE4, cashBp, creditBp })).toBe(expected);
  }
});
