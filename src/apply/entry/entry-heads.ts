import type { DecodedEntry } from "./decode.ts";

/** When the first of the entries was received; the largest number when no head is readable. */
export function firstReceivedAtMs(entries: readonly DecodedEntry[]): number {
  let firstMs = Number.MAX_SAFE_INTEGER;
  for (const { head } of entries) if (head) firstMs = Math.min(firstMs, head.at);
  return firstMs;
}

/** The apps of the entries, each once. */
export function appsOf(entries: readonly DecodedEntry[]): number[] {
  const apps = new Set<number>();
  for (const { head } of entries) if (head) apps.add(head.app);
  return [...apps];
}

/** When the last of the entries was received; 0 when no head is readable. */
export function lastReceivedAtMs(entries: readonly DecodedEntry[]): number {
  return entries.findLast((entry) => entry.head)?.head?.at ?? 0;
}
