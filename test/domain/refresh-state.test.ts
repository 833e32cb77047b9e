import { expect, test } from "vitest";
import { refreshStateOf } from "../../src/domain/refresh-state.ts";

const NOW_MS = 1_700_000_000_000;
const DAY_MS = 86_400_000;

test.each<[string, number | null, string]>([
  ["has an unknown end", null, "lasts"],
  ["ends in more than a week", NOW_MS + 7 * DAY_MS + 1, "lasts"],
  ["ends in a week", NOW_MS + 7 * DAY_MS, "ends_soon"],
  ["ends in a moment", NOW_MS + 1, "ends_soon"],
  ["ends now", NOW_MS, "ended"],
  ["ended long ago", 0, "ended"],
])("a refresh token that %s %j is told as such: %s", (_, endsAtMs, state) => {
  expect(refreshStateOf(endsAtMs, NOW_MS)).toBe(state);
});
