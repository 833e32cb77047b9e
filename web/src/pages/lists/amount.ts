/** An amount that is "at least" so much has an end beyond every payment. */
export const CENTS_MAX = 999_999_999_999;

export function isOpenEnd(cents: number): boolean {
  return cents >= CENTS_MAX;
}

/** People think in major units, the interface in cents. */
export function centsOf(typed: string): number {
  return Math.round(Number(typed) * 100);
}
