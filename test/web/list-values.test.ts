import { describe, expect, test } from "vitest";
import { CsvRows } from "../../web/src/pages/lists/csv-rows.ts";
import { typedText, typedValue } from "../../web/src/pages/lists/typed-value.ts";

describe("the rows of a CSV file", () => {
  const countOf = (...chunks: string[]) => {
    const rows = new CsvRows();
    for (const chunk of chunks) rows.add(new TextEncoder().encode(chunk));
    return rows.count;
  };

  test.each<[string, string[], number]>([
    ["nothing", [], 0],
    ["a header alone", ["a,b\n"], 0],
    ["two rows", ["a,b\n1,2\n3,4\n"], 2],
    ["a row that is cut in two by the network", ["a,b\n1,", "2\n"], 1],
    ["a line break between quotes", ['a\n"1\n2"\n3\n'], 2],
    ["quotes within quotes, cut in two", ['a\n"1 ""', '\n"" 2"\n'], 1],
    ["a row that is not complete", ["a\n1\n2"], 1],
  ])("of %s", (_, chunks, rows) => {
    expect(countOf(...chunks)).toBe(rows);
  });
});

describe("the value of a property", () => {
  test.each<[string, string, unknown]>([
    ["5", "any", 5],
    ["-1.5", "any", -1.5],
    ["true", "any", true],
    ["gold", "any", "gold"],
    ['"5"', "any", "5"],
    ["“5”", "any", "5"],
    ["5", "string", "5"],
    ["5", "number", 5],
    ["5.", "any", "5."],
    ["1.0", "any", 1],
    ["12345678901234567890", "any", "12345678901234567890"],
    ["", "any", ""],
    ["2026-11-15 08:00:00", "datetime", "2026-11-15 08:00:00"],
  ])("typed as %s for a property of type %s is %j", (typed, type, value) => {
    expect(typedValue(typed, type)).toBe(value);
    expect(typedValue(typedText(value, type), type), "and can be typed again").toBe(value);
  });
});
