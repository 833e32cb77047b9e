import { describe, expect, test } from "vitest";
import { chartOf } from "../bench/soak-chart.ts";
import { driftOf } from "../bench/soak-drift.ts";
import type { Sample } from "../bench/soak-sample.ts";

const PLAIN: Sample = {
  ...{ minute: 0, serverMb: 200, databaseMb: 300, lagMs: 100, handles: 50, databaseSizeMb: 10 },
  ...{ p50Ms: 2, p99Ms: 20, requests: 100, failures: 0 },
};

/** `change` gets the course of the soak from 0 to 1. */
function course(change: (at: number) => Partial<Sample>): Sample[] {
  return Array.from({ length: 100 }, (_, index) => ({ ...PLAIN, minute: index / 5, ...change(index / 100) }));
}

const drifting = (samples: readonly Sample[]) =>
  driftOf(samples, 0.25).flatMap(({ what, isOver }) => (isOver ? [what] : []));

describe("a soak", () => {
  test("in which everything stays level drifts in nothing", () => {
    expect(drifting(course(() => ({})))).toEqual([]);
  });

  test("may grow while it warms up", () => {
    expect(drifting(course((at) => ({ serverMb: at < 0.25 ? 100 + at * 400 : 200 })))).toEqual([]);
  });

  test("does not drift by single slow moments", () => {
    expect(drifting(course((at) => ({ p99Ms: Math.round(at * 100) % 10 === 0 ? 900 : 20 })))).toEqual([]);
  });

  test("does not drift by less than counts: a file handle, a millisecond", () => {
    expect(drifting(course((at) => ({ handles: 50 + Math.round(at * 3), p50Ms: 1 + at })))).toEqual([]);
  });

  test.each([
    ["memory of the server, MB", (at: number) => ({ serverMb: 200 + at * 40 })],
    ["memory of the database, MB", (at: number) => ({ databaseMb: 300 + at * 200 })],
    ["file handles", (at: number) => ({ handles: 50 + Math.round(at * 100) })],
    ["apply lag, ms", (at: number) => ({ lagMs: at * 10_000 })],
    ["p99, ms", (at: number) => ({ p99Ms: 20 + at * 100 })],
  ])("that grows is told: %s", (what, change) => {
    expect(drifting(course(change))).toEqual([what]);
  });
});

test("the chart shows every figure over the whole time", () => {
  const chart = chartOf(
    course((at) => ({ serverMb: 100 + at })),
    { minutes: 20, perSecond: 12_345.6 },
  );
  expect(chart).toContain("12,346 events/s for 20 minutes");
  expect(chart.match(/<polyline/g)).toHaveLength(7);
  for (const [, points] of chart.matchAll(/points="([^"]+)"/g)) {
    expect(points!.split(" ")).toHaveLength(100);
    expect(points).not.toMatch(/NaN|Infinity/);
  }
});
