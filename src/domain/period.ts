import { addDays, isDay } from "./calendar.ts";

/** Days for which a setting holds. */
export type Period = {
  fromDay: string;
  /** The first day after the period; null: the period has no end. */
  untilDay: string | null;
};

/** A period as people write and read it. */
export type GivenPeriod = {
  start_date: string;
  /** The last day, included; the empty text: the period has no end. */
  end_date: string;
};

/** Throws what is wrong with it. */
export function readPeriod({ start_date, end_date }: GivenPeriod): Period {
  if (!isDay(start_date)) throw new Error("start_date must look like 2026-11-15");
  if (end_date !== "" && !isDay(end_date)) throw new Error("end_date must look like 2026-11-15 or be empty");
  if (end_date !== "" && end_date < start_date) throw new Error("end_date lies before start_date");
  return { fromDay: start_date, untilDay: end_date === "" ? null : addDays(end_date, 1) };
}

export function shownPeriod({ fromDay, untilDay }: Period): GivenPeriod {
  return { start_date: fromDay, end_date: untilDay === null ? "" : addDays(untilDay, -1) };
}

/** Two periods of one key that hold on the same day, or undefined. */
export function overlapIn<One extends Period>(
  list: readonly One[],
  keyOf: (one: One) => string,
): [One, One] | undefined {
  const last = new Map<string, One>();
  for (const one of list.toSorted((left, right) => (left.fromDay < right.fromDay ? -1 : 1))) {
    const before = last.get(keyOf(one));
    if (before && (before.untilDay === null || before.untilDay > one.fromDay)) return [before, one];
    last.set(keyOf(one), one);
  }
  return undefined;
}

export function periodText(period: Period): string {
  const { start_date, end_date } = shownPeriod(period);
  return end_date === "" ? `from ${start_date} on` : `${start_date} to ${end_date}`;
}
