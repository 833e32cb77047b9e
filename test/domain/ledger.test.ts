import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { calendarOf } from "../../src/domain/calendar.ts";
import { addCount, addsUp, LEDGER_STEPS, ledgerEdges, noCounts } from "../../src/domain/ledger.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const NOW = Date.UTC(2026, 10, 15, 4, 20, 30);
const textsOf = (edges: number[] | undefined, zone: string) =>
  edges?.map((ms) => calendarOf(zone).textOf(ms).slice(5, 16));

describe("the steps of a range", () => {
  test.each<[string, string, number, string[]]>([
    ["minute", "Asia/Shanghai", 2 * MINUTE, ["11-15 12:18", "11-15 12:19", "11-15 12:20", "11-15 12:21"]],
    ["hour", "Asia/Shanghai", HOUR, ["11-15 11:00", "11-15 12:00", "11-15 13:00"]],
    ["hour", "Asia/Kolkata", HOUR, ["11-15 08:00", "11-15 09:00", "11-15 10:00"]],
    ["day", "Asia/Shanghai", 24 * HOUR, ["11-14 00:00", "11-15 00:00", "11-16 00:00"]],
    ["day", "America/Los_Angeles", 24 * HOUR, ["11-13 00:00", "11-14 00:00", "11-15 00:00"]],
  ])("are whole ones of the local clock: %s in %s", (step, zone, spanMs, expected) => {
    const range = { fromMs: NOW - spanMs, untilMs: NOW };
    const edges = ledgerEdges(range, step as "hour", { calendar: calendarOf(zone), stepsMax: 10 });
    expect(textsOf(edges, zone)).toEqual(expected);
  });

  test("are 25 hours on a day on which the clock is set back", () => {
    const calendar = calendarOf("America/Los_Angeles");
    const range = { fromMs: calendar.startOf("2026-11-01"), untilMs: calendar.startOf("2026-11-02") };
    expect(ledgerEdges(range, "hour", { calendar, stepsMax: 30 })).toHaveLength(26);
    expect(ledgerEdges(range, "day", { calendar, stepsMax: 30 })).toEqual([range.fromMs, range.untilMs]);
  });

  test("are limited in number", () => {
    const range = { fromMs: NOW - 10 * MINUTE, untilMs: NOW };
    const calendar = calendarOf("UTC");
    expect(ledgerEdges(range, "minute", { calendar, stepsMax: 11 })).toHaveLength(12);
    expect(ledgerEdges(range, "minute", { calendar, stepsMax: 10 })).toBeUndefined();
  });

  test("cover the range without a gap, in every zone", () => {
    const zones = ["Asia/Shanghai", "Asia/Kathmandu", "America/St_Johns", "Australia/Lord_Howe", "UTC"];
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.constantFrom(...LEDGER_STEPS),
        fc.integer({ min: Date.UTC(2020, 0), max: Date.UTC(2030, 0) }),
        fc.integer({ min: 1, max: 20 * HOUR }),
        (zone, step, fromMs, spanMs) => {
          const range = { fromMs, untilMs: fromMs + spanMs };
          const edges = ledgerEdges(range, step, { calendar: calendarOf(zone), stepsMax: 2_000 })!;
          expect(edges[0]).toBeLessThanOrEqual(range.fromMs);
          expect(edges.at(-1)).toBeGreaterThanOrEqual(range.untilMs);
          expect(edges.at(-2)).toBeLessThan(range.untilMs);
          expect(edges).toEqual([...edges].sort((left, right) => left - right));
        },
      ),
    );
  });
});

test("a received event is stored, a duplicate or rejected for one reason; otherwise the ledger does not add up", () => {
  const outcomes = noCounts();
  expect(addsUp(outcomes)).toBe(true);
  addCount(outcomes, "received", 10);
  expect(addsUp(outcomes)).toBe(false);
  addCount(outcomes, "stored", 5);
  addCount(outcomes, "duplicate", 2);
  addCount(outcomes, "too_old", 1);
  addCount(outcomes, "too_old", 1);
  addCount(outcomes, "bad_name", 1);
  expect(outcomes).toEqual({ received: 10, stored: 5, duplicate: 2, rejected: { too_old: 2, bad_name: 1 } });
  expect(addsUp(outcomes)).toBe(true);
  addCount(outcomes, "bad_name", 1);
  expect(addsUp(outcomes)).toBe(false);
});
