import { isDay } from "../../domain/calendar.ts";
import { ApiError } from "../../errors.ts";

export type Days = { from: string; to: string };

/** A range of local days as the admin interface takes it, both ends included. */
export function daysOf({ from, to }: Days): { fromDay: string; toDay: string } {
  if (!isDay(from) || !isDay(to)) throw new ApiError("badParameter", "from and to must be days such as 2026-11-15.");
  if (from > to) throw new ApiError("badParameter", "from is after to.");
  return { fromDay: from, toDay: to };
}
