import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { compile, query, sql } from "../../src/db/engine/sql.ts";
import {
  FIGURE_FIELDS,
  matchesProperty,
  PROPERTY_OPERATORS,
  type PropertyTest,
  propertyTestProblem,
} from "../../src/domain/event/property-test.ts";
import type { JsonObject, JsonValue } from "../../src/domain/json.ts";
import type { PropertyCondition } from "../../src/report/list/list-request.ts";
import { propertyConditions } from "../../src/report/list/property-condition.ts";
import { createDatabase, type TempDatabase } from "./temp-database.ts";

let database: TempDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

const ZONE = { timeZone: "Asia/Shanghai" };

/** The result of the order list's filter for the same values. */
async function asFiltered(test: PropertyTest, of: { user: JsonObject; event: JsonObject }): Promise<boolean> {
  const [condition] = propertyConditions([test as unknown as PropertyCondition], ZONE, "order");
  const [row] = await query<{ holds: boolean }>(
    database.pool,
    sql`select coalesce((select true where ${condition!}), false) as holds
      from (select ${JSON.stringify(of.user)}::jsonb as properties) u, (select ${JSON.stringify(of.event)}::jsonb as properties) o`,
  );
  return row!.holds;
}

const texts = fc.oneof(
  fc.constantFrom("", "a", "A", "b", "ab", "10", "9", "中", "～", "😀", "2024-06-15 10:00:00", "2024-06-15"),
  fc.string({ unit: "grapheme", maxLength: 4 }),
);
const numbers = fc.oneof(
  fc.constantFrom(0, 1, -1, 1.5, 10, 9, 1e15, 0.1, 1e-7, -0),
  fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e13, max: 1e13 }),
);
const plain = fc.oneof(texts, numbers, fc.boolean(), fc.constant(null));
const values: fc.Arbitrary<JsonValue> = fc.oneof(
  { weight: 6, arbitrary: plain },
  fc.array(texts, { maxLength: 3 }),
  fc.constantFrom<JsonValue[]>({ a: 1, b: 2 }, { b: 2, a: 1 }, [{ x: 1, y: [] }], [{ y: [], x: 1 }], {}, []),
);
const properties = fc.dictionary(fc.constantFrom("p", "$p", "q", "$q"), values, { maxKeys: 4 });
const fields = fc.constantFrom("user$p", "event$p", "user$q", "event$none", "user$constructor", "event$toString");
const operators = fc.constantFrom(...PROPERTY_OPERATORS);
const tests = fc
  .tuple(
    fields,
    operators,
    fc.array(values, { minLength: 1, maxLength: 3 }),
    fc.tuple(numbers, numbers),
    fc.tuple(texts, texts),
    fc.boolean(),
  )
  .map(([field, operator, list, figures, words, isFigures]): PropertyTest => {
    if (operator === "between") return { field, operator, values: isFigures ? figures : words };
    if (operator === "inner") return { field, operator, values: list };
    return { field, operator, values: operator.startsWith("is") || operator === "not_set" ? [] : list.slice(0, 1) };
  })
  .filter((test) => !JSON.stringify(test).includes("\\u0000"));

describe("a rule's test on a property", () => {
  test("agrees with the lists' filter, for all operators and values", async () => {
    await fc.assert(
      fc.asyncProperty(tests, properties, properties, async (test, user, event) => {
        fc.pre(!JSON.stringify([user, event]).includes("\\u0000"));
        expect(propertyTestProblem(test)).toBeUndefined();
        expect(matchesProperty(test, { user, event })).toBe(await asFiltered(test, { user, event }));
      }),
      { numRuns: 1_500 },
    );
  });

  test.each<[PropertyTest, JsonObject, boolean]>([
    [{ field: "user$p", operator: "equal", values: [{ b: 2, a: 1 }] }, { p: { a: 1, b: 2 } }, true],
    [{ field: "user$p", operator: "is_set", values: [] }, { $p: null, p: 1 }, false],
    [{ field: "user$constructor", operator: "is_set", values: [] }, {}, false],
    [{ field: "user$p", operator: "between", values: ["～", "😀"] }, { p: "😀" }, true],
    [{ field: "user$p", operator: "between", values: ["1", "2"] }, { p: 1.5 }, false],
    [{ field: "user$p", operator: "equal", values: [null] }, {}, false],
    [{ field: "user$p", operator: "not_equal", values: [null] }, {}, true],
    [{ field: "user$p", operator: "equal", values: [0] }, { p: -0 }, true],
  ])("%j of %j: %j", async (test, user, holds) => {
    expect(matchesProperty(test, { user, event: {} })).toBe(holds);
    expect(await asFiltered(test, { user, event: {} })).toBe(holds);
  });

  test("is refused on a figure, which only the lists can filter by", () => {
    const looksAtProperties = (field: string) => {
      const test = { field, operator: "is_set", values: [] } as unknown as PropertyCondition;
      return /properties/.test(compile(propertyConditions([test], ZONE, "order")[0]!).text);
    };
    for (const field of FIGURE_FIELDS) {
      expect([field, looksAtProperties(field)]).toEqual([field, false]);
      expect(propertyTestProblem({ field, operator: "is_set", values: [] })).toMatch(/is a figure/);
    }
    for (const field of ["user$level", "user$gender", "event$product", "event$pay_count"])
      expect([looksAtProperties(field), propertyTestProblem({ field, operator: "is_set", values: [] })]).toEqual([
        true,
        undefined,
      ]);
  });

  test.each<[unknown, RegExp]>([
    [null, /is an object/],
    [{ field: "level", operator: "equal", values: [1] }, /field must look like/],
    [{ field: "user$1", operator: "equal", values: [1] }, /field must look like/],
    [{ field: "user$a", operator: "like", values: [1] }, /operator must be one of/],
    [{ field: "user$a", operator: "equal", values: "x" }, /values must be a list/],
    [{ field: "user$a", operator: "equal", values: [] }, /equal takes one value/],
    [{ field: "user$a", operator: "not_equal", values: [1, 2] }, /not_equal takes one value/],
    [{ field: "user$a", operator: "inner", values: [] }, /inner takes at least one/],
    [{ field: "user$a", operator: "between", values: [1] }, /between takes two/],
    [{ field: "user$a", operator: "between", values: [1, "2"] }, /between takes two/],
    [{ field: "user$a", operator: "between", values: [true, false] }, /between takes two/],
  ])("%j is no valid test", (test, problem) => {
    expect(propertyTestProblem(test)).toMatch(problem);
  });
});
