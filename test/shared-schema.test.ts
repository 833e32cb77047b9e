import { Ajv } from "ajv";
import { expect, test } from "vitest";
import { askedBody } from "../src/contract/analysis/asked.ts";
import { SharedSchemas } from "../src/contract/shared-schema.ts";
import { messageOfInvalid } from "../src/contract/validation.ts";
import { QUESTIONS } from "../src/report/analysis/questions.ts";

const leaf = { type: "object", required: ["field"], properties: { field: { type: "string", maxLength: 3 } } };
const pair = { type: "object", required: ["a"], properties: { a: leaf, b: leaf } };
const schema = { type: "object", properties: { first: pair, more: { type: "array", items: { anyOf: [leaf, pair] } } } };

function sharing(): { shared: SharedSchemas; parts: Map<string, object> } {
  const parts = new Map<string, object>();
  const shared = new SharedSchemas((part) => {
    const name = `part-${parts.size + 1}`;
    parts.set(name, part);
    return name;
  });
  return { shared, parts };
}

test("a part that stands in a schema several times is shared once, and so in the next schema", () => {
  const { shared, parts } = sharing();
  const [leafRef, pairRef] = [{ $ref: "part-1" }, { $ref: "part-2" }];
  expect(shared.copyOf(schema)).toEqual({
    type: "object",
    properties: { first: pairRef, more: { type: "array", items: { anyOf: [leafRef, pairRef] } } },
  });
  expect([...parts.values()]).toEqual([leaf, { ...pair, properties: { a: leafRef, b: leafRef } }]);
  expect(shared.copyOf({ type: "object", properties: { one: pair } })).toEqual({
    type: "object",
    properties: { one: pairRef },
  });
  expect(parts.size).toBe(2);
});

test("a schema with shared parts says what the schema written out says", () => {
  const plain = new Ajv().compile(schema);
  const cases = [
    {},
    { first: { a: { field: "abc" } } },
    { first: { a: { field: "abcd" } } },
    { first: { b: { field: "a" } } },
    { more: [{ field: "a" }, { a: { field: "b" }, b: {} }] },
    { more: [{}] },
    { more: [{ a: { field: 1 } }] },
  ];
  expect(cases.map((value) => messageOfInvalid(schema, value) === undefined)).toEqual(
    cases.map((value) => plain(value)),
  );
  expect(messageOfInvalid(schema, cases[2])).toBe("first.a.field must NOT have more than 3 characters.");
});

test("no question about events is compiled from more than a few parts, whatever its conditions may nest", () => {
  const { shared, parts } = sharing();
  for (const question of QUESTIONS) {
    const copy = shared.copyOf(askedBody(question.schema));
    expect(JSON.stringify(copy).length, question.name).toBeLessThan(20_000);
  }
  expect(parts.size).toBeLessThan(20);
});
