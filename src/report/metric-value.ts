import type { Measure, Sums } from "../domain/cube.ts";
import type { Formula, Quantity } from "./catalogue.ts";

/** A fraction of whole numbers: exact until it is rounded, once, at the end. */
export type Fraction = { of: bigint; by: bigint };

/** Parts of the major unit per unit of each measure of money. Payments come to the same by their share in ten-thousandths. */
const MICROS = 1_000_000n;
const FULL_SHARE_BP = 10_000;

export function metricValue(formula: Formula, sums: Sums, payShareBp: number): Fraction {
  const of = quantityOf(formula.of, sums, payShareBp);
  const by = formula.by ? quantityOf(formula.by, sums, payShareBp) : { amount: 1n, parts: 1n };
  const times = BigInt(formula.times ?? 1);
  return { of: of.amount * by.parts * times, by: by.amount * of.parts };
}

/** An amount in `parts` of a unit: counts whole, money in millionths. */
function quantityOf(
  { measures, isShared }: Quantity,
  sums: Sums,
  payShareBp: number,
): { amount: bigint; parts: bigint } {
  let amount = 0n;
  let parts = 1n;
  for (const measure of measures) {
    const value = BigInt(sums[measure] ?? 0);
    const unit = unitOf(measure);
    if (unit === "count") amount += value;
    else {
      parts = MICROS;
      amount += value * (unit === "cents" ? BigInt(isShared ? payShareBp : FULL_SHARE_BP) : unit === "e4" ? 100n : 1n);
    }
  }
  return { amount, parts };
}

export function unitOf(measure: Measure): "count" | "cents" | "micros" | "e4" {
  if (measure === "cost_e4") return "e4";
  if (measure === "pay_cents" || measure === "postback_cents" || /^pay_[ds]/.test(measure)) return "cents";
  if (measure === "ad_micros" || /^ad_[ds]/.test(measure)) return "micros";
  return "count";
}

/** Half away from zero; a zero denominator gives 0. */
export function rounded({ of, by }: Fraction, decimals: number): number {
  if (by === 0n) return 0;
  const scale = 10n ** BigInt(decimals);
  const isNegative = of < 0n !== by < 0n;
  const [size, whole] = [of < 0n ? -of : of, by < 0n ? -by : by];
  const digits = (size * scale * 2n + whole) / (whole * 2n);
  const text = digits.toString().padStart(decimals + 1, "0");
  const value = Number(`${text.slice(0, text.length - decimals)}.${text.slice(text.length - decimals)}`);
  return isNegative && value !== 0 ? -value : value;
}
