/** Whether an account's refresh token lasts. Once it has ended, only a person can authorise us again. */
export const REFRESH_STATES = ["lasts", "ends_soon", "ended"] as const;
export type RefreshState = (typeof REFRESH_STATES)[number];

/** Time for somebody to come back from a holiday week. Tokens in use are renewed daily and never come this near. */
const WARNING_MS = 7 * 86_400_000;

/** Tokens that end by then are warned about now. */
export function refreshWarnedUntilMs(nowMs: number): number {
  return nowMs + WARNING_MS;
}

/** A token whose end is not known lasts. */
export function refreshStateOf(expiresAtMs: number | null, nowMs: number): RefreshState {
  if (expiresAtMs === null || expiresAtMs > refreshWarnedUntilMs(nowMs)) return "lasts";
  return expiresAtMs > nowMs ? "ends_soon" : "ended";
}
