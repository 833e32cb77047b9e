import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openPool } from "../../../src/db/engine/pool.ts";
import {
  compile,
  eitherOf,
  execute,
  identifier,
  literal,
  onOneMachine,
  query,
  queryColumns,
  readBoth,
  sql,
} from "../../../src/db/engine/sql.ts";
import { connectionTo } from "../../support/shared-server.ts";
import { migratedDatabase, type TempDatabase } from "../temp-database.ts";

let database: TempDatabase;
beforeAll(async () => {
  database = await migratedDatabase();
});
afterAll(() => database.drop());

test("values become parameters in their order", () => {
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

test("the same statement can be used twice, unchanged", () => {
  const part = sql`a = ${1}`;
  const whole = sql`${part} or ${part}`;
  expect(compile(whole)).toEqual({ text: "a = $1 or a = $2", values: [1, 1] });
  expect(compile(part)).toEqual({ text: "a = $1", values: [1] });
});

test("a part may read otherwise where the database is known to be on one machine", async () => {
  const apps = eitherOf(sql`app_id = ${7}`, sql`app_id = any(${[7, 8]}::int[]) and ${true}`);
  const whole = sql`select ${1} where ${sql`not ${apps}`} or ${apps} limit ${2}`;
  const divided = { text: "select $1 where not app_id = $2 or app_id = $3 limit $4", values: [1, 7, 7, 2] };
  expect(compile(whole)).toEqual(divided);
  const tx = {};
  await onOneMachine(tx, async () => {
    expect(compile(whole, tx)).toEqual({
      text: "select $1 where not app_id = any($2::int[]) and $3 or app_id = any($4::int[]) and $5 limit $6",
      values: [1, [7, 8], true, [7, 8], true, 2],
    });
    expect(compile(whole, {})).toEqual(divided);
  });
  expect(compile(whole, tx)).toEqual(divided);
});

test("no text passed as a value can become part of the statement", async () => {
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

test("any list of texts arrives as it is", async () => {
  const text = fc.oneof(
    fc.constantFrom("", "NULL", "null", '"', "\\", '\\"', "\\n", "\n", "\t", "{}", ",", "\u2028", "\u007f"),
    fc.string({ unit: "grapheme" }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(text), async (texts) => {
      fc.pre(!texts.join("").includes("\u0000"));
      expect(await query(database.pool, sql`select ${texts}::text[] as texts`)).toEqual([{ texts }]);
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

test("a literal is a whole number and nothing else", () => {
  expect(compile(sql`status = ${literal(3)} or a = ${1}`)).toEqual({ text: "status = 3 or a = $1", values: [1] });
  for (const other of [-1, 0.5, Number.NaN, 1e21, "1" as unknown as number, "0; drop table app" as unknown as number])
    expect(() => literal(other)).toThrow(/is not a whole number/);
});

test("only names made by this program pass as table names", () => {
  expect(compile(sql`drop table ${identifier("event_20240615")}`)).toEqual({
    text: "drop table event_20240615",
    values: [],
  });
  for (const name of ["", "Event", "event; drop table app", 'e"', "1day", "event-day", "schema.event", "event\n"])
    expect(() => identifier(name)).toThrow(/is not a table name/);
});

test("execute returns how many rows were affected", async () => {
  const insert = (name: string) =>
    sql`insert into event_meta (app_id, name, state, changed_at_ms) values (1, ${name}, 'observed', 0), (2, ${name}, 'observed', 0)`;
  expect(await execute(database.pool, insert("a"))).toBe(2);
  expect(await execute(database.pool, sql`delete from event_meta where app_id = ${2}`)).toBe(1);
  expect(await execute(database.pool, sql`delete from event_meta where app_id = ${3}`)).toBe(0);
});

test("a column has its key in camelCase, and what it contains stays as it is", async () => {
  type Row = { touchedAtMs: number; costE4: number; details: unknown; missing: null; renamedTwice: string };
  const rows = await query<Row>(
    database.pool,
    sql`select 1700000000000::bigint as touched_at_ms, 5 as cost_e4, '{"ad_platform": {"click_id": "c_1"}}'::jsonb as details,
      null::text as missing, 'a_b' as "renamed_twice"`,
  );
  expect(rows).toEqual([
    {
      touchedAtMs: 1_700_000_000_000,
      costE4: 5,
      details: { ad_platform: { click_id: "c_1" } },
      missing: null,
      renamedTwice: "a_b",
    },
  ]);
  // @ts-expect-error No row has such a key.
  await query<{ touched_at_ms: number }>(database.pool, sql`select 1 as touched_at_ms`);
});

test("columns arrive as lists of the same values that rows have, in the same order", async () => {
  const texts = ["", "a b", 'quo"te', "back\\slash", "null", "{a,b}", "tab\t\n", "😀", "é"];
  const rows = sql`select day::date as day, name, case when name <> '' then 9007199254740991 - at end as amount_cents
    from unnest(${texts}::text[]) with ordinality as one (name, at), (values ('2026-02-28'), ('2028-02-29')) days (day)
    order by day desc, at`;
  type Row = { day: string; name: string; amountCents: number | null };
  const expected = await query<Row>(database.pool, rows);
  expect(expected).toHaveLength(18);
  const [days, names, amounts] = await queryColumns(database.pool, rows, ["day", "name", "amount_cents"]);
  expect(expected).toEqual(days!.map((day, at) => ({ day, name: names![at], amountCents: amounts![at] })));
  expect(await queryColumns(database.pool, sql`${rows} limit 0`, ["name", "day"])).toEqual([[], []]);
});

test("a column's name is only a name, whatever it contains", async () => {
  const [row] = await query<Record<string, number>>(
    database.pool,
    sql`select 1 as "a'b]; }", 2 as "\\u2028\u2028""", 3 as "__proto__", 4 as "twice", 5 as "twice"`,
  );
  expect(Object.entries(row!)).toEqual([
    ["a'b]; }", 1],
    ['\\u2028\u2028"', 2],
    ["_Proto__", 3],
    ["twice", 5],
  ]);
});

test("a statement without columns has no rows, and two statements of one shape share nothing", async () => {
  expect(await query(database.pool, sql`select ${1} as a_b where false`)).toEqual([]);
  expect(await query(database.pool, sql`delete from event_meta where app_id = ${3}`)).toEqual([]);
  const [first, second] = await query<{ aB: number }>(database.pool, sql`select generate_series(1, ${2}::int) as a_b`);
  first!.aB = 7;
  expect(second).toEqual({ aB: 2 });
});

test("two readings share a connection while there is only one, and else run at the same time", async () => {
  const pool = openPool(connectionTo(database.name), { log: { warn: () => {} }, connectionsMax: 2, name: "test" });
  let running = 0;
  let most = 0;
  const reading = async () => {
    running += 1;
    most = Math.max(most, running);
    const [row] = await query<{ one: number }>(pool, sql`select 1 as one`);
    running -= 1;
    return row;
  };
  try {
    expect(await readBoth(pool, reading, reading)).toEqual([{ one: 1 }, { one: 1 }]);
    expect(most).toBe(2);
    const held = await pool.connect();
    most = 0;
    expect(await readBoth(pool, reading, reading)).toEqual([{ one: 1 }, { one: 1 }]);
    expect(most).toBe(1);
    held.release();
  } finally {
    await pool.end();
  }
});
