/** Money is whole numbers: cents of the app's currency for payments, millionths of the major unit for ad revenue. */
export const CURRENCY = /^[A-Z]{3}$/;

/** Minor units per unit of an app's currency, for each foreign currency; a decimal text such as "7.1234". */
export type Rates = Readonly<Record<string, string>>;

export type Conversion = { kind: "converted"; cents: number } | { kind: "no_rate" };

export function convertToCents(amount: number, currency: string, app: { currency: string; rates: Rates }): Conversion {
  if (currency === "" || currency === app.currency) return { kind: "converted", cents: roundHalfAway(amount) };
  const rate = Object.hasOwn(app.rates, currency) ? app.rates[currency] : undefined;
  if (rate === undefined) return { kind: "no_rate" };
  return { kind: "converted", cents: multiplyExactly(roundHalfAway(amount), rate) };
}

/** The same for an amount in ten-thousandths of the major unit, such as what an ad cost. */
export function convertE4(
  amountE4: number,
  currency: string,
  app: { currency: string; rates: Rates },
): { kind: "converted"; e4: number } | { kind: "no_rate" } {
  const converted = convertToCents(amountE4, currency, app);
  return converted.kind === "converted" ? { kind: "converted", e4: converted.cents } : converted;
}

/** The same for an amount in millionths of the major unit, such as what an ad earned. */
export function convertMicros(
  amountMicros: number,
  currency: string,
  app: { currency: string; rates: Rates },
): { kind: "converted"; micros: number } | { kind: "no_rate" } {
  const converted = convertToCents(amountMicros, currency, app);
  return converted.kind === "converted" ? { kind: "converted", micros: converted.cents } : converted;
}

/** `$ecpm` is major units per thousand shown ads; one shown ad earned a thousandth of it. */
export function microsOfEcpm(ecpm: number): number {
  return roundHalfAway(ecpm * 1_000);
}

export function roundHalfAway(value: number): number {
  // A whole number stays unchanged; beyond 2^51 the nudge below would move it.
  if (Number.isInteger(value)) return bounded(value);
  // The nudge undoes the binary error of values such as 1.005 × 1000; it is far below half a unit.
  const size = Math.abs(value);
  return bounded(Math.sign(value) * Math.floor(size + 0.5 + size * Number.EPSILON));
}

/** Limits an amount to exact whole numbers: a larger one is a mistake, and no column could hold it. */
function bounded(amount: number): number {
  return Math.max(-Number.MAX_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, amount)) + 0;
}

/** An integer times a decimal text, rounded half away from zero, in integers throughout. */
function multiplyExactly(cents: number, rate: string): number {
  const [whole = "0", fraction = ""] = rate.split(".");
  const scale = 10n ** BigInt(fraction.length);
  const product = BigInt(cents) * BigInt(`${whole}${fraction}`);
  const size = product < 0n ? -product : product;
  const rounded = (size * 2n + scale) / (scale * 2n);
  return bounded(Number(product < 0n ? -rounded : rounded));
}

/** A share of an amount, given in ten-thousandths. */
export function partOf(cents: number, partBp: number): number {
  return multiplyExactly(cents, `${Math.floor(partBp / 10_000)}.${String(partBp % 10_000).padStart(4, "0")}`);
}

export function isRate(text: string): boolean {
  return /^\d{1,9}(\.\d{1,9})?$/.test(text) && Number(text) > 0;
}
