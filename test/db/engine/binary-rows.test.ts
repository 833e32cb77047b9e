import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { BinaryRows, CHUNK_BYTES, TRAILER } from "../../../src/db/engine/binary-rows.ts";
import { RowCopy } from "../../../src/db/engine/copy.ts";
import { inTransaction } from "../../../src/db/engine/pool.ts";
import { query, sql } from "../../../src/db/engine/sql.ts";
import { storableText } from "../../../src/domain/json.ts";
import { createDatabase, type TempDatabase } from "../temp-database.ts";

let database: TempDatabase;

beforeAll(async () => {
  database = await createDatabase();
  await database.pool.query(
    "create table copied (number integer, large bigint, day date, id uuid, text text, json json)",
  );
});
afterAll(() => database.drop());

type Row = { number: number; large: number; day: string; id: string; text: string; json: unknown };

/** Sends the rows as soon as a chunk is full, as apply does, and returns them as they are stored. */
async function throughCopy(rows: readonly Row[]): Promise<Row[]> {
  return inTransaction(database.pool, async (tx) => {
    await tx.query("truncate copied");
    const made = new BinaryRows();
    const copy = new RowCopy(tx, "copy copied from stdin (format binary)");
    for (const { number, large, day, id, text, json } of rows) {
      made.row(6).int(number).bigint(large).day(day).uuid(id).text(text).text(JSON.stringify(json));
      if (made.isFull) await copy.write(made.take());
    }
    await copy.write(made.take());
    await copy.end(TRAILER);
    return query<Row>(
      tx,
      sql`select number, large, day, replace(id::text, '-', '') as id, text, json from copied order by number`,
    );
  });
}

const row = (change: Partial<Row> = {}): Row => ({
  number: 1,
  large: 0,
  day: "2024-06-15",
  id: "0123456789abcdef0123456789abcdef",
  text: "",
  json: {},
  ...change,
});

const texts = fc.string({ unit: "binary" }).map((text) => storableText(text));
const rowsOf = fc.array(
  fc.record({
    large: fc.maxSafeInteger(),
    day: fc.date({ min: new Date(0), max: new Date("9999-12-31"), noInvalidDate: true }).map(dayOf),
    id: fc.stringMatching(/^[0-9a-f]{32}$/),
    text: texts,
    json: fc.array(fc.oneof(texts, fc.integer(), fc.boolean(), fc.constant(null)), { maxLength: 4 }),
  }),
  { maxLength: 20 },
);

function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}

test("any values that PostgreSQL can hold go through binary COPY unchanged", async () => {
  await fc.assert(
    fc.asyncProperty(rowsOf, async (list) => {
      const rows = list.map((one, number) => ({ number, ...one }));
      expect(await throughCopy(rows)).toEqual(rows);
    }),
    { numRuns: 60 },
  );
});

test("the least and the greatest whole numbers stay as they are", async () => {
  const rows = [
    row({ number: -(2 ** 31), large: Number.MIN_SAFE_INTEGER }),
    row({ number: 0, large: -1 }),
    row({ number: 1, large: 2 ** 32 }),
    row({ number: 2 ** 31 - 1, large: Number.MAX_SAFE_INTEGER }),
  ];
  expect(await throughCopy(rows)).toEqual(rows);
  expect(() => new BinaryRows().int(2 ** 31)).toThrow(RangeError);
});

test("rows larger than a chunk, and many chunks of rows, all arrive", async () => {
  const large = row({ number: 0, text: "字".repeat(CHUNK_BYTES), json: { text: "x".repeat(CHUNK_BYTES) } });
  const rows = [
    large,
    ...Array.from({ length: 20_000 }, (_, index) => row({ number: index + 1, text: `row ${index} `.repeat(10) })),
  ];
  expect(await throughCopy(rows)).toEqual(rows);
});

test("a text that is no day is refused", () => {
  expect(() => new BinaryRows().day("")).toThrow(/is not a day/);
});

test("a value that does not fit fails the transaction and leaves the connection usable", async () => {
  await expect(throughCopy([row({ text: "\0" })])).rejects.toThrow(/invalid byte sequence/);
  expect(await throughCopy([row()])).toEqual([row()]);
});
