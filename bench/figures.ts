import type { Made } from "../sim/made.ts";

/** Something measured, beside the least that it takes on the same machine in the same run. */
export type Figure = {
  /** Its name in the JSON file. */
  name: string;
  what: string;
  unit: string;
  ours: number;
  bare: number;
  /** What the bare counterpart does. */
  beside: string;
  target: string;
};

/** What one unit of work takes while there is more and more data. */
export type Cost = { name: string; what: string; unit: string; points: readonly Point[] };

/** `scale`: how many times as much data as at the least. */
export type Point = { scale: number; perUnit: number };

export type Measured = { figures: readonly Figure[]; costs: readonly Cost[] };

/** A line of the table of figures. */
export function figureRow({ what, unit, bare, ours, target, beside }: Figure) {
  return {
    what,
    unit,
    bare: short(bare),
    ours: short(ours),
    ratio: ratioOf({ ours, bare }),
    target,
    "bare is": beside,
  };
}

/** A line of the table of growth: a unit at each scale, and the exponent. */
export function growthRow({ what, unit, points }: Cost): Record<string, string | number> {
  const perUnit = points.map(({ scale, perUnit: cost }): [string, number] => [`${scale}x`, short(cost)]);
  return { what, unit, ...Object.fromEntries(perUnit), exponent: exponentOf(points) ?? "" };
}

/** What the JSON file holds. */
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

/** How many times the bare counterpart; null where that took nothing. */
export function ratioOf({ ours, bare }: Pick<Figure, "ours" | "bare">): number | null {
  return bare > 0 ? short(ours / bare) : null;
}

/**
 * With n times the data a unit takes n to the power of this as long: 0 is flat, 1 grows as the data does. The slope of
 * the straight line that lies closest to the logarithms. Undefined where there is no line: one scale, or nothing measured.
 */
export function exponentOf(points: readonly Point[]): number | undefined {
  const logs = points.map(({ scale, perUnit }) => ({ x: Math.log(scale), y: Math.log(perUnit) }));
  const centre = { x: mean(logs.map(({ x }) => x)), y: mean(logs.map(({ y }) => y)) };
  const spread = sum(logs.map(({ x }) => (x - centre.x) ** 2));
  const slope = sum(logs.map(({ x, y }) => (x - centre.x) * (y - centre.y))) / spread;
  return Number.isFinite(slope) ? Math.round(slope * 100) / 100 : undefined;
}

/** The middle one: a slow moment of the machine counts once. */
export function median(values: readonly number[]): number {
  return [...values].sort((left, right) => left - right)[values.length >> 1] ?? 0;
}

/** Three digits that count; whole numbers stay whole. */
export function short(value: number): number {
  return Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3));
}

function named<T extends { name: string }, R>(list: readonly T[], of: (one: T) => R): Record<string, R> {
  const names = list.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`Two of them are called ${twice}.`);
  return Object.fromEntries(list.map((one) => [one.name, of(one)]));
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function mean(values: readonly number[]): number {
  return sum(values) / values.length;
}
