import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { copyJson, copyNullable, copyRows, copyText, NULL, RowCopy, rowsFrom } from "../../../src/db/engine/copy.ts";
import { inTransaction } from "../../../src/db/engine/pool.ts";
import { storableText } from "../../../src/domain/json.ts";
import { MIB } from "../../../src/limits.ts";
import { createDatabase, type TempDatabase } from "../temp-database.ts";

let database: TempDatabase;

beforeAll(async () => {
  database = await createDatabase();
  await database.pool.query("create table copied (id integer, text text, json jsonb)");
});
afterAll(() => database.drop());

async function throughCopy(rows: Iterable<string>): Promise<{ text: string | null; json: unknown }[]> {
  return inTransaction(database.pool, async (tx) => {
    await tx.query("truncate copied");
    await copyRows(tx, { table: "copied", columns: "id, text, json" }, rows);
    return (await tx.query("select text, json from copied order by id")).rows;
  });
}

const hostile = fc.constantFrom(
  "\\",
  "\\N",
  "\\.",
  "\t",
  "\n",
  "\r",
  "\r\n",
  "\\\\",
  "\\t",
  "\b",
  "\f",
  "\v",
  '"',
  "'",
  "\u2028",
  "😀",
  "",
);
const texts = fc
  .oneof(
    fc.string({ unit: "binary" }),
    fc.array(hostile).map((parts) => parts.join("")),
  )
  .map((text) => storableText(text));

test("any text that PostgreSQL can hold goes through COPY unchanged", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(texts, { maxLength: 20 }), async (list) => {
      const rows = await throughCopy(list.map((text, id) => `${id}\t${copyText(text)}\t${NULL}`));
      expect(rows).toEqual(list.map((text) => ({ text, json: null })));
    }),
    { numRuns: 60 },
  );
});

test("any JSON goes through COPY unchanged", async () => {
  const value: fc.Arbitrary<unknown> = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      texts,
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      tie("list"),
      tie("object"),
    ),
    list: fc.array(tie("value"), { maxLength: 4 }),
    object: fc.dictionary(texts, tie("value"), { maxKeys: 4, noNullPrototype: true }),
  })).value;
  await fc.assert(
    fc.asyncProperty(fc.array(value, { maxLength: 10 }), async (list) => {
      fc.pre(!JSON.stringify(list).includes("__proto__"));
      const rows = await throughCopy(list.map((json, id) => `${id}\t${NULL}\t${copyJson(JSON.stringify(json))}`));
      expect(rows).toEqual(list.map((json) => ({ text: null, json })));
    }),
    { numRuns: 60 },
  );
});

test("null differs from the text that represents it, and numbers are written in full", async () => {
  expect([copyNullable(null), copyNullable("\\N"), copyNullable(-1.5), copyNullable("")]).toEqual([
    "\\N",
    "\\134N",
    "-1.5",
    "",
  ]);
  const rows = await throughCopy([null, "\\N", ""].map((text, id) => `${id}\t${copyNullable(text)}\t${NULL}`));
  expect(rows.map((row) => row.text)).toEqual([null, "\\N", ""]);
});

test("more rows than fit into one chunk all arrive, and no rows need no work", async () => {
  const rows = Array.from({ length: 2_501 }, (_, id) => `${id}\trow ${id}\t${NULL}`);
  expect((await throughCopy(rows)).map((row) => row.text)).toEqual(rows.map((_, id) => `row ${id}`));
  expect(await throughCopy([])).toEqual([]);
});

test("a row that does not fit fails the transaction and leaves the connection usable", async () => {
  const rows = Array.from({ length: 5_000 }, (_, id) => `${id === 1 ? "not a number" : id}\tx\t${NULL}`);
  await expect(throughCopy(rows)).rejects.toThrow(/invalid input syntax/);
  expect(await throughCopy(["1\tfine\t\\N"])).toEqual([{ text: "fine", json: null }]);
});

test("a COPY that fails while rows are still on their way fails the transaction, and nothing else", async () => {
  const long = Buffer.from(`not a number\t${"x".repeat(16 * MIB)}\t${NULL}\n`);
  const copying = inTransaction(database.pool, async (tx) => {
    const copy = new RowCopy(tx, "copy copied (id, text, json) from stdin");
    const writing = copy.write(long);
    // More than the connection has taken when the database answers.
    const more = copy.write(long);
    await Promise.allSettled([writing, more]);
    await copy.end(Buffer.from(`1\tx\t${NULL}\n`));
  });
  await expect(copying).rejects.toThrow(/invalid input syntax/);
  expect(await throughCopy(["1\tfine\t\\N"])).toEqual([{ text: "fine", json: null }]);
});

test("a row that cannot be made fails the transaction and leaves the connection usable", async () => {
  const numbers = Array.from({ length: 2_500 }, (_, id) => id);
  const made = rowsFrom(numbers, (id) => {
    if (id === 2_400) throw new Error("cannot be made");
    return `${id}\tx\t${NULL}`;
  });
  await expect(throughCopy(made)).rejects.toThrow("cannot be made");
  expect(await throughCopy(["1\tfine\t\\N"])).toEqual([{ text: "fine", json: null }]);
});
