import { sentAtMs } from "./doctor-call.ts";
import { Evidence, type Finding } from "./finding.ts";
import type { SeenCall } from "./seen-call.ts";

const SKEW_MS_MIN = 5 * 60_000;
/** Events that were kept while offline are late although the clock is right, so one late call proves nothing. */
const LATE_CALLS_MIN = 2;
const CLIENTS_MIN = 5;
const SYSTEMATIC_SHARE = 0.8;
/** A time zone mistake is off by whole half hours, give or take the duration of a call. */
const HALF_HOUR_MS = 30 * 60_000;
const ZONE_MS_MAX = 60_000;

type Clock = { skewMs: number; isExact: boolean; calls: number; atMs: number };

/**
 * Clocks that are far off. In a single client it is the phone's clock; in nearly all clients it is the program: local
 * time sent as UTC, or a server's clock.
 */
export function clockSkew(calls: readonly SeenCall[]): Finding | undefined {
  const clocks = clocksOf(calls);
  const off = [...clocks].filter(([, clock]) => isOff(clock));
  if (off.length === 0) return undefined;
  const evidence = new Evidence();
  for (const [client_id, { skewMs, atMs }] of off) {
    evidence.add(atMs, { client_id, skew_s: Math.round(skewMs / 1000) }, client_id);
  }
  const medianMs = medianOf(off.map(([, clock]) => clock.skewMs));
  const sameDirection = off.filter(([, { skewMs }]) => Math.sign(skewMs) === Math.sign(medianMs)).length;
  if (clocks.size < CLIENTS_MIN || sameDirection < clocks.size * SYSTEMATIC_SHARE) {
    return evidence.finding("clock_skew", "warning");
  }
  const found = evidence.finding("clock_systematic", "error")!;
  const about = { median_skew_s: Math.round(medianMs / 1000), looks_like_zone: looksLikeZone(medianMs) };
  return { ...found, example: { ...found.example, ...about } };
}

/** Each client's call that is nearest to server time, because delayed sending only increases the distance. */
function clocksOf(calls: readonly SeenCall[]): Map<string, Clock> {
  const clocks = new Map<string, Clock>();
  for (const call of calls) {
    const sent = sentAtMs(call);
    if (!sent || call.client_id === "") continue;
    const skewMs = sent.ms - call.at_ms;
    const known = clocks.get(call.client_id);
    const isNearer = !known || Math.abs(skewMs) < Math.abs(known.skewMs);
    clocks.set(call.client_id, {
      ...(isNearer ? { skewMs, isExact: sent.isExact, atMs: call.at_ms } : known),
      calls: (known?.calls ?? 0) + 1,
    });
  }
  return clocks;
}

function isOff({ skewMs, isExact, calls }: Clock): boolean {
  if (Math.abs(skewMs) < SKEW_MS_MIN) return false;
  return skewMs > 0 || isExact || calls >= LATE_CALLS_MIN;
}

function looksLikeZone(skewMs: number): boolean {
  const rest = Math.abs(skewMs) % HALF_HOUR_MS;
  return Math.min(rest, HALF_HOUR_MS - rest) <= ZONE_MS_MAX;
}

export function medianOf(values: readonly number[]): number {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
