import { expect, test } from "vitest";
import { chooseProperties, propertiesNamedIn, storedColumn } from "../../src/domain/lake-properties.ts";

const sample = (count: number, properties: (index: number) => object, clients = count) =>
  Array.from({ length: count }, (_, index) => ({
    clientId: `c${index % clients}`,
    properties: JSON.stringify(properties(index)),
  }));

test("columns are for texts with few values that many events have, the app's own and the most frequent first", () => {
  const chosen = chooseProperties(
    sample(100, (n) => ({
      $os: n % 2 === 0 ? "ios" : "android",
      ...(n % 2 === 0 && { mode: `m${n % 3}` }),
      server: `s${n % 8}`,
      is_new: n % 5 === 0,
      level: n % 4,
      order: `o${n}`,
      constant: "x",
      nothing: null,
      list: ["a"],
      deep: { a: "b" },
      ...(n < 4 && { rare: `r${n % 2}` }),
      "no name": `x${n % 2}`,
    })),
  );
  expect(chosen).toEqual(["is_new", "server", "mode", "$os"]);
});

test("a text that each user has another one of gets none, however many events a user sends", () => {
  const chosen = chooseProperties(sample(200, (n) => ({ device: `d${n % 10}`, mode: `m${n % 3}` }), 10));
  expect(chosen).toEqual(["mode"]);
});

test("of names that differ only in case, the most frequent one has the column", () => {
  const both = (n: number) => ({ Server: `s${n % 2}`, ...(n > 0 && { server: `t${n % 2}` }) });
  expect(chooseProperties(sample(20, both))).toEqual(["Server"]);
});

test("a file has at most eight of them, and one without events has none", () => {
  const many = (n: number) => Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`p${index}`, `x${n % 2}`]));
  expect(chooseProperties(sample(10, many))).toEqual(["p0", "p1", "p10", "p11", "p12", "p13", "p14", "p15"]);
  expect(chooseProperties([])).toEqual([]);
});

test("no two properties have one column in files, whose name has only letters, digits and _", () => {
  expect(["os", "$os", "preset_os", "property_os"].map(storedColumn)).toEqual([
    "property_os",
    "preset_os",
    "property_preset_os",
    "property_property_os",
  ]);
});

test("a statement names properties by their columns, in quotes or without, and not in literals", () => {
  const statement = `select "event$server", e.event$mode, "event$$os", 'it''s event$x', my_event$y, event$ from events e`;
  expect(propertiesNamedIn(statement)).toEqual(["server", "mode", "$os"]);
});
