import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { CostOptions } from "../../sim/platforms/costs.ts";
import { startKuaishou } from "../../sim/platforms/kuaishou.ts";
import { startOceanEngine } from "../../sim/platforms/ocean-engine.ts";
import type { StandIn, StandInOptions } from "../../sim/platforms/stand-in.ts";
import { startTencent } from "../../sim/platforms/tencent.ts";
import { type App, changeApp } from "../../src/db/app.ts";
import { runAdReport } from "../../src/report/ad/ad-report.ts";
import { readAdReport } from "../../src/report/ad/ad-report-request.ts";
import { ACCESS, CostStage, NOON_MS, spent, TODAY, YESTERDAY } from "./stage.ts";

const stage = new CostStage();
const LONG_AGO = "2026-10-20";

type Platform = {
  name: "tencent" | "kuaishou" | "bytedance";
  start: (options: StandInOptions & CostOptions) => Promise<StandIn>;
};
const PLATFORMS: Platform[] = [
  { name: "tencent", start: startTencent },
  { name: "kuaishou", start: startKuaishou },
  { name: "bytedance", start: startOceanEngine },
];

describe.each(PLATFORMS)("$name", ({ name, start }) => {
  let sim: StandIn;
  let app: App;
  /** The last row of today has no hour. */
  const rows = () => [
    spent(TODAY, 1, 100, { hour: 0 }),
    spent(TODAY, 1, 40, { hour: 11 }),
    spent(TODAY, 2, 30, { hour: 11 }),
    spent(TODAY, 2, 5),
    spent(YESTERDAY, 1, 9, { hour: 23 }),
    spent(LONG_AGO, 1, 8, { hour: 7 }),
  ];
  let served: ReturnType<typeof rows>;

  beforeEach(async () => {
    stage.nowMs = NOON_MS;
    served = rows();
    sim = await start({ clock: stage.clock, costs: served, pageRows: 2 });
    app = await stage.app();
  });
  afterEach(() => sim.close());

  function account(settings: Record<string, string>) {
    const access = ACCESS[name](sim as never);
    return stage.account(app, { ...access, settings: { ...access.settings, ...settings } });
  }

  /** The cost of each hour of two days. */
  async function byHour(from = YESTERDAY, to = TODAY, decimals: 2 | 4 = 2): Promise<Record<string, unknown>> {
    const request = readAdReport({
      app_id: app.appId,
      date_list: [from, to],
      dims_list: ["date", "hour"],
      metrics_list: ["AdCost"],
      statistics_caliber: "user_activated_time",
      decimal_point: decimals,
    });
    const { items } = await runAdReport(stage.pool, request, app);
    return Object.fromEntries(items.map((item) => [`${item.date} ${item.hour}`, item.AdCost]));
  }

  const range = (fromDay: string, toDay: string) => ({ kind: "range", fromDay, toDay }) as const;

  test("costs are reported by the hour when the account asks for it, and the rest without one", async () => {
    expect(await stage.pull(await account({}), range(YESTERDAY, TODAY))).toMatchObject({ error: "" });
    expect(await byHour()).toEqual({ [`${TODAY} `]: 1.75, [`${YESTERDAY} `]: 0.09 });
    expect(await stage.pull(await account({ by_hour: "yes" }), range(YESTERDAY, TODAY))).toMatchObject({ error: "" });
    expect(await byHour()).toEqual({
      [`${TODAY} `]: 0.05,
      [`${TODAY} 00`]: 1,
      [`${TODAY} 11`]: 0.7,
      [`${YESTERDAY} `]: 0,
      [`${YESTERDAY} 23`]: 0.09,
    });
  });

  test("hours of another currency add up to their day, however they are rounded", async () => {
    served.splice(0, served.length, ...[0, 11, 23].map((hour) => spent(YESTERDAY, 1, 1, { hour })));
    // A cent is 0.55 of the smallest amount that costs are counted in.
    await changeApp(stage.pool, app.appId, { currency: "USD", rates: { CNY: "0.0055" } });
    await stage.pull(await account({ by_hour: "yes" }), range(YESTERDAY, YESTERDAY));
    const hours = { [`${YESTERDAY} 00`]: 0.0001, [`${YESTERDAY} 11`]: 0, [`${YESTERDAY} 23`]: 0.0001 };
    expect(await byHour(YESTERDAY, YESTERDAY, 4)).toEqual({ [`${YESTERDAY} `]: 0, ...hours });
  });

  test("hours that the day's cost no longer covers do not count", async () => {
    await stage.pull(await account({ by_hour: "yes" }), range(YESTERDAY, TODAY));
    served.find(({ day }) => day === YESTERDAY)!.cents = 3;
    await stage.pull(await account({}), range(YESTERDAY, TODAY));
    expect(await byHour(YESTERDAY, YESTERDAY)).toEqual({ [`${YESTERDAY} `]: 0.03 });
  });

  test("days long ago are known by the day only", async () => {
    expect(await stage.pull(await account({ by_hour: "yes" }), range(LONG_AGO, LONG_AGO))).toMatchObject({ error: "" });
    expect(await byHour(LONG_AGO, LONG_AGO)).toEqual({ [`${LONG_AGO} `]: 0.08 });
  });
});
