import fc from "fast-check";
import type pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { copyJson, copyNullable, copyRows, mergeRows, NULL, replacing } from "../../../src/db/engine/copy.ts";
import { atPlace } from "../../../src/db/engine/place.ts";
import { INSERTED_BYTES } from "../../../src/db/engine/placed-rows.ts";
import { inTransaction } from "../../../src/db/engine/pool.ts";
import { newRows } from "../../../src/db/engine/rows.ts";
import { execute, sql } from "../../../src/db/engine/sql.ts";
import { lockAppCursor } from "../../../src/db/journal-cursor.ts";
import { storableText } from "../../../src/domain/json.ts";
import { migratedDatabase, type TempDatabase } from "../temp-database.ts";

const PLACE = { appId: 7, journalId: "journal", partition: 0 };
const COLUMNS = "app_id, id, text, day, names, json, uuid, flag";
const TARGET = { table: "placed", columns: COLUMNS };

let database: TempDatabase;
beforeAll(async () => {
  database = await migratedDatabase();
  await database.pool.query(
    "create table placed (app_id int, id bigint primary key, text text, day date, names text[], json jsonb, uuid uuid, flag boolean)",
  );
  await inTransaction(database.pool, (tx) => lockAppCursor(tx, PLACE));
});
afterAll(() => database.drop());

type Row = { id: number; text: string | null; json: unknown };

const line = ({ id, text, json }: Row) =>
  [
    ...[7, id, copyNullable(text), "2024-02-29", "{a,b}", copyJson(JSON.stringify(json))],
    ...["00112233445566778899aabbccddeeff", "true"],
  ].join("\t");

async function written(tx: pg.PoolClient, place: typeof PLACE | undefined, rows: readonly Row[]): Promise<Row[]> {
  await tx.query("delete from placed");
  const copy = () => copyRows(tx, TARGET, rows.map(line));
  await (place ? atPlace(tx, place, copy) : copy());
  return (await tx.query("select * from placed order by id")).rows;
}

const hostile = fc.constantFrom("\\", "\\N", "\\134", "\\\\t", "\t", "\n", "\r\n", "\\t", "\\n1", "{", '"', "'", "😀");
const texts = fc.array(fc.oneof(hostile, fc.string({ maxLength: 4 })), { maxLength: 5 }).map((parts) => parts.join(""));

test("rows beside a cursor are those of a COPY, whatever is in them", async () => {
  const rows = fc.array(fc.record({ text: fc.option(texts), json: fc.oneof(texts, fc.dictionary(texts, texts)) }), {
    maxLength: 8,
  });
  await fc.assert(
    fc.asyncProperty(rows, async (given) => {
      const stored = given.map(({ text, json }, id) => ({
        id,
        text: text === null ? null : storableText(text),
        json: JSON.parse(JSON.stringify(json).replaceAll("\\u0000", "")),
      }));
      await inTransaction(database.pool, async (tx) => {
        const copied = await written(tx, undefined, stored);
        expect(copied).toHaveLength(stored.length);
        expect(await written(tx, PLACE, stored)).toEqual(copied);
      });
    }),
    { numRuns: 60 },
  );
});

test("rows of several statements all arrive, and a failure among them is told", async () => {
  const long = "x".repeat(INSERTED_BYTES / 4);
  const rows = Array.from({ length: 10 }, (_, id) => ({ id, text: long, json: null }));
  await inTransaction(database.pool, async (tx) => {
    expect((await written(tx, PLACE, rows)).map(({ id }) => id)).toEqual(rows.map(({ id }) => id));
  });
  const twice = rows.map((row) => ({ ...row, id: row.id % 7 }));
  await expect(inTransaction(database.pool, (tx) => written(tx, PLACE, twice))).rejects.toMatchObject({
    code: "23505",
  });
});

test("rows are never lost silently when the cursor is not there", async () => {
  const elsewhere = { ...PLACE, journalId: "another" };
  const writing = inTransaction(database.pool, (tx) => written(tx, elsewhere, [{ id: 1, text: "", json: null }]));
  await expect(writing).rejects.toThrow("0 of 1 rows of placed were inserted.");
});

test("merged rows take the place of stored ones, with and without a place", async () => {
  const conflict = sql`on conflict (id) do update set ${replacing(["text", "day"])}`;
  for (const place of [undefined, PLACE]) {
    await inTransaction(database.pool, async (tx) => {
      await written(tx, place, [
        { id: 1, text: "first", json: null },
        { id: 2, text: "second", json: null },
      ]);
      const merge = () => mergeRows(tx, TARGET, { rows: [line({ id: 1, text: "again", json: null })], conflict });
      await (place ? atPlace(tx, place, merge) : merge());
      const { rows } = await tx.query("select id, text from placed order by id");
      expect(rows).toEqual([
        { id: 1, text: "again" },
        { id: 2, text: "second" },
      ]);
    });
  }
});

test("rows of a table are selected beside the cursor of their own app only", async () => {
  const columns = { appId: "int", id: "bigint", text: "text" } as const;
  const insert = (tx: pg.PoolClient, appId: number) =>
    execute(
      tx,
      sql`insert into placed (app_id, id, text) select * from ${newRows(tx, "fresh", [{ appId, id: appId, text: NULL }], columns)}`,
    );
  await inTransaction(database.pool, async (tx) => {
    await tx.query("delete from placed");
    const counts = await atPlace(tx, PLACE, async () => [await insert(tx, 7), await insert(tx, 8)]);
    expect(counts).toEqual([1, 1]);
    expect(await insert(tx, 9)).toBe(1);
  });
});
