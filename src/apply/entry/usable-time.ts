/** The latest time whose year has four digits in every time zone. */
const AT_MS_MAX = Date.UTC(9999, 11, 31);

/** Whether an instant can be stored, and has a day in every time zone. */
export function isUsableTime(atMs: number): boolean {
  return atMs >= 0 && atMs < AT_MS_MAX;
}
