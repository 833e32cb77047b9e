import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { storeAccount } from "../../src/db/platform-account.ts";
import { readList } from "../../src/domain/postback/postback-request.ts";
import { showPostbacks } from "../../src/postback/outbox-view.ts";
import { refreshOnce } from "../../src/refresh/refresh.ts";
import { readCell } from "../../src/report/ad/cell-request.ts";
import { explainCell } from "../../src/report/ad/explain.ts";
import { orderRecords, withRefunds } from "../../src/report/list/order-list.ts";
import { readTimeline, readTimelineWish } from "../../src/report/user/timeline.ts";
import { ApplyStage, DAY_MS, HOUR_MS, NOW_MS, pay, track } from "./apply-stage.ts";
import { vault } from "./temp-database.ts";

let stage: ApplyStage;
beforeAll(async () => {
  stage = await ApplyStage.open();
  const { appId } = stage.app;
  const nothing = {
    settings: {},
    secrets: {},
    tokenExpiresAtMs: null,
    refreshExpiresAtMs: null,
    authorisationId: null,
    lastError: "",
    lastErrorAtMs: null,
  };
  const account = { appId, adPlatform: "tencent", advertiserId: "", postbacks: true, costs: false, ratePerS: 0 };
  await storeAccount(stage.pool, vault, { ...account, ...nothing }, 0);
});
afterAll(() => stage.close());
beforeEach(async () => {
  await stage.begin();
  await stage.register("player", { ad_data: { gdt_vid: "x" } });
});

const refund = (cents: number, more: object = {}, time = NOW_MS + DAY_MS) =>
  track("$RefundEvent", { $order_id: "a", $pay_amount: cents, ...more }, time);

/** The player pays two orders, and the platform accepts what it is told of them. */
async function payAndTell(): Promise<void> {
  await stage.collect("player", [pay("a", 1_000), pay("b", 500, {}, NOW_MS + HOUR_MS)]);
  await stage.applyAll();
  await stage.pool.query("delete from outbox");
  await stage.pool.query(
    "update postback set status = 1, attempts = 1, back_cents = value_cents, accepted_day = '2024-06-15' where trace_id <> ''",
  );
  await stage.pool.query("update orders set postback_status = 1, back_cents = cents");
}

async function payments(): Promise<unknown[][]> {
  const { postbacks } = await showPostbacks(stage.pool, stage.app, readList({ event_type: "pay" }));
  return postbacks
    .map((one) => [one.client_id, one.trace_id, one.status, one.back_cents, one.refunded_cents, one.refunded_at])
    .sort();
}

const stored = async () => (await stage.pool.query("select * from postback order by event_type, subject")).rows;

describe("a postback whose order is refunded", () => {
  test("stays as it is, is marked with the amount, and nothing is sent", async () => {
    await payAndTell();
    const before = await stored();
    await stage.collect("player", [refund(300), refund(200, {}, NOW_MS + 2 * DAY_MS)]);
    await stage.applyAll();
    expect(await stored()).toEqual(before);
    expect(await stage.count("outbox")).toBe(0);
    expect(await payments()).toEqual([
      ["player", "a", 1, 1_000, 500, "2024-06-17 12:00:00"],
      ["player", "b", 1, 500, 0, ""],
    ]);
  });

  test("is marked the same after a rename and after a replay", async () => {
    await payAndTell();
    await stage.collect("player", [refund(300)]);
    await stage.append("reset_client_id", "player", { new_client_id: "renamed" });
    await stage.applyAll();
    const marked = [
      ["renamed", "a", 1, 1_000, 300, "2024-06-16 12:00:00"],
      ["renamed", "b", 1, 500, 0, ""],
    ];
    expect(await payments()).toEqual(marked);
    await stage.applyInSteps([]);
    expect(await payments()).toEqual(marked);
  });

  test("is marked when the refund came before its order, and not before", async () => {
    await stage.collect("player", [refund(300)]);
    await stage.applyAll();
    expect(await payments()).toEqual([]);
    await payAndTell();
    expect(await payments()).toEqual([
      ["player", "a", 1, 1_000, 300, "2024-06-16 12:00:00"],
      ["player", "b", 1, 500, 0, ""],
    ]);
  });
});

describe("a refund", () => {
  const timelineOf = async (given: Parameters<typeof readTimelineWish>[1]) =>
    (await readTimeline(stage.pool, stage.app, readTimelineWish("player", given)))!;

  test("is in the timeline of who paid, with what it left of the order", async () => {
    await payAndTell();
    await stage.register("server");
    await stage.collect("server", [refund(300), refund(9_000, { $refund_id: "r" }, NOW_MS + 2 * DAY_MS)]);
    await stage.applyAll();
    const { items } = await timelineOf({ kinds: "refund,order,postback" });
    const order = { refunded_cents: 1_000, refunded_at: "2024-06-17 12:00:00" };
    expect(items.filter(({ kind }) => kind !== "postback")).toMatchObject([
      { kind: "refund", at: "2024-06-17 12:00:00", refund_id: "r", trace_id: "a", cents: 700, net_cents: 0 },
      { kind: "refund", at: "2024-06-16 12:00:00", cents: 300, order_cents: 1_000, net_cents: 700 },
      { kind: "order", trace_id: "b", cents: 500, refunded_cents: 0, refunded_at: "", net_cents: 500 },
      { kind: "order", trace_id: "a", cents: 1_000, ...order, net_cents: 0 },
    ]);
    expect(items).toContainEqual(expect.objectContaining({ kind: "postback", trace_id: "a", ...order }));
  });

  test("of an unknown order is in nobody's timeline", async () => {
    await stage.collect("player", [refund(300)]);
    await stage.applyAll();
    expect(await timelineOf({ kinds: "refund" })).toEqual({ items: [], next: null });
  });

  test("comes in pages, each refund once", async () => {
    await payAndTell();
    await stage.collect(
      "player",
      [1, 2, 3, 4, 5].map((cents) => refund(cents)),
    );
    await stage.applyAll();
    const found: string[] = [];
    for (let before: string | undefined; ; ) {
      const { items, next } = await timelineOf({ kinds: "refund", limit: "2", ...(before && { before }) });
      found.push(...items.map((item) => (item.kind === "refund" ? item.refund_id : "")));
      if (next === null) break;
      before = next;
    }
    expect(new Set(found).size).toBe(5);
    expect(found).toHaveLength(5);
  });

  test("is beside its order in the console and in exports; the amount stays what was paid", async () => {
    await payAndTell();
    await stage.collect("player", [refund(300)]);
    await stage.applyAll();
    const keys = ["a", "b"].map((traceId) => ({ clientId: "player", traceId }));
    const records = await orderRecords(stage.pool, keys, stage.app);
    expect(await withRefunds(stage.pool, records, stage.app)).toMatchObject([
      { TraceID: "a", Amount: 1_000, RefundAmount: 300, RefundTime: "2024-06-16 12:00:00", NetAmount: 700 },
      { TraceID: "b", Amount: 500, RefundAmount: 0, RefundTime: "-", NetAmount: 500 },
    ]);
  });

  test("is a row of its own behind a number, and its order says what platforms were told", async () => {
    await payAndTell();
    await stage.collect("player", [refund(300)]);
    await stage.applyAll();
    while ((await refreshOnce(stage.pool)) > 0);
    const days: [string, string] = ["2024-06-15", "2024-06-15"];
    const asked = { app_id: stage.app.appId, date_list: days, row: {}, decimal_point: 2, filtering: {} } as const;
    const cell = readCell({
      ...asked,
      metric: "AppGamePayAmountStandard",
      statistics_caliber: "behavior_occurred_time",
    });
    const told = { trace_id: "a", refunded_cents: 300, back_cents: 1_000 };
    expect(await explainCell(stage.pool, cell, stage.app)).toMatchObject({
      value: 12,
      orders: [
        { ...told, kind: "order", cents: 1_000 },
        { ...told, kind: "refund", cents: -300 },
        { trace_id: "b", kind: "order", cents: 500, refunded_cents: 0, back_cents: 500 },
      ],
      added: { orders: { cents: 1_200 } },
    });
  });
});
