const UNITS_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const DURATION = /^(\d{1,9})(s|m|h|d)$/;

/** Milliseconds of a duration such as "90s", "30m", "24h" or "7d"; undefined for any other text. */
export function parseDuration(text: string): number | undefined {
  const match = text === "0" ? ["0", "0", "s"] : DURATION.exec(text);
  return match ? Number(match[1]) * UNITS_MS[match[2]!]! : undefined;
}

/** A duration in the largest unit that divides it; a day is never written as 24 hours. */
export function durationText(ms: number): string {
  if (ms === 0) return "0";
  const [unit, unitMs] = Object.entries(UNITS_MS).findLast(([, each]) => ms % each === 0) ?? ["s", 1_000];
  return `${ms / unitMs}${unit}`;
}
