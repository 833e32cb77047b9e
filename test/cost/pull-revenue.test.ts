import { afterEach, beforeEach, expect, test } from "vitest";
import { startWechat, type WechatStandIn } from "../../sim/platforms/wechat.ts";
import { type App, changeApp } from "../../src/db/app.ts";
import { addDays } from "../../src/domain/calendar.ts";
import { ACCESS, CostStage, NOON_MS, spent, TODAY, YESTERDAY } from "./stage.ts";

const stage = new CostStage();
const BOTH = { kind: "range", fromDay: YESTERDAY, toDay: TODAY } as const;
const APP_ID = "wx0123456789abcdef";

const earned = (day: string, adId: string, cents: number) => spent(day, 1, cents, { account: APP_ID, adId });

let sim: WechatStandIn;
let app: App;
beforeEach(async () => {
  stage.nowMs = NOON_MS;
  app = await stage.app();
  sim = await startWechat({
    clock: stage.clock,
    costs: [earned(TODAY, "adunit-1", 1234), earned(YESTERDAY, "adunit-1", 99), earned(YESTERDAY, "adunit-2", 7)],
  });
});
afterEach(() => sim.close());

const account = () => stage.account(app, ACCESS.wechat(sim), { advertiserId: APP_ID });

async function revenue(): Promise<string[]> {
  const { rows } = await stage.pool.query(
    "select concat_ws(' ', day, ad_platform, advertiser_id, ad_unit, views, micros) as row from ad_revenue where app_id = $1 order by 1",
    [app.appId],
  );
  return rows.map(({ row }) => row);
}

test("revenue is pulled by ad unit and day, in fen, with a token of its own, and is no cost", async () => {
  const pulled = await stage.pull(await account(), BOTH);
  expect(pulled).toMatchObject({ days: 2, rows: 3, costE4: 134_000, error: "" });
  expect(await revenue()).toEqual([
    `${YESTERDAY} wechat ${APP_ID} adunit-1 990 990000`,
    `${YESTERDAY} wechat ${APP_ID} adunit-2 70 70000`,
    `${TODAY} wechat ${APP_ID} adunit-1 12340 12340000`,
  ]);
  expect(await stage.costs(app)).toEqual([]);
  expect(sim.refused.map(({ reason }) => reason)).toEqual(["access_token is missing"]);
});

test("what the mini-game earned beyond its units is stored without a unit", async () => {
  await sim.close();
  sim = await startWechat({ clock: stage.clock, costs: [earned(TODAY, "adunit-1", 100), earned(TODAY, "", 5)] });
  await stage.pull(await account(), { kind: "range", fromDay: TODAY, toDay: TODAY });
  expect(await revenue()).toEqual([
    `${TODAY} wechat ${APP_ID}  50 50000`,
    `${TODAY} wechat ${APP_ID} adunit-1 1000 1000000`,
  ]);
});

test("more units than a page holds are all pulled", async () => {
  const days = Array.from({ length: 50 }, (_, back) => addDays(TODAY, -back));
  await sim.close();
  const costs = days.flatMap((day) => [1, 2, 3].map((unit) => earned(day, `adunit-${unit}`, unit)));
  sim = await startWechat({ clock: stage.clock, costs });
  const pulled = await stage.pull(await account(), { kind: "range", fromDay: days.at(-1)!, toDay: TODAY });
  expect(pulled).toMatchObject({ days: 50, rows: 150, error: "" });
});

test("a token that has ended is renewed, and revenue comes in the app's currency", async () => {
  await changeApp(stage.pool, app.appId, { currency: "USD", rates: { CNY: "0.14" } });
  const own = await stage.account(app, ACCESS.wechat(sim), {
    advertiserId: APP_ID,
    secrets: { app_secret: sim.secret, access_token: sim.tokens.accessToken },
  });
  sim.tokens.expire();
  expect(await stage.pull(own, { kind: "range", fromDay: TODAY, toDay: TODAY })).toMatchObject({ error: "" });
  expect(await revenue()).toEqual([`${TODAY} wechat ${APP_ID} adunit-1 12340 1727600`]);
});

test.each<[string, () => void, RegExp]>([
  [
    "a wrong secret",
    () => Object.assign(sim, { fail: (call: number) => (call > 1 ? "bad_token" : undefined) }),
    /40125/,
  ],
  ["a used-up quota", () => Object.assign(sim, { fail: () => "busy" }), /45009: reach max api daily quota limit/],
])("%s is told, and nothing is stored", async (_, change, sentence) => {
  change();
  expect((await stage.pull(await account(), BOTH)).error).toMatch(sentence);
  expect(await revenue()).toEqual([]);
});
