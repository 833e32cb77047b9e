import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startBaidu } from "../../sim/platforms/baidu.ts";
import type { CostRow } from "../../sim/platforms/costs.ts";
import { startKuaishou } from "../../sim/platforms/kuaishou.ts";
import { startOceanEngine } from "../../sim/platforms/ocean-engine.ts";
import { startTencent } from "../../sim/platforms/tencent.ts";
import { notesOf } from "../../src/cost/pull-notes.ts";
import { type App, changeApp } from "../../src/db/app.ts";
import { loadCostAccounts, loadPulledDays } from "../../src/db/cost-pull.ts";
import { type Asked, startProxy } from "./proxy.ts";
import { ACCESS, CostStage, NOON_MS, spent, TODAY, YESTERDAY } from "./stage.ts";

const stage = new CostStage();
const BOTH = { kind: "range", fromDay: YESTERDAY, toDay: TODAY } as const;

let app: App;
let rows: CostRow[];
const open: { close: () => Promise<unknown> }[] = [];

beforeEach(async () => {
  stage.nowMs = NOON_MS;
  app = await stage.app();
  rows = [spent(TODAY, 1, 1234), spent(TODAY, 2, 50), spent(YESTERDAY, 1, 99)];
});
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

function opened<T extends { close: () => Promise<unknown> }>(one: T): T {
  open.push(one);
  return one;
}

const days = async () => {
  const found = await loadPulledDays(stage.pool, { appId: app.appId, ...BOTH });
  return found.map(({ day, costE4, totalE4, notByAdE4 }) => ({ day, costE4, totalE4, notByAdE4 }));
};

type Totals = {
  name: "tencent" | "bytedance" | "baidu" | "kuaishou";
  start: (options: { clock: () => number; costs: CostRow[] }) => Promise<{ url: string; close: () => Promise<void> }>;
  /** Whether a request asks for the account's totals. */
  isTotals: (asked: Asked) => boolean;
  /** Adds cents to a row of the answer. */
  add: (row: any, cents: number) => void;
  rowsOf: (answer: any) => any[];
};

const yuan = (value: unknown, cents: number) => Math.round(Number(value) * 100 + cents) / 100;
const PLATFORMS: Totals[] = [
  {
    name: "tencent",
    start: startTencent,
    isTotals: ({ address }) => address.includes("REPORT_LEVEL_ADVERTISER"),
    rowsOf: ({ data }) => data.list,
    add: (row, cents) => (row.cost += cents),
  },
  {
    name: "bytedance",
    start: startOceanEngine,
    isTotals: ({ address }) => address.includes('dimensions=["stat_time_day"]'),
    rowsOf: ({ data }) => data.rows,
    add: (row, cents) => (row.metrics.stat_cost = yuan(row.metrics.stat_cost, cents)),
  },
  {
    name: "baidu",
    start: startBaidu,
    isTotals: ({ body }) => body.includes('"reportType":2149145'),
    rowsOf: ({ body }) => [body.data].flat()[0].rows,
    add: (row, cents) => (row.cost = yuan(row.cost, cents)),
  },
  {
    name: "kuaishou",
    start: startKuaishou,
    isTotals: ({ address }) => address.includes("account_report"),
    rowsOf: ({ data }) => data.details,
    add: (row, cents) => (row.charge = yuan(row.charge, cents)),
  },
];

describe.each(PLATFORMS)("$name", ({ name, start, isTotals, rowsOf, add }) => {
  /** An account whose total is changed by a number of cents on both days. */
  async function account(change: (asked: Asked, answer: string) => string) {
    const sim = opened(await start({ clock: stage.clock, costs: rows }));
    const proxy = opened(await startProxy(sim.url, change));
    const access = ACCESS[name](sim as never);
    const settings = Object.fromEntries(
      Object.entries(access.settings).map(([field, value]) => [field, value.replace(sim.url, proxy.url)]),
    );
    return stage.account(app, { ...access, settings });
  }

  const withCents = (cents: number) => (asked: Asked, answer: string) => {
    if (!isTotals(asked)) return answer;
    const body = JSON.parse(answer);
    for (const row of rowsOf(body)) add(row, cents);
    return JSON.stringify(body);
  };

  test("the rows of a day equal the account's own total", async () => {
    const pulled = await stage.pull(await account((_, answer) => answer), BOTH);
    expect(pulled).toMatchObject({ days: 2, rows: 3, costE4: 138_300, error: "" });
    expect(await days()).toEqual([
      { day: YESTERDAY, costE4: 9_900, totalE4: 9_900, notByAdE4: 0 },
      { day: TODAY, costE4: 128_400, totalE4: 128_400, notByAdE4: 0 },
    ]);
  });

  test("what the account cost beyond its ads is one row without plan and ad", async () => {
    const pulled = await stage.pull(await account(withCents(777)), BOTH);
    expect(pulled).toMatchObject({ days: 2, rows: 5, costE4: 138_300 + 2 * 77_700, error: "" });
    expect(await days()).toEqual([
      { day: YESTERDAY, costE4: 87_600, totalE4: 87_600, notByAdE4: 77_700 },
      { day: TODAY, costE4: 206_100, totalE4: 206_100, notByAdE4: 77_700 },
    ]);
    expect((await stage.costs(app)).filter((row) => row.endsWith(" 77700"))).toEqual([
      `${YESTERDAY} ${name}   0 0 77700`,
      `${TODAY} ${name}   0 0 77700`,
    ]);
  });

  test("rows that exceed the account's total are kept, and the day says so", async () => {
    const own = await account(withCents(-10));
    const pulled = await stage.pull(own, BOTH);
    expect(pulled).toMatchObject({ days: 2, rows: 3, costE4: 138_300, error: "" });
    expect(await days()).toEqual([
      { day: YESTERDAY, costE4: 9_900, totalE4: 8_900, notByAdE4: 0 },
      { day: TODAY, costE4: 128_400, totalE4: 127_400, notByAdE4: 0 },
    ]);
    const [state] = await loadCostAccounts(stage.pool, { fromDay: YESTERDAY, of: own });
    expect(notesOf(state!, NOON_MS)).toEqual([
      `The ads of ${YESTERDAY} add up to 0.99, which is 0.10 more than the account's total of 0.89; the rows are kept as the platform sent them.`,
    ]);
  });

  test("if the total is refused for good, the rows are stored unchecked, and the account says so", async () => {
    const refusal = {
      tencent: { code: 11003, message: "no permission" },
      bytedance: { code: 40002, message: "no permission" },
      baidu: { header: { status: 2, failures: [{ code: 8001, message: "no permission" }] } },
      kuaishou: { code: 401003, message: "no permission" },
    }[name];
    const own = await account((asked, answer) => (isTotals(asked) ? JSON.stringify(refusal) : answer));
    const pulled = await stage.pull(own, BOTH);
    expect(pulled).toMatchObject({ days: 2, rows: 3, costE4: 138_300 });
    expect(pulled.error).toMatch(
      /^The account's total is missing, so that the costs are not checked: .*no permission\.$/,
    );
    expect((await days()).map(({ totalE4 }) => totalE4)).toEqual([null, null]);
    expect((await stage.stored(own)).lastError).toBe(pulled.error);
  });

  test("if the total fails for now, nothing of the days is touched", async () => {
    const own = await account((asked, answer) => (isTotals(asked) ? "<html>" : answer));
    const pulled = await stage.pull(own, BOTH);
    expect(pulled).toMatchObject({ days: 0, rows: 0 });
    expect(pulled.error).toMatch(/something unexpected/);
    expect(await stage.costs(app)).toEqual([]);
  });
});

test("if only the totals of plans are refused, costs without an ad are stored without their plan", async () => {
  rows.push(spent(TODAY, 8, 777, { isManaged: true }));
  const sim = opened(await startKuaishou({ clock: stage.clock, costs: rows }));
  const refusal = JSON.stringify({ code: 401003, message: "no permission" });
  const proxy = opened(
    await startProxy(sim.url, ({ address }, answer) => (address.includes("campaign_report") ? refusal : answer)),
  );
  const access = ACCESS.kuaishou(sim);
  const settings = { ...access.settings, base_url: `${proxy.url}/rest/openapi` };
  const pulled = await stage.pull(await stage.account(app, { ...access, settings }), BOTH);
  expect(pulled.error).toBe(
    "The totals of plans are missing, so that costs without an ad have no plan: Kuaishou answered 401003: no permission.",
  );
  expect((await days())[1]).toEqual({ day: TODAY, costE4: 206_100, totalE4: 206_100, notByAdE4: 77_700 });
  expect(await stage.costs(app)).toContain(`${TODAY} kuaishou   7770 777 77700`);
});

test("totals in another currency are compared before the conversion, whose rounding makes no row", async () => {
  await changeApp(stage.pool, app.appId, { rates: { USD: "7.123456789" } });
  rows = [spent(TODAY, 1, 333), spent(TODAY, 2, 1), spent(TODAY, 3, 1)];
  const sim = opened(await startTencent({ clock: stage.clock, costs: rows }));
  const access = ACCESS.tencent(sim);
  const own = await stage.account(app, { ...access, settings: { ...access.settings, currency: "USD" } });
  await stage.pull(own, BOTH);
  expect(await days()).toEqual([
    { day: YESTERDAY, costE4: 0, totalE4: 0, notByAdE4: 0 },
    // Each of the rows is rounded: 23.72111…, 0.07123… and 0.07123….
    { day: TODAY, costE4: 237_211 + 712 + 712, totalE4: 237_211 + 712 + 712, notByAdE4: 0 },
  ]);
});

describe("a report of more rows than Tencent shows", () => {
  /** Pages of one row, of which twenty can be reached. */
  async function pulled(adsByDay: Record<string, number>) {
    rows = Object.entries(adsByDay).flatMap(([day, ads]) =>
      Array.from({ length: ads }, (_, at) => spent(day, at, 100 + at, { adId: `72000000000000001${10 + at}` })),
    );
    const sim = opened(await startTencent({ clock: stage.clock, costs: rows, pageRows: 1, readsPerMinute: 1_000_000 }));
    const own = await stage.account(app, ACCESS.tencent(sim));
    return { own, found: await stage.pull(own, { kind: "range", fromDay: "2026-11-08", toDay: TODAY }), sim };
  }

  test("is split by days until all of it is there", async () => {
    const { found, sim } = await pulled({ "2026-11-08": 20, "2026-11-10": 3, [YESTERDAY]: 15, [TODAY]: 6 });
    expect(found).toMatchObject({ days: 8, rows: 44, error: "" });
    expect(found.costE4).toBe(rows.reduce((sum, { cents }) => sum + cents * 100, 0));
    expect(sim.refused).toEqual([]);
  });

  test("leaves out a single day that is too large, says so, and stores the others", async () => {
    const { found, own, sim } = await pulled({ "2026-11-10": 3, [YESTERDAY]: 21, [TODAY]: 6 });
    expect(found).toMatchObject({ days: 7, rows: 9 });
    expect(found.error).toBe(
      `Tencent has more than 20000 rows for ${YESTERDAY} and shows no more, so that nothing was stored for it.`,
    );
    expect((await stage.costs(app)).filter((row) => row.startsWith(YESTERDAY))).toEqual([]);
    expect((await stage.pulls(app)).map(({ day }: any) => day)).not.toContain(YESTERDAY);
    expect((await stage.stored(own)).lastError).toBe(found.error);
    expect(sim.refused).toEqual([]);
  });
});
