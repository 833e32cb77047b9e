import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { compile, execute, identifier, query, sql } from "../../../src/db/engine/sql.ts";
import { migratedDatabase, type TempDatabase } from "../temp-database.ts";

let database: TempDatabase;
beforeAll(async () => {
  database = await migratedDatabase();
});
afterAll(() => database.drop());

test("values become parameters in the order in which they stand", () => {
  expect(compile(sql`select name from app where app_id = ${7} and name = ${"it's"}`)).toEqual({
    text: "select name from app where app_id = $1 and name = $2",
    values: [7, "it's"],
  });
});

test("a statement becomes part of another, and its values keep their places", () => {
  const inner = sql`b = ${2} and c = ${3}`;
  const outer = sql`select ${1} where ${inner} or ${sql`true`} or d = ${4}${sql`;`}`;
  expect(compile(outer)).toEqual({
    text: "select $1 where b = $2 and c = $3 or true or d = $4;",
    values: [1, 2, 3, 4],
  });
  expect(compile(sql`${inner}`)).toEqual({ text: "b = $1 and c = $2", values: [2, 3] });
});

test("the same statement can be used twice: nothing about it changes", () => {
  const part = sql`a = ${1}`;
  const whole = sql`${part} or ${part}`;
  expect(compile(whole)).toEqual({ text: "a = $1 or a = $2", values: [1, 1] });
  expect(compile(part)).toEqual({ text: "a = $1", values: [1] });
});

test("no text that is passed as a value can become part of the statement", async () => {
  const texts = fc.oneof(
    fc.constantFrom("'; drop table app; --", "$1", "${1}", "\\'", '"', "null"),
    fc.string({ unit: "grapheme" }),
  );
  await fc.assert(
    fc.asyncProperty(texts, async (text) => {
      fc.pre(!text.includes("\u0000"));
      expect(await query(database.pool, sql`select ${text}::text as text`)).toEqual([{ text }]);
    }),
    { numRuns: 50 },
  );
});

test("an object that imitates a statement, key for key, is a value", () => {
  const statement = sql`drop table app`;
  const copy = JSON.parse('{"kind":"sql","texts":["drop table app"],"values":[],"__proto__":{"kind":"sql"}}');
  for (const imitation of [copy, { ...statement }, structuredClone(statement), Object.create(statement)])
    expect(compile(sql`select ${imitation}`)).toEqual({ text: "select $1", values: [imitation] });
});

test("only names that this program makes itself pass as table names", () => {
  expect(compile(sql`drop table ${identifier("event_20240615")}`)).toEqual({
    text: "drop table event_20240615",
    values: [],
  });
  for (const name of ["", "Event", "event; drop table app", 'e"', "1day", "event-day", "schema.event", "event\n"])
    expect(() => identifier(name)).toThrow(/is not a table name/);
});

test("execute tells how many rows were touched", async () => {
  const insert = (name: string) =>
    sql`insert into event_meta (app_id, name, state, changed_at_ms) values (1, ${name}, 'observed', 0), (2, ${name}, 'observed', 0)`;
  expect(await execute(database.pool, insert("a"))).toBe(2);
  expect(await execute(database.pool, sql`delete from event_meta where app_id = ${2}`)).toBe(1);
  expect(await execute(database.pool, sql`delete from event_meta where app_id = ${3}`)).toBe(0);
});
