/** The upper end of an "at least" filter: more than any payment. */
export const CENTS_MAX = 999_999_999_999;

export function isOpenEnd(cents: number): boolean {
  return cents >= CENTS_MAX;
}

/** Parses an amount typed in major units. */
export function centsOf(typed: string): number {
  return Math.round(Number(typed) * 100);
}
