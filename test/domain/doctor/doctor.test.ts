import { describe, expect, test } from "vitest";
import { diagnose } from "../../../src/domain/doctor/doctor.ts";
import { amountUnit, ecpmUnit, paymentWithoutOrderId, repeatedOrder } from "../../../src/domain/doctor/doctor-money.ts";
import { type StoredFacts, storedFindings } from "../../../src/domain/doctor/doctor-stored.ts";
import { mergeFindings } from "../../../src/domain/doctor/finding.ts";
import { paymentsOf, type SeenPayment } from "../../../src/domain/doctor/seen-call.ts";
import { noCounts } from "../../../src/domain/ledger.ts";
import { collected, event, many, NOW, registered, rejected, seen, touched } from "./seen-calls.ts";

const paid = (amount: number, more: Partial<SeenPayment> = {}): SeenPayment => ({
  atMs: NOW,
  clientId: "u-1",
  orderId: `o-${amount}`,
  amount,
  timeMs: NOW,
  ...more,
});

describe("amounts in the wrong unit", () => {
  test.each<[string, number[], string | undefined]>([
    ["with a fraction are certain", [600, 6.5], "error"],
    ["that are all small look like yuan", [6, 30, 648], "warning"],
    ["of cents are right", [600, 3_000, 64_800], undefined],
    ["of a few cents beside real prices are right", [1, 600, 3_000, 9_800], undefined],
    ["of a test with one cent prove nothing", [1, 1], undefined],
    ["of nothing are gifts", [0, 0, 0, 0], undefined],
  ])("%s: %j", (_, amounts, severity) => {
    const finding = amountUnit(amounts.map((amount) => paid(amount)));
    if (severity === undefined) expect(finding).toBeUndefined();
    else expect(finding).toMatchObject({ kind: "amount_unit", severity });
  });

  test("show the payment", () => {
    const found = { count: 1, example: { client_id: "u-1", order_id: "o-6.5", amount: 6.5 }, subjects: ["6.5"] };
    expect(amountUnit([paid(600), paid(6.5)])).toMatchObject(found);
  });
});

describe("$ecpm in the wrong unit", () => {
  const shown = (...values: unknown[]) => [collected(values.map(($ecpm) => event("$AdShow", { $ecpm })))];
  test("is reported if thousands are paid for a thousand views", () => {
    expect(ecpmUnit(shown(5_000, 12_000, 8_000))).toMatchObject({ kind: "ecpm_unit", severity: "warning", count: 3 });
  });
  test.each([[[50, 120.5, 80]], [[5_000, 20, 30]], [[5_000, 5_000]], [["5000", "5000", "5000"]]])(
    "is not reported for %j",
    (values) => {
      expect(ecpmUnit(shown(...values))).toBeUndefined();
    },
  );
});

describe("orders", () => {
  test("without an id are reported", () => {
    const found = { kind: "payment_without_order_id", count: 1, example: { client_id: "u-1", amount: 600 } };
    expect(paymentWithoutOrderId([paid(600, { orderId: "" }), paid(700)])).toMatchObject(found);
    expect(paymentWithoutOrderId([paid(600)])).toBeUndefined();
  });

  test.each<[string, Partial<SeenPayment>]>([
    ["another client", { clientId: "u-2" }],
    ["another amount", { amount: 700 }],
    ["another time", { timeMs: NOW + 5_000 }],
  ])("with one id but %s are reported", (_, other) => {
    const payments = [paid(600, { orderId: "o" }), paid(600, { orderId: "o", ...other })];
    const found = { kind: "repeated_order", severity: "warning", count: 1, subjects: ["o"], example: { reports: 2 } };
    expect(repeatedOrder(payments)).toMatchObject(found);
  });

  test("sent again, with their own ids, or without one are not reported as repeated", () => {
    expect(
      repeatedOrder([paid(600), paid(600), paid(700), paid(5, { orderId: "" }), paid(6, { orderId: "" })]),
    ).toBeUndefined();
  });

  test("are read from every way of sending a payment, if it was accepted", () => {
    const order = { $pay_amount: 600, $order_id: "o-1" };
    const consumer = {
      endpoint: "event/consumer_event",
      body: { event_type: "PAY", ts: NOW, amount: 500, real_amount: 400 },
    };
    const handled = { event_type: "pay", trace_id: "t-1", properties: { amount: 300 } };
    const calls = [
      collected([event("$PayEvent", order), event("other", order)]),
      seen(consumer),
      seen({ endpoint: "event/handle_event", body: handled }),
      collected([event("$PayEvent", order)], { errors: rejected("too_old", "$PayEvent") }),
      collected([event("$PayEvent", order)], { code: 2000 }),
      collected([event("$PayEvent", { $pay_amount: "600" })]),
    ];
    expect(calls.flatMap(paymentsOf)).toMatchObject([
      { amount: 600, orderId: "o-1" },
      { amount: 400, orderId: "" },
      { amount: 300, orderId: "t-1" },
    ]);
  });
});

describe("findings from the tables", () => {
  const QUIET: StoredFacts = {
    nowMs: NOW,
    ledger: { ...noCounts(), received: 1_000, stored: 1_000 },
    openid: undefined,
    address: undefined,
    touches: [],
    withoutRate: [],
  };
  const kindsOf = (facts: Partial<StoredFacts>) =>
    storedFindings({ ...QUIET, ...facts }).flatMap((finding) => (finding ? [finding.kind] : []));
  const shared = (users: number, of: number) => ({ value: "v", users, of, firstAtMs: NOW - 9, lastAtMs: NOW });
  const ofPlatform = (touches: number, withoutKey: number) => [
    { platform: "tencent", touches, withoutKey, firstAtMs: NOW - 9, lastAtMs: NOW },
  ];
  const ledger = (received: number, duplicate: number, reasons = {}) => ({
    ledger: { received, duplicate, stored: received - duplicate, rejected: reasons },
  });

  test.each<[string, Partial<StoredFacts>, string[]]>([
    ["nothing", {}, []],
    ["an open id of five users", { openid: shared(5, 5_000) }, ["shared_openid"]],
    ["an open id of four users", { openid: shared(4, 4) }, []],
    ["an address of nearly all users", { address: shared(80, 100) }, ["shared_address"]],
    ["an address of many users among more", { address: shared(79, 100) }, []],
    ["an address of all of a few", { address: shared(19, 19) }, []],
    ["touches without a key", { touches: ofPlatform(10, 5) }, ["touch_without_key"]],
    ["some touches without a key", { touches: ofPlatform(10, 4) }, []],
    ["too few touches to tell", { touches: ofPlatform(9, 9) }, []],
    [
      "a currency without a rate",
      { withoutRate: [{ currency: "USD", orders: 2, amount: 1_000 }] },
      ["currency_without_rate"],
    ],
    ["events that were rejected", ledger(10, 0, { too_old: 3 }), ["rejected_events"]],
    ["events that are reported as undeclared", ledger(10, 0, { undeclared: 3 }), []],
    ["many repeats", ledger(500, 100), ["many_duplicates"]],
    ["repeats as SDKs make them", ledger(1_000, 100), []],
    ["many repeats of little", ledger(99, 99), []],
  ])("%s", (_, facts, kinds) => {
    expect(kindsOf(facts)).toEqual(kinds);
  });
});

test("rejected events are an error from one in a hundred on, and a hint below", () => {
  const severityOf = (received: number, too_old: number) => {
    const ledger = { received, stored: received - too_old, duplicate: 0, rejected: { too_old } };
    const quiet = { nowMs: NOW, openid: undefined, address: undefined, touches: [], withoutRate: [] };
    return storedFindings({ ...quiet, ledger }).find((finding) => finding?.kind === "rejected_events")?.severity;
  };
  expect([severityOf(100, 1), severityOf(101, 1), severityOf(100, 0)]).toEqual(["error", "hint", undefined]);
});

test("there is one finding of each kind: worst first, with the first example and the higher count", () => {
  const base = { kind: "shared_openid" as const, firstAtMs: 1, lastAtMs: 2 };
  const merged = mergeFindings([
    { ...base, severity: "warning", count: 9, subjects: ["a"], example: { from: "calls" } },
    undefined,
    { ...base, kind: "clock_skew", severity: "hint", count: 1, subjects: [], example: {} },
    {
      ...base,
      severity: "error",
      count: 3,
      subjects: ["a", "b"],
      example: { from: "tables" },
      firstAtMs: 0,
      lastAtMs: 5,
    },
  ]);
  expect(merged).toEqual([
    {
      kind: "shared_openid",
      severity: "error",
      count: 9,
      subjects: ["a", "b"],
      example: { from: "calls" },
      firstAtMs: 0,
      lastAtMs: 5,
    },
    { ...base, kind: "clock_skew", severity: "hint", count: 1, subjects: [], example: {} },
  ]);
});

test("long texts are cut, and only some of many subjects are named", () => {
  const calls = many(50, (client) => registered(client, {}, { code: 1004, msg: "m".repeat(5_000), endpoint: client }));
  const [finding] = diagnose({
    appId: 1,
    nowMs: NOW,
    metadata: { mode: "open", events: new Map() },
    campaigns: new Set<string>(),
    calls,
    payments: [],
    stored: undefined,
  });
  expect(finding).toMatchObject({ kind: "refused_calls", count: 50 });
  expect(finding!.subjects).toHaveLength(20);
  expect(String(finding!.example.msg).length).toBeLessThan(300);
});

test("an app that does everything right gets no findings", () => {
  const player = (client: string, index: number) => [
    registered(
      client,
      { wx_openid: `open-${index}`, ad_data: { gdt_vid: `v-${index}` } },
      { ip: `203.0.113.${index}` },
    ),
    collected(
      [
        event("level_up", { level: 2 }),
        event("$PayEvent", { $pay_amount: 600, $order_id: `o-${index}` }),
        event("$AdShow", { $ecpm: 42.5 }),
      ],
      { client_id: client, ip: `203.0.113.${index}` },
    ),
    touched({ click_id: `c-${index}`, track_id: "autumn2026launch", imei: index % 3 === 0 ? "__IMEI__" : "86" }),
  ];
  const findings = diagnose({
    appId: 1,
    nowMs: NOW,
    metadata: { mode: "open", events: new Map([["level_up", "declared" as const]]) },
    campaigns: new Set(["autumn2026launch"]),
    calls: many(40, player).flat(),
    payments: [],
    stored: undefined,
  });
  expect(findings).toEqual([]);
});
