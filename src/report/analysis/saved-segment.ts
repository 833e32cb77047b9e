import { SEGMENT_DAYS } from "../../contract/analysis/saved-segment.ts";
import type { SavedRef, Segment } from "../../contract/analysis/segment.ts";
import { addDays, calendarOf } from "../../domain/calendar.ts";
import { refused } from "./refusal.ts";
import { segmentSql } from "./segment-sql.ts";

/** The saved segments that a segment names. */
export function savedIn(segment: Segment | undefined): SavedRef[] {
  if (!segment) return [];
  if ("join" in segment) return [...new Set(segment.parts.flatMap(savedIn))];
  return segment.kind === "saved" ? [segment.segment] : [];
}

/** The segment with the conditions of saved ones in place of their names. */
export function filledIn(segment: Segment, conditionOf: (saved: SavedRef) => Segment): Segment {
  if ("join" in segment) return { join: segment.join, parts: segment.parts.map((part) => filledIn(part, conditionOf)) };
  return segment.kind === "saved" ? conditionOf(segment.segment) : segment;
}

/** The days do not matter: what can be asked about one day can be asked about others. */
const SOME_DAY = { fromDay: "2026-01-01", toDay: "2026-01-01" };

/**
 * Refuses conditions that cannot be saved: those that no question could use, and those that name other saved segments. A
 * saved segment stands by itself, so that nobody changes it by changing another one, and none can refer to itself.
 */
export function checkSaved(condition: Segment): void {
  if (savedIn(condition).length > 0)
    throw refused("A saved segment cannot use another saved segment: write the conditions of that one instead.");
  segmentSql(condition, SOME_DAY);
}

/** The days for conditions that have none of their own: those asked for, or some up to today. */
export function segmentDays(
  asked: readonly string[] | undefined,
  { timeZone, nowMs }: { timeZone: string; nowMs: number },
): readonly string[] {
  if (asked) return asked;
  const today = calendarOf(timeZone).dayOf(nowMs);
  return [addDays(today, 1 - SEGMENT_DAYS), today];
}
