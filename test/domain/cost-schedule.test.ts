import { expect, test } from "vitest";
import { addDays, calendarOf } from "../../src/domain/calendar.ts";
import {
  daysOf,
  dueDays,
  newestSettledDay,
  openDays,
  type PulledState,
  rangesOf,
} from "../../src/domain/cost-schedule.ts";

const calendar = calendarOf("Asia/Shanghai");
const TODAY = "2026-11-15";
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** The instant of a local time on a day. */
const at = (clock: string, day = TODAY): number => calendar.rangeOf(`${day} ${clock}`)!.fromMs;
const ago = (days: number): string => addDays(TODAY, -days);

/** An account whose last days were all pulled at one time. */
function pulled(lastDays: number, atMs: number, change: Partial<PulledState> = {}): PulledState {
  const days = Array.from({ length: lastDays }, (_, back) => [ago(back), atMs] as const);
  return { changedAtMs: 0, attemptedAtMs: atMs, failures: 0, pulledAtMs: new Map(days), ...change };
}
const due = (state: PulledState, nowMs: number) => dueDays(state, { nowMs, calendar });

test("thirty days of a new account are due at once, newest first", () => {
  const state = { changedAtMs: 0, attemptedAtMs: null, failures: 0, pulledAtMs: new Map() };
  const days = due(state, at("00:00:01"));
  expect(days).toHaveLength(30);
  expect([days[0], days.at(-1)]).toEqual([TODAY, ago(29)]);
});

test("today and yesterday are due every hour, and nothing else", () => {
  const state = pulled(30, at("12:00:00"));
  expect(due(state, at("12:59:59"))).toEqual([]);
  expect(due(state, at("13:00:00"))).toEqual([TODAY, ago(1)]);
});

test("at midnight the new day is due at once, together with the old one", () => {
  const state = pulled(30, at("23:50:00"));
  const tomorrow = addDays(TODAY, 1);
  expect(due(state, at("00:00:00", tomorrow))).toEqual([tomorrow, TODAY]);
});

test("the days up to a week ago are due once a day, after nine", () => {
  const state = pulled(8, at("23:00:00", ago(1)));
  const oldAndSettled = Array.from({ length: 22 }, (_, back) => [ago(8 + back), at("09:30:00")] as const);
  const whole = { ...state, pulledAtMs: new Map([...state.pulledAtMs, ...oldAndSettled]) };
  expect(due(whole, at("08:59:59"))).toEqual([TODAY, ago(1)]);
  expect(due(whole, at("09:00:00"))).toEqual(Array.from({ length: 8 }, (_, back) => ago(back)));
  expect(due(pulled(30, at("09:00:00")), at("09:59:59"))).toEqual([]);
});

test("a day is settled when it was pulled more than seven days later, and is never pulled again", () => {
  const nowMs = at("10:00:00");
  const state: PulledState = {
    ...pulled(30, at("09:30:00")),
    pulledAtMs: new Map([
      ...Array.from({ length: 30 }, (_, back) => [ago(back), at("09:30:00")] as const),
      [ago(9), at("23:59:59", ago(2))],
      [ago(10), at("00:00:00", ago(2))],
    ]),
  };
  // Pulled on its seventh day, and on its eighth.
  expect(due(state, nowMs)).toEqual([ago(9)]);
  expect(openDays(state, { nowMs, calendar })).toEqual([...Array.from({ length: 8 }, (_, back) => ago(back)), ago(9)]);
  expect(newestSettledDay(state, calendar)).toBe(ago(8));
});

test("days missed while nothing ran are due, back to the first day ever pulled, for up to ninety days", () => {
  const since = (days: number): PulledState => ({
    changedAtMs: 0,
    attemptedAtMs: 0,
    failures: 0,
    pulledAtMs: new Map([[ago(days), at("12:00:00", ago(days))]]),
  });
  expect(due(since(45), at("12:00:00"))).toHaveLength(46);
  expect(due(since(400), at("12:00:00"))).toHaveLength(90);
  expect(due(since(3), at("12:00:00"))).toHaveLength(30);
});

test.each([
  [1, 5],
  [2, 15],
  [3, 60],
  [4, 60],
  [99, 60],
])("after %d failures in a row nothing is due for %d minutes", (failures, minutes) => {
  const attemptedAtMs = at("12:00:00");
  const state = { changedAtMs: 0, attemptedAtMs, failures, pulledAtMs: new Map() };
  expect(due(state, attemptedAtMs + minutes * MINUTE_MS - 1)).toEqual([]);
  expect(due(state, attemptedAtMs + minutes * MINUTE_MS)).toHaveLength(30);
});

test("an account that was changed after a failure is tried at once", () => {
  const state = { attemptedAtMs: 1_000, failures: 9, pulledAtMs: new Map() };
  expect(due({ ...state, changedAtMs: 1_000 }, 1_001)).toEqual([]);
  expect(due({ ...state, changedAtMs: 1_001 }, 1_001)).toHaveLength(30);
});

test("days are in the app's time zone, even when its clock changes", () => {
  const berlin = calendarOf("Europe/Berlin");
  const nine = berlin.rangeOf("2026-10-25 09:00:00")!.fromMs;
  const pulledAtMs = new Map(
    Array.from({ length: 30 }, (_, back) => [addDays("2026-10-25", -back), nine - 2 * HOUR_MS] as const),
  );
  const state = { changedAtMs: 0, attemptedAtMs: 0, failures: 0, pulledAtMs };
  expect(dueDays(state, { nowMs: nine - 1, calendar: berlin })).toHaveLength(2);
  expect(dueDays(state, { nowMs: nine, calendar: berlin })).toHaveLength(8);
});

test("days become ranges of limited length, and a gap splits them", () => {
  const days = [ago(0), ago(1), ago(2), ago(3), ago(5), ago(6)];
  expect(rangesOf(days, 3)).toEqual([
    { fromDay: ago(2), toDay: ago(0) },
    { fromDay: ago(3), toDay: ago(3) },
    { fromDay: ago(6), toDay: ago(5) },
  ]);
  expect(rangesOf(days, 90)).toHaveLength(2);
  expect(rangesOf(days, 1).flatMap(daysOf)).toEqual(days);
  expect(rangesOf([], 7)).toEqual([]);
});
