import type { DecodedEntry } from "./decode.ts";

/** When the first of the entries was received; the largest number when no head is readable. */
export function firstReceivedAtMs(entries: readonly DecodedEntry[]): number {
  return Math.min(...entries.map((entry) => entry.head?.at ?? Number.MAX_SAFE_INTEGER));
}

/** When the last of the entries was received; 0 when no head is readable. */
export function lastReceivedAtMs(entries: readonly DecodedEntry[]): number {
  return entries.findLast((entry) => entry.head)?.head?.at ?? 0;
}
