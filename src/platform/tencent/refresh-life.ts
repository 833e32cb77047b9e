/** Certain: a refresh token lasts thirty days, counted again from each refresh, whose answer does not repeat it. */
export const REFRESH_LIFE_MS = 30 * 86_400_000;
