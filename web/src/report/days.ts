import { useEffect } from "react";
import { useApp } from "../chosen-app.tsx";
import { addDays, dayOf } from "../format.ts";
import type { Days } from "../ui/date-range.tsx";

export function useToday(): string {
  return dayOf(Date.now(), useApp().time_zone);
}

/**
 * The days in the address. If there are none, the last `span` days, which are then written to the address so that a link
 * shows the same days tomorrow.
 */
export function useDays(state: Days, change: (days: Days) => void, span: number): Days {
  const today = useToday();
  const isGiven = isDay(state.from) && isDay(state.to) && state.from <= state.to;
  const days = isGiven ? { from: state.from, to: state.to } : { from: addDays(today, 1 - span), to: today };
  useEffect(() => {
    if (!isGiven) change(days);
  }, [isGiven]);
  return days;
}

function isDay(text: string): boolean {
  return /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));
}

export function daysBetween({ from, to }: Days): number {
  return (Date.parse(to) - Date.parse(from)) / 86_400_000;
}

/** Every day of the range, both ends included. */
export function eachDay(days: Days): string[] {
  return Array.from({ length: daysBetween(days) + 1 }, (_, at) => addDays(days.from, at));
}
