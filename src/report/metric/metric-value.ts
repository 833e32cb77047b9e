import type { Measure, Sums } from "../../domain/cube.ts";
import type { Formula, Quantity } from "./metric.ts";

/** Money is summed in millionths of the major unit, which is the unit of cents times a share in ten-thousandths. */
const MICROS = 1_000_000;
export const FULL_SHARE_BP = 10_000;

export type Scale = { payShareBp: number; decimals: number };

/** An amount: sums, each times a factor, all in the same parts of a unit. */
type Amount = { terms: readonly (readonly [Measure, number])[]; parts: number };

/**
 * Returns a function that computes a metric from the sums of a row. It is exact and rounds once, at the end, half away
 * from zero; a zero denominator gives 0. A report has tens of thousands of values, and nearly all fit into plain
 * numbers, which take a tenth of the time; the others are computed with BigInt.
 */
export function metricReader(formula: Formula, scale: Scale): (sums: Sums) => number {
  const of = amountOf(formula.of, scale);
  const by = formula.by && amountOf(formula.by, scale);
  const factor = (formula.times ?? 1) * 10 ** scale.decimals;
  const [upper, lower] = [by?.parts ?? 1, of.parts];
  const common = Math.min(upper, lower);
  const [times, parts] = [(factor * upper) / common, lower / common];
  const one = 10 ** scale.decimals;
  return (sums) => {
    const [dividend, divisor] = [add(of, sums) * times, (by ? add(by, sums) : 1) * parts];
    if (divisor === 0) return 0;
    const [above, below] = [2 * dividend + divisor, 2 * divisor];
    const isPlain = dividend >= 0 && divisor > 0 && Number.isSafeInteger(above) && Number.isSafeInteger(below);
    // The quotient of two exact numbers is the number nearest to it, as if its digits were read.
    if (isPlain) return Math.floor(above / below) / one;
    const [exact, whole] = [addExactly(of, sums) * BigInt(times), by ? addExactly(by, sums) : 1n];
    return rounded({ of: exact, by: whole * BigInt(parts) * 10n ** BigInt(scale.decimals) }, scale.decimals);
  };
}

/** The rounded quotient of numbers of any size and sign. */
export function rounded({ of, by }: { of: bigint; by: bigint }, decimals: number): number {
  if (by === 0n) return 0;
  const [size, whole] = [of < 0n ? -of : of, by < 0n ? -by : by];
  const value = pointed(String((2n * size * 10n ** BigInt(decimals) + whole) / (2n * whole)), decimals);
  return of < 0n !== by < 0n && value !== 0 ? -value : value;
}

/** The number with these digits, of which the last `decimals` come after the point. */
function pointed(digits: string, decimals: number): number {
  const text = digits.padStart(decimals + 1, "0");
  return Number(`${text.slice(0, text.length - decimals)}.${text.slice(text.length - decimals)}`);
}

/** The amount, or NaN when a plain number cannot hold it, or a part of it, exactly. */
function add({ terms }: Amount, sums: Sums): number {
  let amount = 0;
  for (const [measure, factor] of terms) {
    const part = (sums[measure] ?? 0) * factor;
    amount += part;
    if (!Number.isSafeInteger(part) || !Number.isSafeInteger(amount)) return Number.NaN;
  }
  return amount;
}

function addExactly({ terms }: Amount, sums: Sums): bigint {
  return terms.reduce((amount, [measure, factor]) => amount + BigInt(sums[measure] ?? 0) * BigInt(factor), 0n);
}

function amountOf({ measures, isShared }: Quantity, { payShareBp }: Scale): Amount {
  const factors = { count: 1, micros: 1, e4: 100, cents: isShared ? payShareBp : FULL_SHARE_BP };
  // Payments under a rule are taken out: another measure says what is left of them.
  const terms = measures.map((measure) => [measure, (isRuled(measure) ? -1 : 1) * factors[unitOf(measure)]] as const);
  return { terms, parts: measures.some((measure) => unitOf(measure) !== "count") ? MICROS : 1 };
}

function isRuled(measure: Measure): boolean {
  return measure.startsWith("ruled_");
}

export function unitOf(measure: Measure): "count" | "cents" | "micros" | "e4" {
  if (measure === "cost_e4" || measure === "real_cost_e4") return "e4";
  if (/^(?:pay|postback|refund|ruled)_cents$|^(?:pay|ruled)_[ds]/.test(measure)) return "cents";
  if (measure.endsWith("_micros") || /^(?:ad|share)_[ds]\d/.test(measure)) return "micros";
  return "count";
}
