import fc from "fast-check";
import { expect, test } from "vitest";
import { csvLine } from "../../src/domain/csv.ts";
import { csvText } from "../../web/src/analysis/csv-text.ts";

const cell = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.string({ unit: fc.constantFrom("=", "+", "-", "@", ";", '"', "\t", "\n", "\r", "|", " ", "a", "＝", "،") }),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
);

test("the console writes CSV as the server does", () => {
  const isNumber = (value: unknown) => typeof value === "string" && /^-\d/.test(value);
  fc.assert(
    fc.property(fc.array(cell, { minLength: 1 }), (values) => {
      const row = values.filter((value) => !isNumber(value));
      expect(csvText([row])).toBe(csvLine(row));
    }),
  );
});

test("numbers that the lake gives as texts stay numbers", () => {
  expect(csvText([["-5", "12345678901234567890", "-0.50", "-x"]])).toBe("-5,12345678901234567890,-0.50,'-x\r\n");
});
