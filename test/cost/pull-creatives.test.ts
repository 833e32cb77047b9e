import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { CostOptions } from "../../sim/platforms/costs.ts";
import { startKuaishou } from "../../sim/platforms/kuaishou.ts";
import type { StandIn, StandInOptions } from "../../sim/platforms/stand-in.ts";
import { startTencent } from "../../sim/platforms/tencent.ts";
import { type App, changeApp } from "../../src/db/app.ts";
import { ACCESS, CostStage, NOON_MS, spent, TODAY } from "./stage.ts";

const stage = new CostStage();
const ONE_DAY = { kind: "range", fromDay: TODAY, toDay: TODAY } as const;
const LONG_AGO = "2026-10-20";

/** Creatives of two ads; the third row belongs to no creative. */
const rowsOf = (day: string) => [
  spent(day, 1, 100, { creativeId: "7300000000000000001", creativeName: "Duck" }),
  spent(day, 1, 50, { creativeId: "7300000000000000002", creativeName: "Dog" }),
  spent(day, 1, 7),
  spent(day, 2, 30, { creativeId: "7300000000000000003", creativeName: "Cow" }),
];

type Platform = {
  name: "tencent" | "kuaishou";
  start: (options: StandInOptions & CostOptions) => Promise<StandIn>;
  status: string;
};
const PLATFORMS: Platform[] = [
  { name: "tencent", start: startTencent, status: "AD_STATUS_NORMAL" },
  { name: "kuaishou", start: startKuaishou, status: "" },
];

describe.each(PLATFORMS)("$name", ({ name, start, status }) => {
  let sim: StandIn;
  let app: App;
  let rows: ReturnType<typeof rowsOf>;

  beforeEach(async () => {
    rows = rowsOf(TODAY);
    stage.nowMs = NOON_MS;
    sim = await start({ clock: stage.clock, costs: rows, pageRows: 1 });
    app = await stage.app();
  });
  afterEach(() => sim.close());

  function account(settings: Record<string, string>) {
    const access = ACCESS[name](sim as never);
    return stage.account(app, { ...access, settings: { ...access.settings, ...settings } });
  }

  async function stored(): Promise<string[]> {
    const { rows: found } = await stage.pool.query(
      `select concat_ws(' ', day, right(aid, 1), right(cid, 1), impressions, clicks, cost_e4) as row from cost
        where app_id = $1 order by 1`,
      [app.appId],
    );
    return found.map(({ row }) => row);
  }

  const byCreative = (day: string) => [
    `${day} 1  70 7 700`,
    `${day} 1 1 1000 100 10000`,
    `${day} 1 2 500 50 5000`,
    `${day} 2 3 300 30 3000`,
  ];

  test("costs are stored by creative when the account asks for it, and by ad otherwise", async () => {
    const plain = await stage.pull(await account({}), ONE_DAY);
    expect(plain).toMatchObject({ rows: 2, costE4: 18_700, error: "" });
    expect(await stored()).toEqual([`${TODAY} 1  1570 157 15700`, `${TODAY} 2  300 30 3000`]);
    const fine = await stage.pull(await account({ by_creative: "yes" }), ONE_DAY);
    expect(fine).toMatchObject({ rows: 4, costE4: 18_700, error: "" });
    expect(await stored()).toEqual(byCreative(TODAY));
    const { rows: names } = await stage.pool.query(
      "select name, status from ad_object where level = 'creative' and app_id = $1 order by 1",
      [app.appId],
    );
    expect(names).toEqual(["Cow", "Dog", "Duck"].map((one) => ({ name: one, status })));
  });

  test("creatives of another currency add up to their ad, in whatever order they are told", async () => {
    await changeApp(stage.pool, app.appId, { currency: "USD", rates: { CNY: "0.0055" } });
    const creatives = ["1", "2", "3"].map((id) => spent(TODAY, 1, 1, { creativeId: `730000000000000000${id}` }));
    const expected = [`${TODAY} 1 1 10 1 1`, `${TODAY} 1 2 10 1 0`, `${TODAY} 1 3 10 1 1`];
    for (const told of [creatives, creatives.toReversed()]) {
      rows.splice(0, rows.length, ...told);
      await stage.pull(await account({ by_creative: "yes" }), ONE_DAY);
      expect(await stored()).toEqual(expected);
    }
    await stage.pull(await account({}), ONE_DAY);
    expect(await stored()).toEqual([`${TODAY} 1  30 3 2`]);
  });

  test("days long ago are stored by creative too", async () => {
    rows.splice(0, rows.length, ...rowsOf(LONG_AGO));
    const range = { kind: "range", fromDay: LONG_AGO, toDay: LONG_AGO } as const;
    expect(await stage.pull(await account({ by_creative: "yes" }), range)).toMatchObject({ rows: 4, error: "" });
    expect(await stored()).toEqual(byCreative(LONG_AGO));
  });
});
