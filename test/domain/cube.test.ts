import { expect, test } from "vitest";
import { dimensionText } from "../../src/domain/cube.ts";

test.each([
  ["", ""],
  ["a".repeat(200), "a".repeat(200)],
  ["a".repeat(201), "a".repeat(200)],
  // Three bytes each: 66 of them fit, the 67th would be split.
  ["渠".repeat(66), "渠".repeat(66)],
  ["渠".repeat(67), "渠".repeat(66)],
  [`${"a".repeat(198)}\u{1f3ae}`, "a".repeat(198)],
  // A replacement character that was sent is a character like any other.
  ["\ufffd".repeat(66), "\ufffd".repeat(66)],
])("a value of a dimension has at most 200 bytes, and never half a character (%#)", (sent, kept) => {
  expect(dimensionText(sent)).toBe(kept);
});
