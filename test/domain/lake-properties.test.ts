import { expect, test } from "vitest";
import { chooseProperties, mergeProperties, propertiesNamedIn } from "../../src/domain/lake-properties.ts";

const samples = (count: number, properties: (index: number) => object) =>
  Array.from({ length: count }, (_, index) => JSON.stringify(properties(index)));

test("columns are for texts with few values that many events have, the most frequent first", () => {
  const chosen = chooseProperties(
    samples(100, (n) => ({
      ...(n % 2 === 0 && { mode: `m${n % 3}` }),
      server: `s${n % 8}`,
      $os: n % 2 === 0 ? "ios" : "android",
      is_new: n % 5 === 0,
      level: n % 4,
      order: `o${n}`,
      nothing: null,
      list: ["a"],
      deep: { a: "b" },
      ...(n < 4 && { rare: "r" }),
      "no name": "x",
    })),
  );
  expect(chosen).toEqual(["$os", "is_new", "server", "mode"]);
});

test("of names that differ only in case, the most frequent one has the column", () => {
  expect(chooseProperties(samples(10, (n) => ({ Server: "s", ...(n > 0 && { server: "t" }) })))).toEqual(["Server"]);
});

test("a file has at most eight of them, and one without events has none", () => {
  const many = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`p${index}`, "x"]));
  expect(chooseProperties(samples(10, () => many))).toEqual(["p0", "p1", "p10", "p11", "p12", "p13", "p14", "p15"]);
  expect(chooseProperties([])).toEqual([]);
});

test("a merged file has the columns that its parts have for most rows", () => {
  const parts = [
    { rows: 90, properties: ["a", "b"] },
    { rows: 9, properties: ["b", "c"] },
    { rows: 1, properties: ["d"] },
  ];
  expect(mergeProperties(parts)).toEqual(["b", "a", "c"]);
  expect(mergeProperties([])).toEqual([]);
});

test("a statement names properties by their columns, in quotes or without", () => {
  const statement = `select "event$server", e.event$mode, "event$$os", 'event$server', my_event$x, event$ from events e`;
  expect(propertiesNamedIn(statement)).toEqual(["server", "mode", "$os"]);
});
