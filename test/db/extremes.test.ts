import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { changeApp } from "../../src/db/app.ts";
import type { EntryKind } from "../../src/journal/entry.ts";
import { ApplyStage, NOW_MS, pay, track } from "./apply-stage.ts";

/**
 * Bodies at the edge of what the interface accepts. Each was acknowledged, so it must end in the tables: the database must
 * refuse none of them.
 */
let stage: ApplyStage;
beforeAll(async () => {
  stage = await ApplyStage.open();
  await changeApp(stage.pool, stage.app.appId, { rates: { USD: "999999999.999999999" } });
});
beforeEach(() => stage.begin());
afterAll(() => stage.close());

const LARGEST = Number("9999999999999.999");
const DEEP = JSON.parse(`${"[".repeat(20_000)}${"]".repeat(20_000)}`);
const LONG_TEXT = Array.from({ length: 20_000 }, (_, index) =>
  String.fromCodePoint(0x4e00 + ((index * 7919) % 20_000)),
).join("");
const collected = (...events: object[]) => ({ client_id: "u", event_list: events });
const attributed = {
  client_id: "u",
  name: "n",
  channel: "",
  version: 1,
  turbo_promoted_object_id: "",
  active_time: NOW_MS,
};
const reported = {
  ...attributed,
  active_ip: "",
  click_time: "",
  click_ip: "",
  click_company: "",
  ad_data: "",
  os_type: "",
};

test.each<[string, EntryKind, object]>([
  ["the largest payment", "collect", collected(pay("o", LARGEST))],
  ["the largest payment at the largest rate", "collect", collected(pay("o", LARGEST, { $pay_type: "USD" }))],
  ["the largest refund", "collect", collected(pay("o", -LARGEST, { $pay_type: "USD" }))],
  ["the largest ecpm", "collect", collected(track("$AdShow", { $ecpm: LARGEST, $ad_type: "reward" }))],
  [
    "a thousand of the largest ecpm",
    "collect",
    collected(...Array.from({ length: 1_000 }, (_, at) => track("$AdShow", { $ecpm: LARGEST }, NOW_MS + at))),
  ],
  [
    "a sum of the largest numbers",
    "collect",
    collected({ type: "profile", event: "profile_increment", time: NOW_MS, properties: { n: LARGEST } }),
  ],
  ["an order id of 2,048 bytes", "collect", collected(pay("订单".repeat(341), 1))],
  ["an order id that is a number", "collect", collected(track("$PayEvent", { $order_id: 123_456, $pay_amount: 1 }))],
  ["a deeply nested property, left out at intake", "collect", collected(track("e", { deep: DEEP }))],
  [
    "the first and the last instant of history",
    "collect",
    collected(track("e", {}, Date.UTC(2000, 0)), track("e", {}, Date.UTC(2100, 0) - 1)),
  ],
  [
    "texts with every control character",
    "collect",
    collected(track("e", { t: String.fromCodePoint(...Array(31).keys()).slice(1) })),
  ],
  [
    "a very long address and agent",
    "collect",
    { ...collected(track("e")), client_ip: LONG_TEXT, client_ua: LONG_TEXT },
  ],
  ["a consumer event of 1970", "consumer_event", { event_type: "PAY", ts: 0, amount: 1e15 }],
  ["a consumer event with its time as text", "consumer_event", { event_type: "PAY", ts: "1718424000000", amount: 1 }],
  ["a handled payment of an absurd amount", "handle_event", { event_type: "pay", properties: { amount: 1e300 } }],
  [
    "a handled payment with a very long order id",
    "handle_event",
    { event_type: "pay", properties: { amount: 1, $order_id: LONG_TEXT } },
  ],
  ["a handled event with a very long text", "handle_event", { event_type: "activate", properties: { t: LONG_TEXT } }],
  [
    "a registration with very long texts",
    "register",
    { client_id: "u", name: LONG_TEXT, channel: LONG_TEXT, version: Number.MAX_SAFE_INTEGER, wx_openid: LONG_TEXT },
  ],
  [
    "a registration of an absurd past",
    "initialize",
    { client_id: "u", name: "", channel: "", version: 0, history_info: { create_time: 1e300 } },
  ],
  [
    "a registration of the year 20000",
    "initialize",
    { client_id: "u", name: "", channel: "", version: 0, history_info: { create_time: Date.UTC(20_000, 0) } },
  ],
  ["the largest attributed version", "attributed", { ...reported, version: Number.MAX_SAFE_INTEGER }],
  ["an attributed body with an extra key nested deep", "attributed", { ...reported, extra: DEEP }],
  [
    "an attributed registration in 2099",
    "attributed",
    { ...reported, active_time: 4_102_444_800_000, click_time: 4_102_444_800_000, click_company: "tencent" },
  ],
  ["a device with an absurd level", "device_info", { data: { os_name: "android", api_version: 1e300 } }],
])("%s is stored, not set aside", async (_, kind, body) => {
  if (kind !== "register" && kind !== "initialize" && kind !== "attributed") await stage.register("u");
  const text = JSON.stringify(body, (_key, value) => (value === DEEP ? "DEEP" : value)).replaceAll(
    '"DEEP"',
    `${"[".repeat(20_000)}${"]".repeat(20_000)}`,
  );
  const omitted = text.includes('"deep":') ? { omitted: [[0, "deep"]] as [number, string][] } : {};
  await stage.append(kind, "u", text, omitted);
  await stage.register("behind");
  await stage.applyAll();
  expect((await stage.setAside()).map((row) => row.reason)).toEqual([]);
  expect(await stage.count("user_account")).toBe(2);
  const { received = 0, stored = 0 } = await stage.ledger();
  expect(stored).toBe(received);
});
