import { describe, expect, test } from "vitest";
import {
  type Cost,
  documentOf,
  exponentOf,
  type Figure,
  figureRow,
  growthRow,
  median,
  ratioOf,
  short,
  together,
} from "../bench/figures.ts";
import { readOptions, STEPS } from "../bench/options.ts";
import { performancePage } from "../bench/performance-page.ts";

const INTAKE: Figure = {
  name: "intake_20",
  what: "requests, 20 events each",
  unit: "requests/s",
  ours: 6_543.21,
  bare: 8_000,
  beside: "parses and fsyncs",
  target: "≥ 0.60",
  spread: { least: 0.79, most: 0.831 },
};
const REPORT: Cost = {
  name: "ad_report",
  what: "ad report",
  unit: "ms",
  points: [
    { scale: 1, perUnit: 100 },
    { scale: 2, perUnit: 200 },
    { scale: 4, perUnit: 400 },
  ],
};
const MADE = { date: "2026-11-15", commit: "abc1234", machine: "2 cores" };

const grown = (perUnit: (scale: number) => number, scales = [1, 2, 4]) =>
  scales.map((scale) => ({ scale, perUnit: perUnit(scale) }));

describe("the exponent", () => {
  test.each<[string, (scale: number) => number, number]>([
    ["is 0 for what stays the same", () => 7, 0],
    ["is 1 for what grows as the data does", (scale) => 3 * scale, 1],
    ["is 2 for what grows with its square", (scale) => 0.1 * scale ** 2, 2],
    ["is between for what grows more slowly", (scale) => Math.sqrt(scale), 0.5],
    ["is below 0 for what becomes cheaper", (scale) => 10 / scale, -1],
  ])("%s", (_, perUnit, exponent) => {
    expect(exponentOf(grown(perUnit))).toBeCloseTo(exponent);
    expect(exponentOf(grown(perUnit, [1, 3, 10, 30]))).toBeCloseTo(exponent);
  });

  test("is that of the whole course, not of one slow moment", () => {
    const points = grown((scale) => (scale === 8 ? 8.4 : scale), [1, 2, 4, 8, 16]);
    expect(exponentOf(points)).toBeCloseTo(1, 1);
  });

  test.each([
    ["one scale", [1], 5],
    ["nothing measured", [1, 2, 4], 0],
    ["no scale at all", [], 5],
  ])("is undefined for %s", (_, scales, perUnit) => {
    expect(exponentOf(grown(() => perUnit, scales))).toBeUndefined();
  });
});

test("a figure is compared with its bare counterpart", () => {
  expect(ratioOf({ ours: 50, bare: 200 })).toBe(0.25);
  expect(ratioOf({ ours: 3, bare: 2 })).toBe(1.5);
  expect(ratioOf({ ours: 3, bare: 0 }), "a counterpart that took nothing").toBeNull();
  expect(figureRow(INTAKE)).toEqual({
    what: "requests, 20 events each",
    unit: "requests/s",
    bare: 8_000,
    ours: 6_543,
    ratio: 0.818,
    spread: "0.79–0.831",
    target: "≥ 0.60",
    "bare is": "parses and fsyncs",
  });
});

test("the growth of a cost is its unit cost at each scale, and the exponent", () => {
  expect(growthRow(REPORT)).toEqual({ what: "ad report", unit: "ms", "1x": 100, "2x": 200, "4x": 400, exponent: 1 });
  expect(growthRow({ ...REPORT, points: REPORT.points.slice(0, 1) })).toMatchObject({ "1x": 100, exponent: "" });
});

describe("the JSON file", () => {
  test("says how it was made, with the ratio of every figure and the exponent of every cost", () => {
    const document = documentOf({ figures: [INTAKE], costs: [REPORT] }, MADE);
    expect(JSON.parse(JSON.stringify(document))).toEqual({
      made: MADE,
      figures: {
        intake_20: {
          what: "requests, 20 events each",
          unit: "requests/s",
          ours: 6_543.21,
          bare: 8_000,
          ratio: 0.818,
          spread: { least: 0.79, most: 0.831 },
          beside: "parses and fsyncs",
          target: "≥ 0.60",
        },
      },
      growth: {
        ad_report: { what: "ad report", unit: "ms", exponent: 1, per_unit: { "1x": 100, "2x": 200, "4x": 400 } },
      },
    });
  });

  test("has null without an exponent, and exists without measurements", () => {
    const single = { ...REPORT, points: REPORT.points.slice(0, 1) };
    expect(documentOf({ figures: [], costs: [single] }, MADE).growth.ad_report!.exponent).toBeNull();
    expect(documentOf(together([]), MADE)).toEqual({ made: MADE, figures: {}, growth: {} });
  });

  test("never hides one figure behind another", () => {
    const parts = [
      { figures: [INTAKE], costs: [] },
      { figures: [INTAKE], costs: [] },
    ];
    expect(() => documentOf(together(parts), MADE)).toThrow("Two figures are called intake_20.");
  });
});

test.each([
  [0.123456, 0.123],
  [12.345, 12.3],
  [1_234.56, 1_235],
  [0, 0],
  [-4.5678, -4.57],
])("%d is written as %d", (value, written) => {
  expect(short(value)).toBe(written);
});

test("the median is the middle value, and 0 for an empty list", () => {
  expect(median([9, 1, 5])).toBe(5);
  expect(median([])).toBe(0);
});

test("the page says how it was made, with the ratio of every figure and the growth at each scale", () => {
  const page = performancePage(
    { figures: [INTAKE], costs: [REPORT] },
    { made: MADE, options: "--scales 1,2,4", generator: "wrk" as const },
  );
  expect(page).toContain("npm run bench -- --scales 1,2,4\n");
  expect(page).toContain("Made on 2026-11-15 at commit abc1234, on 2 cores. The load was made by wrk.");
  expect(page).toMatch(
    /\| requests, 20 events each \| 6543 \| 8000 \| requests\/s \| 0.818 \| 0.79–0.831 \| ≥ 0.60 \| parses and fsyncs \|/,
  );
  expect(page).toMatch(/\| ad report \| 100 \| 200 \| 400 \| ms {3}\| 1 {8}\|/);
});

describe("the command line", () => {
  test("measures everything by default, at one, two and four times the data", () => {
    const { steps, scales, jsonFile, sizes } = readOptions([]);
    expect([...steps]).toEqual([...STEPS]);
    expect({ scales, jsonFile }).toEqual({ scales: [1, 2, 4], jsonFile: "" });
    expect(sizes).toMatchObject({ seconds: 14, touches: 4_000_000, users: 1_000_000 });
  });

  test("names steps, scales, sizes and the file", () => {
    const args = ["--scales", "1,3", "--users", "0.5", "--seconds", "2", "--json", "b.json", "links", "reports"];
    const { steps, scales, jsonFile, sizes, shown } = readOptions(args);
    expect({ steps: [...steps], scales, jsonFile, shown }).toEqual({
      steps: ["links", "reports"],
      scales: [1, 3],
      jsonFile: "b.json",
      shown: "--scales 1,3 --seconds 2 --users 0.5 links reports",
    });
    expect(sizes).toMatchObject({ seconds: 2, users: 500_000, touches: 4_000_000 });
  });

  test("measures the log in JetStream as a step of its own", () => {
    expect([...readOptions(["log"]).steps]).toEqual(["log"]);
  });

  test("a trial is small in everything", () => {
    const [full, trial] = [readOptions([]).sizes, readOptions(["--trial"]).sizes];
    for (const name of Object.keys(full) as (keyof typeof full)[]) expect(trial[name], name).toBeLessThan(full[name]);
  });

  test.each([
    [["everything"], /no step everything/],
    [["--scales", "4,2"], /greater than the one before/],
    [["--scales", "1,1"], /greater than the one before/],
    [["--scales", "1.5"], /whole numbers/],
    [["--scales", "0,1"], /--scales must be a number above 0/],
    [["--seconds", "soon"], /--seconds must be a number above 0/],
    [["--users=-1"], /--users must be a number above 0/],
    [["--cores", "2"], /--cores/],
    [["--load", "ab"], /--load must be wrk or node/],
  ])("%j is refused", (args, words) => {
    expect(() => readOptions(args)).toThrow(words);
  });
});
