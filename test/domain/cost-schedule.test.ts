import fc from "fast-check";
import { expect, test } from "vitest";
import { addDays, calendarOf, daysBetween } from "../../src/domain/calendar.ts";
import {
  type DayPull,
  daysOf,
  dueDays,
  grownAtMs,
  isSettled,
  leftDays,
  newestSettledDay,
  openDays,
  type PulledState,
  rangesOf,
  reachOf,
} from "../../src/domain/cost-schedule.ts";

const calendar = calendarOf("Asia/Shanghai");
const TODAY = "2026-11-15";
const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;

/** The instant of a local time on a day. */
const at = (clock: string, day = TODAY): number => calendar.rangeOf(`${day} ${clock}`)!.fromMs;
const ago = (days: number): string => addDays(TODAY, -days);

/** A pull of a day, by default the first that found its figures. */
const pull = (atMs: number, sameSinceMs = atMs) => ({ atMs, sameSinceMs });

/** An account whose last days were all pulled at one time. */
function pulled(lastDays: number, atMs: number, change: Partial<PulledState> = {}): PulledState {
  const days = Array.from({ length: lastDays }, (_, back) => [ago(back), pull(atMs)] as const);
  return { changedAtMs: at("00:00:00"), attemptedAtMs: atMs, failures: 0, pulls: new Map(days), ...change };
}
const when = (nowMs: number, reachDays = Number.POSITIVE_INFINITY) => ({ nowMs, calendar, reachDays });
const due = (state: PulledState, nowMs: number) => dueDays(state, when(nowMs));

test("thirty days of a new account are due at once, newest first", () => {
  const state = { changedAtMs: at("00:00:00"), attemptedAtMs: null, failures: 0, pulls: new Map() };
  const days = due(state, at("00:00:01"));
  expect(days).toHaveLength(30);
  expect([days[0], days.at(-1)]).toEqual([TODAY, ago(29)]);
});

test("days beyond the platform's reach are never due", () => {
  const state = { changedAtMs: at("00:00:00"), attemptedAtMs: null, failures: 0, pulls: new Map() };
  expect(dueDays(state, when(at("12:00:00"), 7)).at(-1)).toBe(ago(6));
  expect(openDays(pulled(80, at("12:00:00", ago(1))), when(at("12:00:00"), 7))).toHaveLength(7);
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

test("older days are due once a day, after nine, until they are settled", () => {
  const state = pulled(8, at("23:00:00", ago(1)));
  const oldAndSettled = Array.from({ length: 22 }, (_, back) => [ago(8 + back), pull(at("09:30:00"))] as const);
  const whole = { ...state, pulls: new Map([...state.pulls, ...oldAndSettled]) };
  expect(due(whole, at("08:59:59"))).toEqual([TODAY, ago(1)]);
  expect(due(whole, at("09:00:00"))).toEqual(Array.from({ length: 8 }, (_, back) => ago(back)));
  expect(due(pulled(30, at("09:00:00")), at("09:59:59"))).toEqual([]);
});

test("a day is settled when it was pulled more than seven days later, and is never pulled again", () => {
  const nowMs = at("10:00:00");
  const state: PulledState = {
    ...pulled(30, at("09:30:00")),
    pulls: new Map([
      ...Array.from({ length: 30 }, (_, back) => [ago(back), pull(at("09:30:00"))] as const),
      [ago(9), pull(at("23:59:59", ago(2)))],
      [ago(10), pull(at("00:00:00", ago(2)))],
    ]),
  };
  // Pulled on its seventh day, and on its eighth.
  expect(due(state, nowMs)).toEqual([ago(9)]);
  expect(openDays(state, when(nowMs))).toEqual([...Array.from({ length: 8 }, (_, back) => ago(back)), ago(9)]);
  expect(newestSettledDay(state, calendar)).toBe(ago(8));
});

test.each([
  ["two pulls a day apart agree", ago(2), "09:00:00", ago(1), "09:00:00", true],
  ["the second came a little early in the day", ago(2), "09:00:30", ago(1), "09:00:05", true],
  ["two pulls of the same morning agree", ago(2), "09:00:00", ago(2), "12:00:00", false],
  ["one was shortly before midnight, the other shortly after", ago(2), "23:59:00", ago(1), "00:01:00", false],
  ["the first was made while the day still grew", ago(3), "23:59:59", ago(1), "12:00:00", false],
])("when %s, a day is settled or not", (_, firstDay, firstClock, lastDay, lastClock, expected) => {
  const found = pull(at(lastClock, lastDay), at(firstClock, firstDay));
  expect(isSettled(ago(4), found, calendar)).toBe(expected);
});

test("a day that was never pulled is not settled", () => {
  expect(isSettled(ago(50), undefined, calendar)).toBe(false);
});

test("days that never settled are told apart: those that can be pulled by hand, and those beyond reach", () => {
  const state: PulledState = {
    ...pulled(0, 0),
    pulls: new Map([
      [ago(103), pull(at("12:00:00", ago(103)))],
      [ago(101), pull(at("12:00:00", ago(1)))],
    ]),
  };
  // The day that was pulled later is settled; those after it were never pulled.
  const nowMs = at("12:00:00");
  const days = (newest: number, oldest: number) =>
    Array.from({ length: oldest - newest + 1 }, (_, back) => ago(newest + back)).filter((day) => day !== ago(101));
  expect(leftDays(state, when(nowMs))).toEqual({ onRequest: days(90, 103), lost: [] });
  expect(leftDays(state, when(nowMs, 100))).toEqual({ onRequest: days(90, 99), lost: days(100, 103) });
  expect(leftDays(state, when(nowMs, 7))).toEqual({ onRequest: [], lost: days(7, 103) });
  expect(leftDays(pulled(90, nowMs), when(nowMs))).toEqual({ onRequest: [], lost: [] });
  expect(leftDays(pulled(0, 0), when(nowMs, 7))).toEqual({ onRequest: [], lost: [] });
});

test("days missed while nothing ran are due, back to the first day ever pulled, for up to ninety days", () => {
  const since = (days: number): PulledState => ({
    changedAtMs: at("00:00:00"),
    attemptedAtMs: 0,
    failures: 0,
    pulls: new Map([[ago(days), pull(at("12:00:00", ago(days)))]]),
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
  const state = { changedAtMs: at("00:00:00"), attemptedAtMs, failures, pulls: new Map() };
  expect(due(state, attemptedAtMs + minutes * MINUTE_MS - 1)).toEqual([]);
  expect(due(state, attemptedAtMs + minutes * MINUTE_MS)).toHaveLength(30);
});

test("an account that was changed after a failure is tried at once", () => {
  const state = { attemptedAtMs: 1_000, failures: 9, pulls: new Map() };
  expect(due({ ...state, changedAtMs: 1_000 }, 1_001)).toEqual([]);
  expect(due({ ...state, changedAtMs: 1_001 }, 1_001)).toHaveLength(30);
});

test("days are in the app's time zone, even when its clock changes", () => {
  const berlin = calendarOf("Europe/Berlin");
  const nine = berlin.rangeOf("2026-10-25 09:00:00")!.fromMs;
  const pulls = new Map(
    Array.from({ length: 30 }, (_, back) => [addDays("2026-10-25", -back), pull(nine - 2 * HOUR_MS)] as const),
  );
  const state = { changedAtMs: at("00:00:00"), attemptedAtMs: 0, failures: 0, pulls };
  expect(dueDays(state, { ...when(nine - 1), calendar: berlin })).toHaveLength(2);
  expect(dueDays(state, { ...when(nine), calendar: berlin })).toHaveLength(8);
});

test("days become ranges of limited length, and a gap splits them", () => {
  const days = [ago(0), ago(1), ago(2), ago(3), ago(5), ago(6)];
  const ranges = (daysMax: number) => rangesOf(days, [{ reachDays: 365, daysMax }], TODAY);
  expect(ranges(3)).toEqual([
    { fromDay: ago(2), toDay: ago(0) },
    { fromDay: ago(3), toDay: ago(3) },
    { fromDay: ago(6), toDay: ago(5) },
  ]);
  expect(ranges(90)).toHaveLength(2);
  expect(ranges(1).flatMap(daysOf)).toEqual(days);
  expect(rangesOf([], [{ reachDays: 7, daysMax: 7 }], TODAY)).toEqual([]);
});

test("a range stays within the reports that reach its days", () => {
  const spans = [
    { reachDays: 7, daysMax: 7 },
    { reachDays: 180, daysMax: 30 },
  ];
  const days = daysOf({ fromDay: ago(45), toDay: TODAY });
  expect(rangesOf(days, spans, TODAY)).toEqual([
    { fromDay: ago(6), toDay: TODAY },
    { fromDay: ago(36), toDay: ago(7) },
    { fromDay: ago(45), toDay: ago(37) },
  ]);
  const at = { nowMs: 0, calendar };
  expect([reachOf({ spans }, at), reachOf({ spans: [] }, at)]).toEqual([180, Number.POSITIVE_INFINITY]);
});

test.each<[zone: string, clock: string, days: number]>([
  ["Asia/Shanghai", "12:00:00", 3],
  ["America/New_York", "12:00:00", 2],
  ["America/New_York", "20:00:00", 3],
  ["Pacific/Auckland", "20:00:00", 4],
])("a platform's reach of 3 days in Shanghai, seen from %s at %s there, is %i days", (zone, clock, days) => {
  const reports = { spans: [{ reachDays: 3, daysMax: 1 }], reachZone: "Asia/Shanghai" };
  expect(reachOf(reports, { nowMs: at(clock), calendar: calendarOf(zone) })).toBe(days);
});

/**
 * An account, three hours at a time: what is due is pulled, unless the platform is down.
 * Figures of a day change with every pull before `finalAge` days of age.
 */
function simulated({ hours, downHours, finalAge }: { hours: number; downHours: Set<number>; finalAge: number }) {
  const pulls = new Map<string, DayPull>();
  const settledAt = new Map<string, { age: number; before: DayPull | undefined }>();
  const repulled: string[] = [];
  const startMs = at("00:30:00");
  let state: PulledState = { changedAtMs: startMs, attemptedAtMs: null, failures: 0, pulls };
  for (let hour = 0; hour < hours; hour += 3) {
    const nowMs = startMs + hour * HOUR_MS;
    const days = due(state, nowMs);
    if (days.length === 0) continue;
    if (downHours.has(hour)) {
      state = { ...state, attemptedAtMs: nowMs, failures: state.failures + 1 };
      continue;
    }
    state = { ...state, attemptedAtMs: nowMs, failures: 0 };
    for (const day of days) {
      const before = pulls.get(day);
      if (isSettled(day, before, calendar)) repulled.push(day);
      const isSame =
        before !== undefined && isFinal(day, before.atMs, finalAge) && before.sameSinceMs >= grownAtMs(day, calendar);
      pulls.set(day, { atMs: nowMs, sameSinceMs: isSame ? before.sameSinceMs : nowMs });
      if (isSettled(day, pulls.get(day), calendar)) {
        settledAt.set(day, { age: daysBetween(day, calendar.dayOf(nowMs)), before });
      }
    }
  }
  return { pulls, settledAt, repulled, lastDay: calendar.dayOf(startMs + (hours - 1) * HOUR_MS) };
}

/** Whether the figures of a day no longer change after an instant. */
const isFinal = (day: string, atMs: number, finalAge: number) => daysBetween(day, calendar.dayOf(atMs)) >= finalAge;

test("whatever fails in between, every day is pulled, settles once, and is then left alone", () => {
  const runs = fc.record({
    finalAge: fc.integer({ min: 0, max: 12 }),
    down: fc.array(fc.record({ from: fc.nat(24 * 18), hours: fc.integer({ min: 1, max: 60 }) }), { maxLength: 4 }),
  });
  fc.assert(
    fc.property(runs, ({ finalAge, down }) => {
      const downHours = new Set(down.flatMap(({ from, hours }) => Array.from({ length: hours }, (_, at) => from + at)));
      const { pulls, settledAt, repulled, lastDay } = simulated({ hours: 24 * 30, downHours, finalAge });
      expect(repulled).toEqual([]);
      // The last failures ended more than a week before the end, so that all days older than that are settled.
      for (const day of daysOf({ fromDay: ago(29), toDay: addDays(lastDay, -9) })) {
        expect([day, settledAt.has(day), isSettled(day, pulls.get(day), calendar)]).toEqual([day, true, true]);
      }
      for (const [day, { age, before }] of settledAt) {
        // Before the corrections end, only figures that an earlier pull has found too are taken for final.
        if (age <= 7) expect(before !== undefined && isFinal(day, before.atMs, finalAge)).toBe(true);
        expect(age).toBeGreaterThanOrEqual(3);
      }
    }),
    { numRuns: 10, examples: [[{ finalAge: 0, down: [{ from: 0, hours: 22 }] }]] },
  );
});

test("a new account's first days are pulled however long the platform is down at first", () => {
  const { settledAt } = simulated({
    hours: 24 * 14,
    downHours: new Set(Array.from({ length: 60 }, (_, at) => at)),
    finalAge: 0,
  });
  expect(daysOf({ fromDay: ago(29), toDay: TODAY }).filter((day) => !settledAt.has(day))).toEqual([]);
});

test("without failures, a day whose figures no longer change settles on its third day", () => {
  const { settledAt } = simulated({ hours: 24 * 12, downHours: new Set(), finalAge: 2 });
  expect(daysOf({ fromDay: TODAY, toDay: addDays(TODAY, 8) }).map((day) => settledAt.get(day)?.age)).toEqual(
    Array.from({ length: 9 }, () => 3),
  );
});

test("a day whose figures never rest settles when the platform's corrections have ended", () => {
  const { settledAt } = simulated({ hours: 24 * 14, downHours: new Set(), finalAge: 99 });
  expect(settledAt.get(TODAY)?.age).toBe(8);
});
