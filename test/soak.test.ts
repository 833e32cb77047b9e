import { describe, expect, test } from "vitest";
import { chartOf } from "../bench/soak-chart.ts";
import { driftOf, failuresOf } from "../bench/soak-drift.ts";
import { soakPage } from "../bench/soak-page.ts";
import { figureOf, type Sample } from "../bench/soak-sample.ts";

const PLAIN: Sample = {
  minute: 0,
  serverMb: 200,
  databaseMb: 300,
  lagMs: 100,
  handles: 50,
  databaseSizeMb: 10,
  p50Ms: 2,
  p99Ms: 20,
  requests: 100,
  failures: 0,
};

/** `change` gets the progress of the soak from 0 to 1. */
function course(change: (at: number) => Partial<Sample>): Sample[] {
  return Array.from({ length: 100 }, (_, index) => ({ ...PLAIN, minute: index / 5, ...change(index / 100) }));
}

const drifting = (samples: readonly Sample[]) =>
  driftOf(samples, 0.25).flatMap(({ what, isOver }) => (isOver ? [what] : []));

describe("a soak", () => {
  test("in which everything stays level has no drift", () => {
    expect(drifting(course(() => ({})))).toEqual([]);
  });

  test("may grow while it warms up", () => {
    expect(drifting(course((at) => ({ serverMb: at < 0.25 ? 100 + at * 400 : 200 })))).toEqual([]);
  });

  test("has no drift from single slow moments", () => {
    expect(drifting(course((at) => ({ p99Ms: Math.round(at * 100) % 10 === 0 ? 900 : 20 })))).toEqual([]);
  });

  test("has no drift from negligible changes: a file handle, a millisecond", () => {
    expect(drifting(course((at) => ({ handles: 50 + Math.round(at * 3), p50Ms: 1 + at })))).toEqual([]);
  });

  test.each([
    ["memory of the server, MB", (at: number) => ({ serverMb: 200 + at * 40 })],
    ["memory of the database, MB", (at: number) => ({ databaseMb: 300 + at * 40 })],
    ["file handles", (at: number) => ({ handles: 50 + Math.round(at * 100) })],
    ["apply lag, ms", (at: number) => ({ lagMs: at * 10_000 })],
    ["p99, ms", (at: number) => ({ p99Ms: 20 + at * 100 })],
  ])("reports growth: %s", (what, change) => {
    expect(drifting(course(change))).toEqual([what]);
  });
});

describe("a soak fails", () => {
  const failures = (samples: readonly Sample[]) =>
    failuresOf(samples, { drifts: driftOf(samples, 0.25), wanted: PLAIN.requests });

  test("for no reason if everything is as it should be", () => {
    expect(failures(course(() => ({})))).toEqual([]);
  });

  test.each<[string, (at: number) => Partial<Sample>, RegExp]>([
    ["by a refused request", (at) => ({ failures: at === 0.5 ? 1 : 0 }), /^1 requests were refused/],
    ["by a load that was not reached", () => ({ requests: 90 }), /^Only 90\.0 % of the load/],
    [
      "by memory that grows by more than 5 %",
      (at) => ({ serverMb: 200 + at * 22 }),
      /^memory of the server, MB drifts/,
    ],
  ])("%s", (_, change, words) => {
    expect(failures(course(change))).toEqual([expect.stringMatching(words)]);
  });
});

test("a missing figure does not count as zero", () => {
  expect(figureOf("# TYPE a gauge\na 12\nab 3\n", "a")).toBe(12);
  expect(() => figureOf("ab 3\n", "a")).toThrow("/metrics has no a.");
});

test("the chart shows every figure over the whole time", () => {
  const chart = chartOf(
    course((at) => ({ serverMb: 100 + at })),
    { minutes: 20, perSecond: 12_345.6, made: "Made somewhere." },
  );
  expect(chart).toContain("12,346 events/s for 20 minutes");
  expect(chart).toContain("Made somewhere.");
  expect(chart.match(/<polyline/g)).toHaveLength(7);
  for (const [, points] of chart.matchAll(/points="([^"]+)"/g)) {
    expect(points!.split(" ")).toHaveLength(100);
    expect(points).not.toMatch(/NaN|Infinity/);
  }
});

test("the page shows how it was made, the load, the chart and every drift", () => {
  const samples = course((at) => ({ serverMb: 200 + at * 40 }));
  const drifts = driftOf(samples, 0.25);
  const failures = failuresOf(samples, { drifts, wanted: 100 });
  const made = { date: "2026-11-15", commit: "abc1234", machine: "2 cores" };
  const soaked = { made, minutes: 20, perSecond: 312.4, eventsPerRequest: 20, failures, drifts, samples };
  const page = soakPage(soaked, "soak.svg");
  expect(page).toContain("npm run soak -- --minutes 20\n");
  expect(page).toContain("Made on 2026-11-15 at commit abc1234, on 2 cores.");
  expect(page).toContain(
    "312 requests a second with 20 events each, 10000 requests in 20 minutes. memory of the server",
  );
  expect(page).toContain("](soak.svg)");
  expect(page).toMatch(/\| memory of the server, MB +\| 214.8 \| 234.8 \| 20 \(9.3 %\) \| 5 % +\| yes +\|/);
  const level = soakPage({ ...soaked, failures: [] }, "soak.svg");
  expect(level).toContain("Nothing drifted, and nothing was refused.");
});
