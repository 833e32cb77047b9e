import { afterAll, beforeAll, expect, test } from "vitest";
import { rowsOf } from "../../../src/db/engine/rows.ts";
import { compile, query, sql } from "../../../src/db/engine/sql.ts";
import { migratedDatabase, type TempDatabase } from "../temp-database.ts";

let database: TempDatabase;
beforeAll(async () => {
  database = await migratedDatabase();
});
afterAll(() => database.drop());

type Seen = {
  appId: number;
  clientId: string | null;
  touchedAtMs?: number | undefined;
  isNew: boolean;
  day: string;
  details: object | string | null;
};

const seen: Seen[] = [
  {
    appId: 1,
    clientId: 'a "quoted\\" {text}, null',
    touchedAtMs: 2 ** 53 - 1,
    isNew: true,
    day: "2024-06-15",
    details: { click_id: ["c"] },
  },
  { appId: 2, clientId: null, isNew: false, day: "-infinity", details: ["NULL", null, 1.5] },
  {
    appId: 2,
    clientId: "",
    touchedAtMs: undefined,
    isNew: false,
    day: "0001-01-01",
    details: '{"cents": 12345678901234567890}',
  },
  { appId: 3, clientId: "NULL", touchedAtMs: -1, isNew: false, day: "9999-12-31", details: null },
];

const tableOf = (rows: readonly Seen[]) =>
  rowsOf("seen", rows, {
    appId: "int",
    clientId: "text",
    touchedAtMs: "bigint",
    isNew: "boolean",
    day: "date",
    details: "jsonb",
  });

test("each column is one parameter, and the text is the same for any number of rows", () => {
  const text =
    "unnest($1::int[], $2::text[], $3::bigint[], $4::boolean[], $5::date[], $6::jsonb[]) " +
    "as seen (app_id, client_id, touched_at_ms, is_new, day, details)";
  expect(compile(tableOf([]))).toEqual({ text, values: ["{}", "{}", "{}", "{}", "{}", "{}"] });
  const { text: same, values } = compile(tableOf(seen));
  expect(same).toBe(text);
  expect(values.slice(0, 3)).toEqual([
    "{1,2,2,3}",
    '{"a \\"quoted\\\\\\" {text}, null",null,"","NULL"}',
    "{9007199254740991,NULL,NULL,-1}",
  ]);
});

test("rows come back from the database as stored, with null for missing values", async () => {
  const rows = await query(database.pool, sql`select seen.*, details::text as written from ${tableOf(seen)}`);
  const written = ['{"click_id": ["c"]}', '["NULL", null, 1.5]', '{"cents": 12345678901234567890}', null];
  expect(rows).toEqual(
    seen.map((one, index) => ({
      ...one,
      touchedAtMs: one.touchedAtMs ?? null,
      details: typeof one.details === "string" ? JSON.parse(one.details) : one.details,
      written: written[index],
    })),
  );
  expect(await query(database.pool, sql`select seen.* from ${tableOf([])}`)).toEqual([]);
});

test("a column may be computed from the row and its index, under any name", async () => {
  const names = ["b", "a"];
  const named = rowsOf("named", names, {
    number: ["int", (_, index) => index],
    campaignId: ["text", (name) => name],
    key: ["uuid", () => "00000000-0000-0000-0000-000000000001"],
    details: ["jsonb", (name) => ({ name })],
  });
  expect(await query(database.pool, sql`select * from ${named} order by campaign_id collate "C"`)).toEqual([
    { number: 1, campaignId: "a", key: "00000000-0000-0000-0000-000000000001", details: { name: "a" } },
    { number: 0, campaignId: "b", key: "00000000-0000-0000-0000-000000000001", details: { name: "b" } },
  ]);
});

test("the compiler accepts only keys of the row, with types of their values", () => {
  const rows: { appId: number; clientId: string | null }[] = [{ appId: 1, clientId: "c" }];
  // @ts-expect-error The row has no such key.
  rowsOf("r", rows, { appId: "int", client: "text" });
  // @ts-expect-error A text is no number.
  rowsOf("r", rows, { clientId: "int" });
  // @ts-expect-error Nor is one that is made.
  rowsOf("r", rows, { clientId: ["int", (row) => row.clientId] });
  // @ts-expect-error There is no such type.
  rowsOf("r", rows, { clientId: "varchar" });
});

test("invalid names are refused", () => {
  const rows = [{ appId: 1 }];
  expect(() => rowsOf("r (a); --", rows, { appId: "int" })).toThrow(/is not a table name/);
  expect(() => rowsOf("r", rows, { "a) --": ["int", () => 1] })).toThrow(/is not a table name/);
});
