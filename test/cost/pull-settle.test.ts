import { afterEach, beforeEach, expect, test } from "vitest";
import type { CostRow } from "../../sim/platforms/costs.ts";
import { startTencent, type TencentStandIn } from "../../sim/platforms/tencent.ts";
import { pulledDayRecord, statusRecord } from "../../src/cost/pull-record.ts";
import type { App } from "../../src/db/app.ts";
import { loadCostAccounts, loadPulledDays } from "../../src/db/cost-pull.ts";
import type { PlatformAccount } from "../../src/db/platform-account.ts";
import { addDays } from "../../src/domain/calendar.ts";
import { firstShownDay } from "../../src/domain/cost-schedule.ts";
import { ACCESS, ACCOUNT, CostStage, NOON_MS, spent, TODAY } from "./stage.ts";

const stage = new CostStage();
const DAY_MS = 86_400_000;
const EMPTY = addDays(TODAY, -1);

let rows: CostRow[];
let tencent: TencentStandIn;
let app: App;
let account: PlatformAccount;

beforeEach(async () => {
  await stage.pool.query("delete from platform_account");
  stage.nowMs = NOON_MS;
  rows = [spent(TODAY, 1, 100)];
  tencent = await startTencent({ clock: stage.clock, costs: rows, accounts: [ACCOUNT], readsPerMinute: 1_000_000 });
  app = await stage.app();
  account = await stage.account(app, ACCESS.tencent(tencent));
});
afterEach(() => tencent.close());

/** A turn at noon, a number of days later. */
async function turn(days: number): Promise<void> {
  stage.nowMs = NOON_MS + days * DAY_MS;
  await stage.turn();
}

async function day(date: string) {
  const [found] = await loadPulledDays(stage.pool, { appId: app.appId, fromDay: date, toDay: date });
  return pulledDayRecord(found!, "Asia/Shanghai");
}

test("a day settles when two pulls a day apart agree, and is then left alone", async () => {
  for (const days of [0, 1, 2]) await turn(days);
  expect(await day(TODAY)).toMatchObject({ settled: false, cost: 1 });
  await turn(3);
  expect(await day(TODAY)).toMatchObject({ settled: true, cost: 1 });
  rows[0]!.cents = 200;
  await turn(4);
  expect(await day(TODAY)).toMatchObject({ settled: true, cost: 1, pulled_at: `${addDays(TODAY, 3)} 12:00:00` });
});

test("a day without costs settles in the same way", async () => {
  for (const days of [0, 1, 2]) await turn(days);
  expect(await day(EMPTY)).toMatchObject({ settled: true, rows: 0, cost: 0, total: 0 });
});

test("a correction starts the wait anew, and so does a row that moves from one ad to another", async () => {
  for (const days of [0, 1, 2]) await turn(days);
  rows[0]!.cents = 150;
  await turn(3);
  expect(await day(TODAY)).toMatchObject({ settled: false, cost: 1.5 });
  rows.splice(0, 1, spent(TODAY, 2, 150, { impressions: 1_500, clicks: 150 }));
  await turn(4);
  expect(await day(TODAY)).toMatchObject({ settled: false, cost: 1.5 });
  await turn(5);
  expect(await day(TODAY)).toMatchObject({ settled: true, cost: 1.5 });
});

test("a day whose figures never rest settles when the platform no longer corrects them", async () => {
  for (let days = 0; days <= 7; days += 1) {
    rows[0]!.cents += 1;
    await turn(days);
  }
  expect(await day(TODAY)).toMatchObject({ settled: false });
  rows[0]!.cents += 1;
  await turn(8);
  expect(await day(TODAY)).toMatchObject({ settled: true, cost: 1.09 });
});

test("two pulls by hand within a day settle nothing", async () => {
  await turn(2);
  stage.nowMs += 10 * 3_600_000;
  await stage.pull(account, { kind: "open" });
  expect(await day(TODAY)).toMatchObject({ settled: false });
});

test("an account that keeps failing says that no day settles", async () => {
  await turn(0);
  tencent.fail = () => "server_error";
  for (const hours of [1, 2, 4]) {
    stage.nowMs = NOON_MS + hours * 3_600_000;
    await stage.turn();
  }
  const [known] = await loadCostAccounts(stage.pool, { fromDay: firstShownDay(stage.nowMs), of: account });
  expect(statusRecord(known!, stage.nowMs)).toMatchObject({
    failures: 3,
    reach_days: 365,
    notes: [
      expect.stringMatching(/^No day settles as long as pulls fail: 3 have failed in a row, and the last pull was/),
    ],
  });
});
