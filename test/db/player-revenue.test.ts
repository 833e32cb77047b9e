import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type PlayerRevenue, storeAdRevenue, storePlayerRevenue } from "../../src/db/ad-revenue.ts";
import type { App } from "../../src/db/app.ts";
import { inTransaction } from "../../src/db/engine/pool.ts";
import { ErasureDigest, withoutErased } from "../../src/db/erased-user.ts";
import { refreshOnce } from "../../src/refresh/refresh.ts";
import { listAdRevenue } from "../../src/report/list/ad-revenue-list.ts";
import { readTimeline, readTimelineWish } from "../../src/report/user/timeline.ts";
import { ApplyStage, ERASURE_KEY, NOW_MS, track } from "./apply-stage.ts";
import { makeApp } from "./temp-database.ts";

const DAY = "2024-06-15";

let stage: ApplyStage;
let app: App;
beforeAll(async () => {
  stage = await ApplyStage.open();
});
afterAll(() => stage.close());
beforeEach(async () => {
  app = await makeApp(stage.pool);
});

const head = (at = NOW_MS) => ({ app: app.appId, at });
const register = (client: string, wx_openid: string) => stage.register(client, { wx_openid }, head());

let at = NOW_MS;
async function show(client: string, units: readonly string[], properties: object = {}): Promise<void> {
  for (const unit of units) {
    at += 1;
    const named = unit === "" ? {} : { $ad_unit_id: unit };
    await stage.collect(client, [track("$AdShow", { ...named, ...properties }, at)], head());
  }
  await stage.applyAll();
}

type Earned = Readonly<Record<string, number>>;
const playersOf = (earned: Earned): PlayerRevenue[] =>
  Object.entries(earned).map(([openId, micros]) => ({ openId, views: 1, micros }));
const tell = (earned: Earned) =>
  inTransaction(stage.pool, (tx) =>
    storePlayerRevenue(
      tx,
      { appId: app.appId, adPlatform: "douyin", advertiserId: "tt1" },
      { day: DAY, players: playersOf(earned), pulledAtMs: NOW_MS },
    ),
  );
const tellUnit = (adUnit: string, micros: number) =>
  inTransaction(stage.pool, (tx) =>
    storeAdRevenue(
      tx,
      { appId: app.appId, adPlatform: "wechat", advertiserId: "wx1" },
      { day: DAY, units: [{ adUnit, views: 1, micros }], pulledAtMs: NOW_MS },
    ),
  );

async function settle(): Promise<void> {
  await stage.applyAll();
  while ((await refreshOnce(stage.pool)) > 0);
}

/** Each user's pulled revenue, and what the cube has of it in all. */
async function pulled(): Promise<Record<string, number | null>> {
  await settle();
  const { rows } = await stage.pool.query(
    `select client_id, sum(pulled_micros)::bigint as micros from user_ad_day where app_id = $1 group by 1
      union all select 'cube', coalesce(sum(ad_pulled_micros), 0)::bigint from cube where app_id = $1 and cohort = 'occurred' order by 1`,
    [app.appId],
  );
  return Object.fromEntries(rows.map(({ client_id, micros }) => [client_id, micros]));
}

test("a player's revenue goes to the ads of the user with that open id, with or without a unit", async () => {
  await register("ann", "o-ann");
  await register("bob", "o-bob");
  await show("ann", ["a", "", "b"]);
  await show("bob", [""]);
  await tell({ "o-ann": 10, "o-bob": 7 });
  expect(await pulled()).toEqual({ ann: 10, bob: 7, cube: 17 });
  const { rows } = await stage.pool.query(
    "select ad_unit, pulled_micros::int as micros from user_ad_day where app_id = $1 and client_id = 'ann' order by 1",
    [app.appId],
  );
  expect(rows).toEqual([
    { ad_unit: "", micros: 4 },
    { ad_unit: "a", micros: 3 },
    { ad_unit: "b", micros: 3 },
  ]);
});

test("a client id is the open id of a user who has told no other", async () => {
  await register("o-ann", "");
  await register("o-bob", "o-carl");
  await show("o-ann", ["a"]);
  await show("o-bob", ["a"]);
  await tell({ "o-ann": 5, "o-bob": 3, "o-carl": 2 });
  // Nobody's ads are those of o-bob, and everybody's open id is known: 3 stay a difference.
  expect(await pulled()).toEqual({ "o-ann": 5, "o-bob": 2, cube: 7 });
});

test("what is told of unknown players goes to the ads of users without an open id, in equal shares", async () => {
  await register("ann", "o-ann");
  await register("bob", "");
  await register("cleo", "");
  await show("ann", ["a"]);
  await show("bob", ["a", "b"]);
  await show("cleo", [""]);
  await tell({ "o-x": 6, "": 4 });
  expect(await pulled()).toEqual({ ann: null, bob: 7, cleo: 3, cube: 10 });
});

test("what the clients reported is taken off first, and it is never less than nothing", async () => {
  await register("ann", "o-ann");
  await show("ann", ["a"], { $ecpm: 2 });
  await show("ann", ["a"]);
  await tell({ "o-ann": 5_000 });
  expect(await pulled()).toEqual({ ann: 3_000, cube: 3_000 });
  await tell({ "o-ann": 1_000 });
  expect(await pulled()).toEqual({ ann: 0, cube: 0 });
});

test("units that their own platform tells keep their revenue, without the ads that are told by player", async () => {
  await register("ann", "o-ann");
  await register("bob", "");
  await show("ann", ["a"]);
  await show("bob", ["a", "b"]);
  await tellUnit("a", 9);
  expect(await pulled()).toEqual({ ann: 5, bob: 4, cube: 9 });
  await tell({ "o-ann": 2, "o-x": 30 });
  expect(await pulled()).toEqual({ ann: 2, bob: 39, cube: 41 });
  await tell({});
  expect(await pulled()).toEqual({ ann: 5, bob: 4, cube: 9 });
});

test("late ads, a late open id and another client id change whose it is", async () => {
  await register("ann", "");
  await show("ann", ["a"]);
  await register("bob", "o-bob");
  await tell({ "o-ann": 4, "o-bob": 6 });
  expect(await pulled()).toEqual({ ann: 10, cube: 10 });
  await show("bob", ["a"]);
  expect(await pulled()).toEqual({ ann: 4, bob: 6, cube: 10 });
  await stage.append("update_data", "ann", { wx_openid: "o-zoe" }, head());
  expect(await pulled()).toEqual({ ann: null, bob: 6, cube: 6 });
  await stage.append("update_data", "ann", { wx_openid: "o-ann" }, head());
  expect(await pulled()).toEqual({ ann: 4, bob: 6, cube: 10 });
  await stage.append("reset_client_id", "ann", { new_client_id: "zed" }, head());
  expect(await pulled()).toEqual({ bob: 6, cube: 10, zed: 4 });
});

test("the result is the same whatever comes first", async () => {
  const lives = [
    () => register("ann", "o-ann").then(() => show("ann", ["a", "", "a"])),
    () => register("bob", "").then(() => show("bob", ["b"])),
    () => tell({ "o-ann": 11, "o-x": 5 }),
    () => tellUnit("b", 3),
  ];
  const outcomes: unknown[] = [];
  for (const order of [
    [0, 1, 2, 3],
    [3, 2, 1, 0],
    [2, 0, 3, 1],
  ]) {
    app = await makeApp(stage.pool);
    for (const index of order) {
      await lives[index]!();
      await settle();
    }
    outcomes.push(await pulled());
  }
  expect(outcomes).toEqual(Array(3).fill({ ann: 11, bob: 3, cube: 14 }));
});

test("the comparison has a row for all players of a day, and the difference is what found no ads", async () => {
  await register("ann", "o-ann");
  await register("bob", "o-bob");
  await show("ann", ["a", ""]);
  await show("bob", ["a"]);
  await tell({ "o-ann": 2_000_000, "o-x": 500_000 });
  await tellUnit("a", 1_000_000);
  await settle();
  const range = { appId: app.appId, fromDay: DAY, toDay: DAY, adUnit: undefined };
  const { days, total } = await listAdRevenue(stage.pool, range, { page: 1, pageSize: 20 });
  const nothing = { reported: 0, estimated: 0, date: DAY };
  const byPlayer = { views: 2, told_views: 2, told: 2.5, pulled: 2, revenue: 2, difference: -0.5 };
  const ofA = { views: 1, told_views: 1, told: 1, pulled: 1, revenue: 1, difference: 0 };
  expect(days).toEqual([
    { ...nothing, ...byPlayer, told_by: "player", ad_unit_id: "" },
    { ...nothing, ...ofA, told_by: "unit", ad_unit_id: "a" },
  ]);
  expect(total).toMatchObject({ told: 3.5, revenue: 3, difference: -0.5 });
  const ofUnit = await listAdRevenue(stage.pool, { ...range, adUnit: "a" }, { page: 1, pageSize: 20 });
  expect(ofUnit.days.map(({ told_by }) => told_by)).toEqual(["unit"]);
});

test("the timeline tells each ad its share", async () => {
  await register("ann", "o-ann");
  await show("ann", ["", "a"]);
  await tell({ "o-ann": 4_000_000 });
  await settle();
  const wish = readTimelineWish("ann", { event: "$AdShow" });
  const timeline = await readTimeline(stage.pool, { appId: app.appId, timeZone: app.timeZone }, wish);
  const origins = timeline!.items.map((item) => (item.kind === "event" ? item.ad_revenue : item.kind));
  expect(origins).toEqual(Array(2).fill({ origin: "pulled", amount: 2 }));
});

test("an erased user's open id is forgotten, and what was told about it stays in the day's total", async () => {
  await register("ann", "o-ann");
  await show("ann", ["a"]);
  await tell({ "o-ann": 3, "": 1, "o-x": 2 });
  await settle();
  await stage.append("erase", "ann", {}, head());
  await settle();
  const { rows } = await stage.pool.query(
    "select open_id, micros::int as micros from ad_revenue_user where app_id = $1 order by 1",
    [app.appId],
  );
  expect(rows).toEqual([
    { open_id: "", micros: 4 },
    { open_id: "o-x", micros: 2 },
  ]);
  expect(await pulled()).toEqual({ cube: 0 });
});

test("an open id that another user has too stays that user's when one of them is erased", async () => {
  for (const client of ["ann", "bob"]) {
    await register(client, "o-x");
    await show(client, ["a"]);
  }
  await tell({ "o-x": 10 });
  expect(await pulled()).toEqual({ ann: 5, bob: 5, cube: 10 });
  await stage.append("erase", "ann", {}, head());
  expect(await pulled()).toEqual({ bob: 10, cube: 10 });
});

test("an erased user stays unknown however often the platform tells, until they come back", async () => {
  await register("ann", "o-ann");
  await stage.append("erase", "ann", {}, head());
  await stage.applyAll();
  const heard = () =>
    inTransaction(stage.pool, async (tx) => {
      const players = playersOf({ ann: 1, "o-ann": 2, "o-x": 4 });
      const told = await withoutErased(tx, { appId: app.appId, players }, async () => new ErasureDigest(ERASURE_KEY));
      return Object.fromEntries(told.map(({ openId, micros }) => [openId, micros]));
    });
  expect(await heard()).toEqual({ "": 3, "o-x": 4 });
  await stage.register("ann again", { wx_openid: "o-ann" }, head(NOW_MS + 1));
  await stage.applyAll();
  expect(await heard()).toEqual({ "": 1, "o-ann": 2, "o-x": 4 });
});
