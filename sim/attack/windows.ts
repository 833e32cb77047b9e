import type { Sample } from "./ordinary.ts";

const WINDOW_MS = 5_000;

export function p99Of(samples: readonly Pick<Sample, "tookMs">[]): number {
  const sorted = samples.map(({ tookMs }) => tookMs).sort((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.99))] ?? 0;
}

/** The highest p99 of any five seconds. A remainder shorter than half of that belongs to the last window. */
export function worstWindow(
  samples: readonly Sample[],
  { fromMs, untilMs }: { fromMs: number; untilMs: number },
): number {
  const count = Math.max(1, Math.round((untilMs - fromMs) / WINDOW_MS));
  const windows = Array.from({ length: count }, (_, index) => ({
    from: fromMs + index * WINDOW_MS,
    until: index === count - 1 ? untilMs : fromMs + (index + 1) * WINDOW_MS,
  }));
  return Math.max(
    ...windows.map(({ from, until }) => p99Of(samples.filter(({ atMs }) => atMs >= from && atMs < until))),
  );
}
