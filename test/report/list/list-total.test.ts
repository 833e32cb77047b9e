import { expect, test } from "vitest";
import { placeOf } from "../../../src/report/list/list-total.ts";

const DAYS = [
  { day: "2026-11-01", rows: 2 },
  { day: "2026-11-02", rows: 1 },
  { day: "2026-11-05", rows: 3 },
];

test.each([
  [0, "2026-11-01", 0],
  [1, "2026-11-01", 1],
  [2, "2026-11-02", 0],
  [3, "2026-11-05", 0],
  [5, "2026-11-05", 2],
])("row %i of the list stands on %s, behind %i others of that day", (offset, day, behind) => {
  expect(placeOf(DAYS, offset)).toEqual({ day, offset: behind });
});

test.each([6, 7, 1_000_000])("there is no row %i", (offset) => {
  expect(placeOf(DAYS, offset)).toBeUndefined();
  expect(placeOf([], 0)).toBeUndefined();
});
