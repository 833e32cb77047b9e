import { describe, expect, test } from "vitest";
import {
  badProperties,
  debugInProduction,
  deviceNotDecrypted,
  encryptedEvents,
  refusedCalls,
  rejectedEvents,
  timeUnit,
  undeclaredEvents,
  unregisteredClients,
} from "../../../src/domain/doctor/doctor-call.ts";
import { clockSkew } from "../../../src/domain/doctor/doctor-clock.ts";
import type { MetaState } from "../../../src/domain/event/metadata.ts";
import { cases } from "./doctor-cases.ts";
import { collected, event, many, NOW, registered, rejected, seen } from "./seen-calls.ts";

cases("refused calls", refusedCalls, [
  [
    "are reported by endpoint and code, with the message of the last one",
    [
      seen({ code: 1001, msg: "No JSON.", at_ms: NOW - 5 }),
      registered("u", {}, { code: 1004, msg: "channel is missing." }),
    ],
    {
      kind: "refused_calls",
      severity: "error",
      count: 2,
      firstAtMs: NOW - 5,
      lastAtMs: NOW,
      subjects: ["event/collect 1001", "user/register 1004"],
      example: { endpoint: "user/register", code: 1004, msg: "channel is missing.", client_id: "u" },
    },
  ],
  ["are not reported if everything was accepted", [seen(), seen()], undefined],
  ["are not reported for a client that is not registered yet", [seen({ code: 2000 })], undefined],
  ["are not reported for the server's own errors", [seen({ code: 5003 }), seen({ code: 5000 })], undefined],
]);

cases("device data that does not decrypt", deviceNotDecrypted, [
  [
    "is reported",
    [seen({ endpoint: "user/device_info", code: 2007, msg: "…" })],
    { kind: "device_not_decrypted", count: 1 },
  ],
  ["is not reported for another refusal", [seen({ endpoint: "user/device_info", code: 1004 })], undefined],
]);

const refused = (client_id: string, atMs: number) => seen({ client_id, code: 2000, at_ms: NOW + atMs });

cases("clients that never register", unregisteredClients, [
  [
    "are reported if they are still refused after ten seconds",
    [refused("a", 0), refused("b", 0), refused("a", 10_000), refused("b", 20_000)],
    { kind: "unregistered_client", severity: "error", count: 2, subjects: ["a", "b"] },
  ],
  ["are not reported if they only try again at once, as SDKs do", [refused("a", 0), refused("a", 3_000)], undefined],
  [
    "are not reported if they register in the end",
    [refused("a", 0), refused("a", 15_000), registered("a", {}, { at_ms: NOW + 16_000 })],
    undefined,
  ],
  [
    "are not reported if their events are accepted, even if their registration was not seen",
    [refused("a", 0), seen({ client_id: "a", at_ms: NOW + 12_000 }), refused("a", 15_000)],
    undefined,
  ],
]);

cases("debug mode that was left on", debugInProduction, [
  [
    "is reported for many clients",
    many(20, (client_id) => seen({ client_id, debug: true })),
    { kind: "debug_in_production", severity: "warning", count: 20 },
  ],
  [
    "is not reported for a few people who test a lot",
    many(19, (client_id) => seen({ client_id, debug: true })),
    undefined,
  ],
  ["is not reported for many clients without it", many(50, (client_id) => seen({ client_id })), undefined],
]);

cases("events that were not stored", rejectedEvents, [
  [
    "are reported by reason and name",
    [collected([event("old")], { errors: rejected("too_old", "old") })],
    {
      kind: "rejected_events",
      count: 1,
      subjects: ["too_old old"],
      example: { reason: "too_old", message: "A sentence." },
    },
  ],
  [
    "are not reported for a bad property: such events are stored",
    [collected([event("e")], { errors: rejected("bad_property") })],
    undefined,
  ],
  [
    "are left to another finding if they are not declared",
    [collected([event("e")], { errors: rejected("undeclared") })],
    undefined,
  ],
  [
    "are left to another finding if their time has another unit",
    [collected([event("e", {}, NOW / 1000)], { errors: rejected("bad_time") })],
    undefined,
  ],
]);

cases("properties that were left out", badProperties, [
  [
    "are reported with the event",
    [collected([event("e")], { errors: rejected("bad_property", "level_up") })],
    { kind: "bad_properties", severity: "warning", subjects: ["level_up"] },
  ],
  ["are not reported for a rejected event", [collected([event("e")], { errors: rejected("bad_name") })], undefined],
]);

cases("encrypted events", encryptedEvents, [
  [
    "are reported, but not as events of a bad type",
    [collected([{ pkv: 1, ekey: "k", payload: "p" }], { errors: rejected("bad_type") })],
    { kind: "encrypted_events", severity: "error", count: 1 },
  ],
  ["are not reported for events that only have a payload", [collected([event("e", { payload: "p" })])], undefined],
]);

test("an encrypted event is not also reported as rejected", () => {
  const call = collected([{ ekey: "k", payload: "p" }], { errors: rejected("bad_type") });
  expect(rejectedEvents([call])).toBeUndefined();
});

cases("times in another unit", timeUnit, [
  [
    "seconds",
    [collected([event("e", {}, Math.floor(NOW / 1000))])],
    { kind: "time_unit", example: { time: NOW / 1000 } },
  ],
  ["microseconds", [collected([event("e", {}, NOW * 1000)])], { kind: "time_unit" }],
  ["nanoseconds", [collected([event("e", {}, NOW * 1e6)])], { kind: "time_unit" }],
  ["milliseconds", [collected([event("e", {}, NOW)])], undefined],
  ["something that is no time at all", [collected([event("e", {}, 5), event("e", {}, "x")])], undefined],
]);

describe("undeclared events", () => {
  const strict = (states: [string, MetaState][] = []) => ({ mode: "strict" as const, events: new Map(states) });
  const open = (states: [string, MetaState][]) => ({ mode: "open" as const, events: new Map(states) });
  const calls = [collected([event("boss")], { errors: rejected("undeclared", "boss") })];

  test("are lost in strict mode, and reported by name", () => {
    const found = { kind: "undeclared_event", severity: "error", count: 1, subjects: ["boss"] };
    expect(undeclaredEvents(calls, strict(), NOW)).toMatchObject(found);
  });
  test("are no longer reported once they are declared", () => {
    expect(undeclaredEvents(calls, strict([["boss", "declared"]]), NOW)).toBeUndefined();
  });
  test("are not reported if their names cannot be declared", () => {
    const bad = [collected([event("bad name")], { errors: rejected("undeclared", "bad name") })];
    expect(undeclaredEvents(bad, strict(), NOW)).toBeUndefined();
  });
  test("are a hint in open mode: those observed, not those already judged", () => {
    const states: [string, MetaState][] = [
      ["boss", "observed"],
      ["level", "declared"],
      ["old", "disabled"],
    ];
    const found = { kind: "undeclared_event", severity: "hint", count: 1, subjects: ["boss"] };
    expect(undeclaredEvents([], open(states), NOW)).toMatchObject(found);
    expect(undeclaredEvents([], open(states.slice(1)), NOW)).toBeUndefined();
  });
});

const HOUR = 3_600_000;
const sent = (client_id: string, skewMs: number, atMs = 0) =>
  collected([event("e", {}, NOW + atMs + skewMs)], { client_id, at_ms: NOW + atMs });
const flushed = (client_id: string, skewMs: number) =>
  collected([event("e", {}, NOW - 9 * HOUR)], { client_id }, { $flush_time: NOW + skewMs });

cases("a clock that is far off", clockSkew, [
  [
    "is the phone's own if only one client of many has it",
    [sent("ahead", 20 * 60_000), ...many(9, (client) => sent(client, -1_000))],
    { kind: "clock_skew", severity: "warning", count: 1, subjects: ["ahead"], example: { skew_s: 1_200 } },
  ],
  [
    "is reported as behind after more than one late call",
    [sent("a", -HOUR), sent("a", -HOUR, 60_000)],
    { kind: "clock_skew" },
  ],
  ["is not reported for one late call: there may have been no network", [sent("a", -HOUR)], undefined],
  [
    "is not reported for several late calls before one in time",
    [sent("a", -HOUR), sent("a", -HOUR), sent("a", -2_000)],
    undefined,
  ],
  [
    "is reported at once if the SDK says so",
    [flushed("a", -HOUR)],
    { kind: "clock_skew", example: { skew_s: -3_600 } },
  ],
  ["is not reported for events kept for hours by an SDK with a right clock", [flushed("a", -300)], undefined],
  ["is not reported for a minute", [sent("a", 60_000)], undefined],
  [
    "is not reported for history, which is sent as such",
    [collected([{ ...event("e", {}, NOW - 99 * HOUR), time_free: true }])],
    undefined,
  ],
  [
    "is a wrong time zone if nearly all clients are off by whole hours",
    many(10, (client) => sent(client, 8 * HOUR + 400)),
    {
      kind: "clock_systematic",
      severity: "error",
      count: 10,
      example: { median_skew_s: 28_800, looks_like_zone: true },
    },
  ],
  [
    "is a server's clock if nearly all clients are off by any other time",
    many(10, (client) => sent(client, 11 * 60_000)),
    { kind: "clock_systematic", example: { looks_like_zone: false } },
  ],
  [
    "is not systematic if many clients are off in both directions",
    many(10, (client, index) => sent(client, index % 2 === 0 ? HOUR : 2 * HOUR * -1)).concat(
      many(10, (client, index) => sent(client, index % 2 === 0 ? HOUR : -2 * HOUR)),
    ),
    { kind: "clock_skew", count: 10 },
  ],
]);
