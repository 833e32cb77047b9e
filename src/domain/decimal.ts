const DECIMAL = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?$/;

/**
 * A decimal text, which may have an exponent ("1e-7"), in ten-thousandths of the major unit: exact, and rounded half
 * away from zero at the fourth decimal. `unitDecimals` is the text's own scale below the major unit: 2 for cents.
 * Undefined when the text is not a number or too large for an amount.
 */
export function e4OfDecimal(text: string, unitDecimals = 0): number | undefined {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] = DECIMAL.exec(text) ?? [];
  if (whole === "" && fraction === "") return undefined;
  const digits = BigInt(`${whole}${fraction}`);
  const power = Number(exponent) - fraction.length + 4 - unitDecimals;
  const size = power >= 0 ? digits * 10n ** BigInt(power) : dividedHalfUp(digits, 10n ** BigInt(-power));
  if (size > BigInt(Number.MAX_SAFE_INTEGER)) return undefined;
  return size === 0n ? 0 : Number(sign === "-" ? -size : size);
}

function dividedHalfUp(value: bigint, divisor: bigint): bigint {
  return (value * 2n + divisor) / (divisor * 2n);
}
