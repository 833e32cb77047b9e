import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../src/db/app.ts";
import { COST_MEASURES, DISTINCT_MEASURES, type Measure, type Sums } from "../../src/domain/cube.ts";
import { refreshOnce } from "../../src/refresh/refresh.ts";
import { measuresOf, runAdReport } from "../../src/report/ad/ad-report.ts";
import { readAdReport } from "../../src/report/ad/ad-report-request.ts";
import { type CellBody, readCell } from "../../src/report/ad/cell-request.ts";
import { type Explained, explainCell } from "../../src/report/ad/explain.ts";
import { METRICS, metricNamed } from "../../src/report/metric/catalogue.ts";
import { notByHour } from "../../src/report/metric/hour-rule.ts";
import { asked, askedByHour, bodyOf, markets, ruleOf } from "../report/market.ts";
import type { Asked } from "../report/oracle-market.ts";
import { ApplyStage, DAY_MS, HOUR_MS, NOW_MS, pay, track } from "./apply-stage.ts";
import { enact } from "./enact.ts";
import { makeApp } from "./temp-database.ts";

let stage: ApplyStage;
beforeAll(async () => {
  stage = await ApplyStage.open();
});
afterAll(() => stage.close());

type Row = Record<string, string>;

async function explain(app: App, question: Asked, metric: string, row: Row): Promise<Explained> {
  const { metrics_list: _m, dims_list: _d, ...body } = bodyOf(app.appId, question, []);
  return explainCell(stage.pool, readCell({ ...body, metric, row }), app);
}

/** Checks that the listed rows add up to the sums of the metric. */
function expectToAddUp({ metric, sums, users, orders, costs, numbers, added }: Explained, question: Asked): void {
  const measures = measuresOf([metricNamed(metric)!], question);
  for (const name of measures) {
    expect([name, { ...added.users, ...added.costs }[name] ?? 0]).toEqual([name, sums[name] ?? 0]);
    const rows: readonly Sums[] = (COST_MEASURES as readonly Measure[]).includes(name) ? (costs as Sums[]) : users;
    expect([name, rows.reduce((total, one) => total + (one[name] ?? 0), 0)]).toEqual([name, sums[name] ?? 0]);
    if ((DISTINCT_MEASURES as readonly Measure[]).includes(name))
      expect(users.filter((user) => (user[name] ?? 0) > 1)).toEqual([]);
  }
  expect(new Set(users.map(({ client_id }) => client_id)).size).toBe(users.length);
  const payMeasure = measures.find((name) => name === "pay_cents" || /^pay_[ds]\d/.test(name));
  if (payMeasure) expect(orders.reduce((total, { cents }) => total + cents, 0)).toBe(sums[payMeasure] ?? 0);
  if (payMeasure && sums[payMeasure]) expect(added.orders).toEqual({ cents: sums[payMeasure] });
  if (measures.includes("pay_count")) expect(orders).toHaveLength(sums.pay_count ?? 0);
  expect(numbers).toEqual({ users: users.length, orders: orders.length, costs: costs.length });
}

/** Metrics that count users over several days are drawn more often: there a user is in many rows but counts once. */
const metrics = fc.oneof(
  fc.constantFrom(...METRICS.map(({ name }) => name)),
  fc.constantFrom(..."AppDAU AppGamePayUserCntStandard AppAdUserCnt AppARPU AppARPPU AppGamePayCost".split(" ")),
);

test("the rows listed behind a cell add up to it, for random markets, cells, filters and days", async () => {
  const cells = fc.array(
    fc.record({
      question: fc.oneof(asked, asked, askedByHour),
      metrics: fc.array(metrics, { minLength: 4, maxLength: 4 }),
      at: fc.nat(50),
    }),
    { minLength: 5, maxLength: 5 },
  );
  await fc.assert(
    fc.asyncProperty(markets, cells, async (market, list) => {
      const app = { ...(await makeApp(stage.pool, market.timeZone)), payShareBp: market.payShareBp };
      await enact(stage, app.appId, market);
      for (const { question, metrics: names, at } of list) {
        for (const name of names) {
          if (question.dims.includes("hour") && notByHour([metricNamed(name)!], ruleOf(question))) continue;
          const report = await runAdReport(stage.pool, readAdReport(bodyOf(app.appId, question, [name])), app);
          const item = report.items[at % Math.max(report.items.length, 1)];
          const row = item && (Object.fromEntries(question.dims.map((dim) => [dim, item[dim]!])) as Row);
          const explained = await explain(app, question, name, row ?? {});
          expect(explained).toMatchObject({ metric: name, value: item?.[name] ?? 0 });
          expectToAddUp(explained, question);
          const total = await explain(app, question, name, {});
          expect(total.value).toBe(report.total[0]?.[name] ?? 0);
          expectToAddUp(total, question);
        }
      }
    }),
    { numRuns: 6, endOnFailure: true },
  );
});

describe("a cell", () => {
  const DAY = "2024-06-15";
  const base: Asked = {
    fromDay: DAY,
    toDay: "2024-06-17",
    dims: [],
    caliber: "behavior_occurred_time",
    roiVersion: 1,
    decimals: 2,
    lists: {},
    versions: [],
  };

  async function appWithPayer(): Promise<App> {
    const app = await makeApp(stage.pool);
    const head = { app: app.appId };
    await stage.register("a", {}, head);
    await stage.register("b", { channel: "other" }, head);
    await stage.collect(
      "a",
      [pay("1", 100), pay("2", 50, {}, NOW_MS + DAY_MS), pay("3", 7, {}, NOW_MS + 40 * DAY_MS)],
      head,
    );
    await stage.collect("b", [track("login", {}, NOW_MS + HOUR_MS)], head);
    await stage.applyAll();
    while ((await refreshOnce(stage.pool)) > 0);
    return app;
  }

  test("of several days lists a user once, with the orders added up", async () => {
    const app = await appWithPayer();
    expect(await explain(app, base, "AppARPPU", {})).toMatchObject({
      metric: "AppARPPU",
      value: 1.5,
      sums: { pay_cents: 150, payers: 1 },
      users: [{ client_id: "a", pay_cents: 150, payers: 1 }],
      orders: [
        { trace_id: "1", client_id: "a", time: "2024-06-15 12:00:00", cents: 100 },
        { trace_id: "2", client_id: "a", time: "2024-06-16 12:00:00", cents: 50 },
      ],
      costs: [],
      numbers: { users: 1, orders: 2, costs: 0 },
    });
    const { users, value } = await explain(app, base, "AppDAU", {});
    expect([value, users]).toEqual([2, ["a", "b"].map((client_id) => ({ client_id, active_users: 1 }))]);
  });

  test("of one day, or of a row, lists only what is in it", async () => {
    const app = await appWithPayer();
    const second = await explain(app, base, "AppRevenue", { date: "2024-06-16" });
    expect(second).toMatchObject({ value: 0.5, users: [{ client_id: "a" }], orders: [{ trace_id: "2" }] });
    const other = await explain(app, base, "AppActivateStandard", { channel: "other", date: DAY });
    expect(other).toMatchObject({ value: 1, users: [{ client_id: "b", users: 1 }], orders: [] });
  });

  test("of the first caliber holds everything its users ever did, a window only what lies in it", async () => {
    const app = await appWithPayer();
    const first: Asked = { ...base, toDay: DAY, caliber: "user_activated_time" };
    const all = await explain(app, first, "AppGamePayAmountStandard", {});
    expect([all.value, all.orders.map(({ trace_id }) => trace_id)]).toEqual([1.57, ["1", "2", "3"]]);
    const window = await explain(app, first, "App3DayPayAmount", {});
    expect([window.value, window.orders.map(({ trace_id }) => trace_id)]).toEqual([1.5, ["1", "2"]]);
  });

  test("is empty if no row of the report has it", async () => {
    const app = await appWithPayer();
    const nothing = { value: 0, sums: {}, users: [], orders: [], costs: [] };
    expect(await explain(app, base, "AppRevenue", { ad_platform: "tencent" })).toMatchObject(nothing);
    expect(await explain(app, base, "AppRevenue", { date: "2030-01-01" })).toMatchObject(nothing);
  });

  const body: CellBody = {
    app_id: 1,
    metric: "AdCost",
    date_list: [DAY, DAY],
    statistics_caliber: "user_activated_time",
    decimal_point: 2,
  };
  test.each<[string, Partial<CellBody>, RegExp]>([
    ["a metric that does not exist", { metric: "Nothing" }, /Nothing/],
    ["a dimension that does not exist", { row: { planet: "x" } }, /row: "planet"/],
    ["an invalid date", { row: { date: "2024-02-30" } }, /row: date/],
    ["dimensions that exclude one another", { row: { csite: "", gid: "" } }, /csite and gid/],
    ["a range that is reversed", { date_list: ["2024-06-16", DAY] }, /reversed/],
  ])("is refused for %s", (_, change, message) => {
    expect(() => readCell({ ...body, ...change })).toThrow(message);
  });
});
