import { expect, test } from "vitest";
import type { MarketCall } from "../../sim/market/call.ts";
import { Market } from "../../sim/market/market.ts";
import {
  COMPLETE_RATES,
  DEFAULT_RATES,
  type MarketOptions,
  marketOptions,
  startOf,
  tickAfter,
} from "../../sim/market/options.ts";
import type { Plan } from "../../sim/market/person.ts";
import { Random } from "../../sim/market/random.ts";
import type { PersonTruth } from "../../sim/market/truth.ts";
import { DAY_MS } from "../../src/domain/calendar.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import { readLaunchQuery } from "../../src/platform/registry.ts";
import { SCENES } from "../platform/launch-scenes.ts";

const END_MS = Date.UTC(2026, 5, 1);

type Run = { calls: { atMs: number; call: MarketCall }[]; plans: Set<Plan>; market: Market };

const runs = new Map<string, Run>();

/** Nothing changes the result, so equal markets are made once. */
function run(given: Partial<MarketOptions> = {}): Run {
  const key = JSON.stringify(given);
  const known = runs.get(key) ?? played(given);
  runs.set(key, known);
  return known;
}

function played(given: Partial<MarketOptions>): Run {
  const market = new Market(marketOptions({ endMs: END_MS, days: 20, people: 1500, ...given }));
  const calls: Run["calls"] = [];
  const plans = new Set<Plan>();
  for (const { atMs, turns } of market.ticks()) {
    for (const { plan, calls: sent } of turns) {
      if (plan) plans.add(plan);
      calls.push(...sent.map((call) => ({ atMs, call })));
    }
  }
  return { calls, plans, market };
}

const share = (people: readonly PersonTruth[], is: (one: PersonTruth) => boolean) =>
  people.filter(is).length / people.length;

test("the same seed and options give the same calls, byte for byte", () => {
  const bytes = (seed: number) => JSON.stringify(played({ seed, people: 100 }).calls);
  expect(bytes(7)).toBe(bytes(7));
  expect(bytes(7)).not.toBe(bytes(8));
});

test("the drawn numbers are the same on every machine, and evenly distributed", () => {
  const random = new Random(1, "even");
  const drawn = Array.from({ length: 20_000 }, () => random.next());
  expect(drawn.slice(0, 3)).toEqual(
    Array.from(
      { length: 3 },
      (
        (again) => () =>
          again.next()
      )(new Random(1, "even")),
    ),
  );
  expect(drawn.reduce((sum, one) => sum + one, 0) / drawn.length).toBeCloseTo(0.5, 1);
  expect(drawn.filter((one) => one < 0.1).length / drawn.length).toBeCloseTo(0.1, 1);
  expect(Math.min(...drawn)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...drawn)).toBeLessThan(1);
});

test("calls are sent at the first tick at or after the time at which they are due", () => {
  const { calls, market } = run();
  const startMs = startOf(market.options);
  for (const { atMs, call } of calls.filter((one) => one.call.dueMs >= startMs)) {
    expect(atMs).toBe(tickAfter(market.options, call.dueMs));
    expect(atMs).toBeGreaterThanOrEqual(call.dueMs);
    expect(atMs - call.dueMs).toBeLessThanOrEqual(2 * market.options.tickMs);
  }
  expect(tickAfter(market.options, calls[0]!.atMs)).toBe(calls[0]!.atMs);
  expect(Math.max(...calls.map(({ atMs }) => atMs))).toBeLessThanOrEqual(END_MS);
});

test("people match the rates", () => {
  const people = [...run().plans].map(({ truth }) => truth);
  expect(share(people, ({ kind }) => kind === "organic")).toBeCloseTo(DEFAULT_RATES.organic, 1);
  expect(share(people, ({ kind }) => kind === "farm")).toBeCloseTo(DEFAULT_RATES.farm, 2);
  expect(share(people, ({ kind }) => kind === "migrated")).toBeCloseTo(DEFAULT_RATES.migrated, 2);
  const platforms = new Set(people.flatMap(({ source }) => (source ? [source.platform] : [])));
  expect([...platforms].sort()).toEqual(["asa", "baidu", "bilibili", "bytedance", "kuaishou", "tencent", "vivo"]);
  const methods = new Set(people.map(({ method }) => method));
  expect([...methods].sort()).toEqual([
    "click_key",
    "device_id",
    "ip_ua",
    "launch_query",
    "none",
    "open_id",
    "reported",
  ]);
  const fraud = new Set(people.flatMap((one) => one.fraud.map(({ kind }) => kind)));
  expect([...fraud].sort()).toEqual(["farm", "injection", "quiet_spam", "spam"]);
});

test("mini-games are opened with exactly what the platforms pass", () => {
  const keysOf = new Map<string, Set<string>>();
  for (const { scene, query } of SCENES) {
    keysOf.set(scene, new Set([...(keysOf.get(scene) ?? []), ...Object.keys(query)]));
  }
  const seen = new Set<string>();
  for (const { truth, calls } of run().plans) {
    const [first] = calls.filter((call) => call.kind === "register");
    const { ad_data: query, history_info } = JSON.parse(first?.body ?? "{}") as Record<string, JsonObject | undefined>;
    if (!query || history_info) continue;
    const read = readLaunchQuery(query);
    const isByCampaign = query.turbo_promoted_object_id !== undefined;
    const isByLaunch = truth.method === "click_key" || truth.method === "launch_query";
    expect([truth.clientId, read?.platform.name]).toEqual([
      truth.clientId,
      isByLaunch && !isByCampaign ? truth.source?.platform : undefined,
    ]);
    for (const key of read ? Object.keys(query) : []) expect([...keysOf.get(read!.scene)!]).toContain(key);
    seen.add(isByCampaign ? "campaign" : (read?.scene ?? "none"));
  }
  const scenes = [...keysOf.keys()].filter((scene) => scene !== "Tencent outside WeChat");
  expect([...seen].sort()).toEqual([...scenes, "campaign", "none"].sort());
});

test("calls go wrong as often as the rates say", () => {
  const { calls } = run();
  const collects = calls.flatMap(({ call }) => (call.kind === "collect" ? [call] : []));
  const of = (is: (call: (typeof collects)[number]) => boolean) => collects.filter(is).length / collects.length;
  expect(of(({ mishap }) => mishap === "answer")).toBeCloseTo(DEFAULT_RATES.answerLost, 1);
  expect(of(({ isGzip }) => isGzip)).toBeGreaterThan(0);
  expect(of(({ path }) => path === "eventv2/collect/")).toBeGreaterThan(0.05);
  const links = calls.flatMap(({ call }) => (call.kind === "link" ? [call] : []));
  const seen = new Map<string, number>();
  for (const { macros, touch } of links) {
    const key = `${touch}${JSON.stringify(macros)}`;
    seen.set(key, (seen.get(key) ?? 0) + 1);
  }
  expect([...seen.values()].some((times) => times > 1)).toBe(true);
  expect(links.some(({ platform, macros }) => platform === "tencent" && macros.__CLICK_ID__ === undefined)).toBe(true);
});

test("a person's calls are in order, and the registration precedes everything but the first show event", () => {
  for (const { calls } of run().plans) {
    const due = calls.map(({ dueMs }) => dueMs);
    expect(due).toEqual([...due].sort((left, right) => left - right));
    const own = calls.filter(({ kind }) => kind !== "link");
    const first = own.findIndex(({ kind }) => kind === "register");
    expect(first).toBeLessThanOrEqual(1);
  }
});

test("each event has its own number, and each order one amount", () => {
  const serials = new Map<string, string>();
  const orders = new Map<string, number>();
  for (const { call } of run().calls) {
    if (call.kind !== "collect") continue;
    const sent = (JSON.parse(call.body) as { event_list: { properties: { serial: string } }[] }).event_list;
    expect(sent.map(({ properties }) => properties.serial)).toEqual(call.events.map(({ serial }) => serial));
    for (const { serial, event, happening } of call.events) {
      const text = `${event} ${JSON.stringify(happening)}`;
      expect(serials.get(serial) ?? text).toBe(text);
      serials.set(serial, text);
      if (happening.kind !== "pay") continue;
      expect(orders.get(happening.orderId) ?? happening.cents).toBe(happening.cents);
      orders.set(happening.orderId, happening.cents);
    }
  }
  expect(orders.size).toBeGreaterThan(50);
});

test("orders are paid back in whole or in part, late, or before the order itself is sent", () => {
  const sent = run({ rates: { ...DEFAULT_RATES, refunded: 1 } }).calls.flatMap(({ call }) =>
    call.kind === "collect" ? call.events.map(({ happening }) => ({ ...happening, dueMs: call.dueMs })) : [],
  );
  const orders = new Map<string, number>();
  for (const one of sent) if (one.kind === "pay" && !orders.has(one.orderId)) orders.set(one.orderId, one.dueMs);
  const refunds = sent.filter((one) => one.kind === "refund");
  expect(refunds.length).toBeGreaterThan(orders.size / 2);
  expect(refunds.some(({ cents }) => cents === null)).toBe(true);
  expect(refunds.some(({ cents }) => cents !== null)).toBe(true);
  expect(refunds.some(({ orderId }) => !orders.has(orderId))).toBe(true);
  expect(refunds.some(({ orderId, dueMs }) => dueMs < (orders.get(orderId) ?? 0))).toBe(true);
  expect(refunds.some(({ orderId, dueMs }) => dueMs > (orders.get(orderId) ?? dueMs) + DAY_MS)).toBe(true);
  const plain = run().calls.flatMap(({ call }) => (call.kind === "collect" ? call.events : []));
  const isRefund = ({ event }: { event: string }) => event === "$RefundEvent";
  expect(plain.filter(isRefund).length).toBeGreaterThan(0);
});

test("every ad has a cost for each day, which follows from its clicks", () => {
  const { market } = run();
  const costs = market.costs();
  expect(costs).toHaveLength(market.catalogue.ads.length * 20);
  expect(new Set(costs.map(({ day }) => day)).size).toBe(20);
  for (const { clicks, impressions, costE4, aid } of costs) {
    const ad = market.catalogue.ads.find((one) => one.aid === aid)!;
    expect(costE4).toBe(clicks * ad.costPerClickCents * 100);
    expect(impressions).toBeGreaterThan(clicks);
  }
});

test("if nothing is lost or hidden, everyone brought by an ad can be known for certain", () => {
  const people = [...run({ rates: COMPLETE_RATES }).plans].map(({ truth }) => truth);
  const paid = people.filter(({ kind }) => kind === "paid");
  expect(paid.filter(({ method }) => method === "none" || method === "ip_ua")).toEqual([]);
  expect(people.flatMap(({ fraud }) => fraud)).toEqual([]);
});

test("a person who clicked long ago registers outside the window, and is organic", () => {
  const old = [...run().plans].filter(({ truth, calls }) => truth.kind === "organic" && calls[0]?.kind === "link");
  const isOld = ({ calls, truth }: Plan) => truth.fraud.length === 0 && calls.some(({ kind }) => kind === "register");
  const gaps = old
    .filter(isOld)
    .map(({ calls }) => calls.find(({ kind }) => kind === "register")!.dueMs - calls[0]!.dueMs);
  expect(gaps.length).toBeGreaterThan(5);
  expect(Math.min(...gaps)).toBeGreaterThan(7 * DAY_MS);
});
