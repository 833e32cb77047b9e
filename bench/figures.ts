import type { Made } from "../sim/made.ts";

/** A measurement beside the least that the same work takes on the same machine in the same run. */
export type Figure = {
  /** The name in the JSON file. */
  name: string;
  what: string;
  unit: string;
  ours: number;
  bare: number;
  /** What the bare counterpart does. */
  beside: string;
  target: string;
  /** The lowest and the highest ratio of all rounds. */
  spread?: { least: number; most: number };
};

/** The cost of one unit of work at growing amounts of data. */
export type Cost = { name: string; what: string; unit: string; points: readonly Point[] };

/** `scale`: the multiple of the smallest amount of data. */
export type Point = { scale: number; perUnit: number };

export type Measured = { figures: readonly Figure[]; costs: readonly Cost[] };

/** A row of the table of figures. */
export function figureRow(figure: Figure) {
  const { what, unit, bare, ours, target, beside } = figure;
  return {
    what,
    unit,
    bare: short(bare),
    ours: short(ours),
    ratio: ratioOf(figure),
    spread: spreadText(figure),
    target,
    "bare is": beside,
  };
}

/** A row of the table of growth: the cost of a unit at each scale, and the exponent. */
export function growthRow({ what, unit, points }: Cost): Record<string, string | number> {
  const perUnit = points.map(({ scale, perUnit: cost }): [string, number] => [`${scale}x`, short(cost)]);
  return { what, unit, ...Object.fromEntries(perUnit), exponent: exponentOf(points) ?? "" };
}

/** The content of the JSON file. */
export function documentOf({ figures, costs }: Measured, made: Made) {
  return {
    made,
    figures: named(figures, ({ name: _, ...figure }) => ({ ...figure, ratio: ratioOf(figure) })),
    growth: named(costs, ({ what, unit, points }) => ({
      what,
      unit,
      exponent: exponentOf(points) ?? null,
      per_unit: Object.fromEntries(points.map(({ scale, perUnit }) => [`${scale}x`, perUnit])),
    })),
  };
}

export function together(parts: readonly Measured[]): Measured {
  return { figures: parts.flatMap(({ figures }) => figures), costs: parts.flatMap(({ costs }) => costs) };
}

/** The ratio to the bare counterpart, or null if that took no time. */
export function ratioOf({ ours, bare }: Pick<Figure, "ours" | "bare">): number | null {
  return bare > 0 ? short(ours / bare) : null;
}

/** The ratios of all rounds. */
export function spreadText({ spread }: Pick<Figure, "spread">): string {
  return spread ? `${short(spread.least)}–${short(spread.most)}` : "";
}

/**
 * The exponent e for which n times the data makes a unit take n^e as long: 0 is flat, 1 is linear. It is the slope of the
 * line fitted to the logarithms, or undefined if there is none: with one scale, or nothing measured.
 */
export function exponentOf(points: readonly Point[]): number | undefined {
  const logs = points.map(({ scale, perUnit }) => ({ x: Math.log(scale), y: Math.log(perUnit) }));
  const centre = { x: mean(logs.map(({ x }) => x)), y: mean(logs.map(({ y }) => y)) };
  const spread = sum(logs.map(({ x }) => (x - centre.x) ** 2));
  const slope = sum(logs.map(({ x, y }) => (x - centre.x) * (y - centre.y))) / spread;
  return Number.isFinite(slope) ? Math.round(slope * 100) / 100 : undefined;
}

/** The median, so that a slow moment of the machine counts only once. */
export function median(values: readonly number[]): number {
  return [...values].sort((left, right) => left - right)[values.length >> 1] ?? 0;
}

/** Rounds to three significant digits; whole numbers stay whole. */
export function short(value: number): number {
  return Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3));
}

function named<T extends { name: string }, R>(list: readonly T[], of: (one: T) => R): Record<string, R> {
  const names = list.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`Two figures are called ${twice}.`);
  return Object.fromEntries(list.map((one) => [one.name, of(one)]));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function mean(values: readonly number[]): number {
  return sum(values) / values.length;
}
