import fc from "fast-check";
import { expect, test } from "vitest";
import { addDays, Calendar, calendarOf, DAY_MS, isDay, isTimeZone, spanOf } from "../../src/domain/calendar.ts";

const HOUR_MS = 3_600_000;
const at = (text: string) => Date.parse(text);

/**
 * Offsets in whole, half and quarter hours; summer time in both hemispheres; a half-hour change; both sides of the date
 * line.
 */
const ZONES = [
  ...["Asia/Shanghai", "UTC", "America/New_York", "Europe/London", "Europe/Berlin", "America/Sao_Paulo"],
  ...["Asia/Kolkata", "Asia/Kathmandu", "Australia/Adelaide", "Australia/Lord_Howe", "Pacific/Chatham"],
  ...["Pacific/Apia", "Pacific/Kiritimati", "Pacific/Pago_Pago", "America/St_Johns", "America/Havana"],
  ...["Africa/Casablanca", "Asia/Tehran", "Asia/Pyongyang", "America/Caracas", "Pacific/Tongatapu", "Africa/Cairo"],
  ...["Pacific/Auckland"],
];

test.each<[string, string, string]>([
  ["Asia/Shanghai", "2024-06-14T15:59:59.999Z", "2024-06-14 23:59:59"],
  ["Asia/Shanghai", "2024-06-14T16:00:00Z", "2024-06-15 00:00:00"],
  ["UTC", "2024-02-29T23:59:59Z", "2024-02-29 23:59:59"],
  ["Asia/Kolkata", "2024-06-14T18:29:59Z", "2024-06-14 23:59:59"],
  ["Asia/Kolkata", "2024-06-14T18:30:00Z", "2024-06-15 00:00:00"],
  ["Asia/Kathmandu", "2024-06-14T18:15:00Z", "2024-06-15 00:00:00"],
  ["America/New_York", "2024-03-10T06:59:59Z", "2024-03-10 01:59:59"],
  ["America/New_York", "2024-03-10T07:00:00Z", "2024-03-10 03:00:00"],
  ["America/New_York", "2024-11-03T05:59:59Z", "2024-11-03 01:59:59"],
  ["America/New_York", "2024-11-03T06:00:00Z", "2024-11-03 01:00:00"],
  ["Australia/Lord_Howe", "2024-04-06T14:59:59Z", "2024-04-07 01:59:59"],
  ["Australia/Lord_Howe", "2024-04-06T15:00:00Z", "2024-04-07 01:30:00"],
  ["Pacific/Apia", "2011-12-30T09:59:59Z", "2011-12-29 23:59:59"],
  ["Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-31 00:00:00"],
  ["Asia/Shanghai", "1969-12-31T16:00:00Z", "1970-01-01 00:00:00"],
])("in %s the instant %s reads %s", (zone, instant, text) => {
  const calendar = new Calendar(zone);
  expect(calendar.textOf(at(instant))).toBe(text);
  expect(calendar.dayOf(at(instant))).toBe(text.slice(0, 10));
});

test.each<[string, string, string]>([
  ["Asia/Shanghai", "2024-06-15", "2024-06-14T16:00:00Z"],
  ["Asia/Kathmandu", "2024-06-15", "2024-06-14T18:15:00Z"],
  ["America/New_York", "2024-03-10", "2024-03-10T05:00:00Z"],
  ["America/New_York", "2024-03-11", "2024-03-11T04:00:00Z"],
  // Midnight is skipped: the day begins at one.
  ["America/Sao_Paulo", "2018-11-04", "2018-11-04T03:00:00Z"],
  ["Africa/Cairo", "2024-04-26", "2024-04-25T22:00:00Z"],
  // Midnight is reached twice, an hour apart: on the same day, and from the day before.
  ["America/Havana", "2023-11-05", "2023-11-05T04:00:00Z"],
  ["America/Sao_Paulo", "2018-02-18", "2018-02-18T03:00:00Z"],
  ["Pacific/Apia", "2011-12-31", "2011-12-30T10:00:00Z"],
  ["Pacific/Tongatapu", "2001-01-28", "2001-01-27T10:00:00Z"],
  ["Pacific/Kiritimati", "2024-01-01", "2023-12-31T10:00:00Z"],
  ["Pacific/Pago_Pago", "2024-01-01", "2024-01-01T11:00:00Z"],
])("in %s the day %s begins at %s", (zone, day, instant) => {
  expect(new Date(new Calendar(zone).startOf(day)).toISOString()).toBe(new Date(instant).toISOString());
});

const instants = fc.integer({ min: Date.UTC(2000, 0, 1), max: Date.UTC(2099, 11, 31) });
const zones = fc.constantFrom(...ZONES);

test("days and texts agree with Intl at any instant of the century", () => {
  fc.assert(
    fc.property(zones, instants, (zone, ms) => {
      const text = formatOf(zone).format(ms).replace(",", "");
      expect(calendarOf(zone).textOf(ms)).toBe(text);
      expect(calendarOf(zone).dayOf(ms)).toBe(text.slice(0, 10));
    }),
    { numRuns: 3_000 },
  );
});

test("around every change of the clock, days and texts agree with Intl to the second", () => {
  for (const zone of ZONES) {
    for (const ms of changesOf(zone).flatMap((change) => [change - 1_000, change, change + 1_000])) {
      expect([zone, ms, calendarOf(zone).textOf(ms)]).toEqual([zone, ms, formatOf(zone).format(ms).replace(",", "")]);
    }
  }
});

test("the start of a day is the first instant of that day", () => {
  fc.assert(
    fc.property(zones, instants, (zone, ms) => {
      const calendar = calendarOf(zone);
      const day = calendar.dayOf(ms);
      const start = calendar.startOf(day);
      expect(start).toBeLessThanOrEqual(ms);
      expect(calendar.dayOf(start)).toBe(day);
      expect(calendar.dayOf(start - 1) < day).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});

test("the start of a day is its first instant, even around every change of the clock", () => {
  for (const zone of ZONES) {
    const calendar = calendarOf(zone);
    for (const ms of changesOf(zone)) {
      const day = calendar.dayOf(ms + HOUR_MS);
      const start = calendar.startOf(day);
      expect([zone, day, calendar.dayOf(start)]).toEqual([zone, day, day]);
      expect([zone, day, calendar.dayOf(start - 1) < day]).toEqual([zone, day, true]);
    }
  }
});

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timeZone: string): Intl.DateTimeFormat {
  let format = formats.get(timeZone);
  if (!format) {
    format = new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "medium" });
    formats.set(timeZone, format);
  }
  return format;
}

/** The instants from 2010 to 2026 at which the offset of a zone changed, found by checking twice a day. */
function changesOf(zone: string): number[] {
  const offsetAt = (ms: number) => at(`${formatOf(zone).format(ms).replace(" ", "T")}Z`) - ms;
  const changes: number[] = [];
  for (let ms = Date.UTC(2010, 0, 1), offset = offsetAt(ms); ms < Date.UTC(2026, 0, 1); ms += 14 * DAY_MS) {
    let [low, high] = [ms, ms + 14 * DAY_MS];
    const next = offsetAt(high);
    if (next === offset) continue;
    while (high - low > 1_000) {
      const middle = Math.floor((low + high) / 2_000) * 1_000;
      if (offsetAt(middle) === offset) low = middle;
      else high = middle;
    }
    changes.push(high);
    offset = next;
  }
  return changes;
}

test("the half-yearly changes are found, so that the two tests above cover them", () => {
  expect(changesOf("America/New_York")).toHaveLength(32);
  expect(changesOf("Asia/Shanghai")).toEqual([]);
});

test.each<[string, boolean]>([
  ["2024-02-29", true],
  ["2023-02-29", false],
  ["2024-04-31", false],
  ["2024-13-01", false],
  ["2024-00-10", false],
  ["2024-1-1", false],
  ["2024-01-01 ", false],
  ["20240101", false],
  ["", false],
])("isDay(%j) is %s", (text, expected) => {
  expect(isDay(text)).toBe(expected);
});

test.each<[string, string, string[]]>([
  // The clocks go forward at two, and back at two.
  ["America/New_York", "2024-03-10", ["00", "01", "03", "04"]],
  ["America/New_York", "2024-11-03", ["00", "01", "02", "03"]],
  // They go forward at midnight.
  ["Africa/Cairo", "2024-04-26", ["01", "02", "03", "04"]],
  ["Asia/Kathmandu", "2024-06-15", ["00", "01", "02", "03"]],
])("in %s the day %s begins with the hours %j", (zone, day, names) => {
  const hours = new Calendar(zone).hoursOf({ fromDay: day, untilDay: addDays(day, 1) });
  expect(hours.names.slice(0, 4)).toEqual(names);
});

test("the hour of every instant is the one that its text shows", () => {
  const day = fc.integer({ min: 0, max: 365 }).map((days) => addDays("2024-01-01", days));
  fc.assert(
    fc.property(fc.constantFrom(...ZONES), day, fc.nat({ max: 49 * HOUR_MS }), (zone, fromDay, afterMs) => {
      const calendar = calendarOf(zone);
      const { startsMs, names, untilMs } = calendar.hoursOf({ fromDay, untilDay: addDays(fromDay, 2) });
      const ms = calendar.startOf(fromDay) + afterMs;
      fc.pre(ms < untilMs);
      const index = startsMs.findLastIndex((start) => start <= ms);
      expect(names[index]).toBe(calendar.textOf(ms).slice(11, 13));
    }),
    { numRuns: 100 },
  );
});

test("adding days is undone by subtracting them, and counts real days", () => {
  expect(addDays("2024-02-28", 2)).toBe("2024-03-01");
  expect(addDays("2024-01-01", -1)).toBe("2023-12-31");
  fc.assert(
    fc.property(instants, fc.integer({ min: -10_000, max: 10_000 }), (ms, days) => {
      const day = new Date(ms).toISOString().slice(0, 10);
      expect(addDays(addDays(day, days), -days)).toBe(day);
      expect(isDay(addDays(day, days))).toBe(true);
    }),
  );
});

test("a span is exactly 24 hours, and negative before its base", () => {
  expect([-1, 0, DAY_MS - 1, DAY_MS, 2 * DAY_MS].map((ms) => spanOf(1_000 + ms, 1_000))).toEqual([-1, 0, 0, 1, 2]);
});

test("a zone is valid exactly if Intl knows it", () => {
  expect(["Asia/Shanghai", "UTC", "Mars/Phobos", "", "Asia/Shanghai; drop table app"].map(isTimeZone)).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});
