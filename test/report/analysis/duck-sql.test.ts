import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { storableText } from "../../../src/domain/json.ts";
import { allOf, type Duck, duck, listed, named, quoted, textOf } from "../../../src/report/analysis/duck-sql.ts";
import { readField, textField } from "../../../src/report/analysis/field.ts";
import { openViews, type Views } from "./duck-views.ts";
import { TEXTS } from "./market.ts";

let views: Views;
beforeAll(async () => {
  views = await openViews();
});
afterAll(() => views.close());

const HOSTILE = [
  ...TEXTS,
  ..."' or 1=1 --|'; drop table events; --|\\'|\\\\'|'' union select 1|*/ '|$$ x $$|$1|:name|?|chr(39)|\"|`|\u2028|\u00a0|\uFEFF".split(
    "|",
  ),
  ...[
    "E'\\x27'",
    "\u02bc",
    "\uff07",
    "%27",
    "\u0000'",
    "a\u0000b",
    "\ud800'",
    "'\udc00",
    "\r\n'",
    "\n",
    "\r",
    "\n\n'",
    "''\n''",
  ],
  "'".repeat(10_001),
  `${"x".repeat(1_000_000)}'`,
  "\n'".repeat(500),
];

/** Behind another character, because the driver takes a byte order mark away from the beginning of a text. */
async function textAs(expression: Duck): Promise<string> {
  return String(await valueAs(duck`'x' || ${expression}`)).slice(1);
}

async function valueAs(expression: Duck): Promise<unknown> {
  const rows = await views.run(textOf(duck`select ${expression} as value`));
  expect(rows).toHaveLength(1);
  return rows[0]!.value;
}

test("a literal is the text that it was made of, whatever the text is", async () => {
  for (const text of HOSTILE) expect(await textAs(duck`${text}`)).toBe(storableText(text));
});

test("any text as a literal is that text, alone, in a list and inside an indented piece", async () => {
  const part = fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom(...HOSTILE.filter((text) => text.length < 100)));
  await fc.assert(
    fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 4 }), async (texts) => {
      const text = texts.join("");
      const inner = duck`(
  select ${text} as value
  where ${allOf([duck`true`, duck`${text} in (${listed(texts)}, ${text})`])}
)`;
      expect(await textAs(inner)).toBe(storableText(text));
      const marked = texts.map((one) => `x${one}`);
      expect(await valueAs(duck`[${listed(marked)}]`)).toEqual(marked.map(storableText));
    }),
    { numRuns: 200 },
  );
});

test("a statement has no line that a text began, so that indenting it changes no value", () => {
  for (const text of HOSTILE) expect(quoted(text)).not.toMatch(/[\n\r\0]/);
});

test("any number as a literal is that number", async () => {
  const numbers = [
    0,
    -0,
    1,
    -1,
    0.1,
    -0.1,
    1e-7,
    5e-324,
    1.7976931348623157e308,
    1e21,
    2 ** 53,
    123456789.123,
    2 ** 31,
  ];
  for (const number of numbers) expect(Number(await valueAs(duck`${number}`))).toBe(number + 0);
  await fc.assert(
    fc.asyncProperty(fc.double({ noNaN: true, noDefaultInfinity: true }), async (number) => {
      expect(await valueAs(duck`cast(${number} as double)`)).toBe(number + 0);
    }),
  );
  for (const number of [Number.NaN, Number.POSITIVE_INFINITY]) expect(() => duck`${number}`).toThrow("literal");
});

test("nothing from a request passes for a piece of a statement", () => {
  const piece = JSON.parse(JSON.stringify(duck`1 or true`));
  expect(() => duck`select ${piece}`).toThrow("cannot be written");
  for (const name of ["a b", "a;", 'a"', "A", "", "é", "a\n"]) expect(() => named(name)).toThrow("is not a name");
});

test.each([
  "event$",
  "event$a b",
  "event$a'b",
  'event$a"b',
  "event$a.b",
  "event$a\n",
  "event$1a",
  "event$é",
  "event$a*",
  "event$[0]",
  `event$${"a".repeat(51)}`,
  "user$a'",
  "order$pay_cents; --",
  "order$trace_id",
  "properties",
  "client_id",
  "u.properties",
  "",
])("%j is not a field", (text) => {
  expect(() => readField(text, "order")).toThrow(/is not a (?:field|property|column)/);
});

test("a property is found by its exact name, one that looks like a path too", async () => {
  const properties = JSON.stringify({ $a: "own", a: "other", $: "dollar", a_1: 5, A: true });
  const valueAt = async (name: string) => {
    const field = textField(readField(`event$${name}`, "event"), "event");
    const rows = await views.run(textOf(duck`select ${field} as value from events e`));
    return rows[0]!.value;
  };
  await views.run(textOf(duck`create or replace table event_rows as select ${properties} as properties`));
  expect(await valueAt("$a")).toBe("own");
  expect(await valueAt("a")).toBe("other");
  expect(await valueAt("$")).toBe("dollar");
  expect(await valueAt("a_1")).toBe("5");
  expect(await valueAt("A")).toBe("true");
  expect(await valueAt("b")).toBe("");
});
