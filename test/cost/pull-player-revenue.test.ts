import { afterEach, beforeEach, expect, test } from "vitest";
import { type AdRecord, type DouyinStandIn, startDouyin } from "../../sim/platforms/douyin.ts";
import { type App, changeApp } from "../../src/db/app.ts";
import { ErasureDigest, noteErasure } from "../../src/db/erased-user.ts";
import { loadInstallationSecrets } from "../../src/db/installation.ts";
import { addDays } from "../../src/domain/calendar.ts";
import { makeApp, vault } from "../db/temp-database.ts";
import { ACCESS, CostStage, NOON_MS, TODAY, YESTERDAY } from "./stage.ts";

const stage = new CostStage();
const DAY_MS = 86_400_000;
const GAME = "tt0123456789abcdef";

let sim: DouyinStandIn;
let app: App;
let records: AdRecord[];
beforeEach(async () => {
  stage.nowMs = NOON_MS;
  app = await stage.app();
  records = [
    { openId: "o1", atMs: NOON_MS - DAY_MS, cost: 10_000 },
    { openId: "o1", atMs: NOON_MS - DAY_MS + 1_000, cost: 2_345 },
    { openId: "o2", atMs: NOON_MS - DAY_MS, cost: 1 },
    { openId: "o1", atMs: NOON_MS - 1_000, cost: 70_000 },
  ];
  sim = await startDouyin({ clock: stage.clock, records, pageRows: 2 });
});
afterEach(() => sim.close());

const account = () => stage.account(app, ACCESS.douyin(sim), { advertiserId: GAME });
const BOTH = { kind: "range", fromDay: YESTERDAY, toDay: TODAY } as const;

async function revenue(): Promise<string[]> {
  const { rows } = await stage.pool.query(
    "select concat_ws(' ', day, ad_platform, open_id, views, micros) as row from ad_revenue_user where app_id = $1 order by 1",
    [app.appId],
  );
  return rows.map(({ row }) => row);
}

test("revenue is pulled by player and day, page after page, with a token of its own, and is no cost", async () => {
  const pulled = await stage.pull(await account(), BOTH);
  expect(pulled).toMatchObject({ days: 2, rows: 3, costE4: 8_235, error: "" });
  expect(await revenue()).toEqual([
    `${YESTERDAY} douyin o1 2 123450`,
    `${YESTERDAY} douyin o2 1 10`,
    `${TODAY} douyin o1 1 700000`,
  ]);
  expect(await stage.costs(app)).toEqual([]);
  expect(sim.refused.map(({ reason }) => reason)).toEqual(["access_token is missing"]);
});

test("a day that is pulled again is replaced, and one that has not changed is noted nowhere", async () => {
  const own = await account();
  await stage.pull(own, BOTH);
  await stage.pool.query("delete from ad_revenue_change");
  records.push({ openId: "o3", atMs: NOON_MS - 500, cost: 5 });
  await stage.pull(own, BOTH);
  expect((await revenue()).slice(2)).toEqual([`${TODAY} douyin o1 1 700000`, `${TODAY} douyin o3 1 50`]);
  const { rows } = await stage.pool.query("select from_day::text as day, kind from ad_revenue_change");
  expect(rows).toEqual([{ day: TODAY, kind: "players" }]);
});

test("the open id of an erased user is not pulled, only what was earned", async () => {
  const { erasure } = await loadInstallationSecrets(stage.pool, vault);
  const digest = new ErasureDigest(erasure).ofOpenId({ appId: app.appId, openId: "o1" });
  await noteErasure(stage.pool, { appId: app.appId, digest, journalId: "j", position: 0, erasedAtMs: NOON_MS });
  await stage.pull(await account(), BOTH);
  expect(await revenue()).toEqual([
    `${YESTERDAY} douyin  2 123450`,
    `${YESTERDAY} douyin o2 1 10`,
    `${TODAY} douyin  1 700000`,
  ]);
});

test("sums are converted into the app's currency once, and without a rate nothing is stored", async () => {
  await changeApp(stage.pool, app.appId, { currency: "USD", rates: { CNY: "0.14" } });
  await stage.pull(await account(), { kind: "range", fromDay: YESTERDAY, toDay: YESTERDAY });
  expect(await revenue()).toEqual([`${YESTERDAY} douyin o1 2 17283`, `${YESTERDAY} douyin o2 1 1`]);
  app = await stage.app();
  await changeApp(stage.pool, app.appId, { currency: "USD" });
  expect((await stage.pull(await account(), BOTH)).error).toMatch(/no rate from CNY to USD/);
  expect(await revenue()).toEqual([]);
});

test("a new account is pulled as far back as the platform tells, and a day before that is refused by it", async () => {
  const own = await account();
  expect(await stage.pull(own, { kind: "open" })).toMatchObject({ days: 3, error: "" });
  const old = addDays(TODAY, -3);
  const { error } = await stage.pull(own, { kind: "range", fromDay: old, toDay: old });
  expect(error).toMatch(/28001007: date_hour is too long ago/);
});

test("the platform's reach is counted in its own days, whatever the app's time zone", async () => {
  app = await makeApp(stage.pool, "America/New_York");
  expect(await stage.pull(await account(), { kind: "open" })).toMatchObject({ days: 2, error: "" });
});

test.each<[string, () => void, RegExp]>([
  [
    "a wrong secret",
    () => Object.assign(sim, { fail: (call: number) => (call > 1 ? "bad_token" : undefined) }),
    /40015/,
  ],
  ["too many calls", () => Object.assign(sim, { fail: () => "busy" }), /28003018: the request rate is too high/],
])("%s is told, and nothing is stored", async (_, change, sentence) => {
  change();
  expect((await stage.pull(await account(), BOTH)).error).toMatch(sentence);
  expect(await revenue()).toEqual([]);
});
