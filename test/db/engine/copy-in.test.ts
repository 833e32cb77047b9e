import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import fc from "fast-check";
import type pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CopyIn, CopyInStream } from "../../../src/db/engine/copy-in.ts";
import { abandon } from "../../../src/db/engine/pool.ts";
import { MIB } from "../../../src/limits.ts";
import { createDatabase, type TempDatabase } from "../temp-database.ts";

const INTO = "copy copied from stdin";

let database: TempDatabase;
beforeAll(async () => {
  database = await createDatabase();
  await database.pool.query("create table copied (text text)");
});
afterAll(() => database.drop());

async function withClient(work: (client: pg.PoolClient) => Promise<void>): Promise<void> {
  const client = await database.pool.connect();
  try {
    await client.query("truncate copied");
    await work(client);
  } finally {
    client.release();
  }
}

async function storedText(client: pg.PoolClient): Promise<string> {
  const { rows } = await client.query("select coalesce(string_agg(text, ',' order by text), '') as all from copied");
  return rows[0].all;
}

test("rows that come in any pieces are all stored, with their number", async () => {
  const piecesOf = fc.array(fc.nat(20), { maxLength: 8 });
  await withClient(async (client) => {
    await fc.assert(
      fc.asyncProperty(fc.nat(40), piecesOf, async (count, cuts) => {
        await client.query("truncate copied");
        const rows = Array.from({ length: count }, (_, index) => `row ${String(index).padStart(2, "0")}`);
        let left = rows.map((row) => `${row}\n`).join("");
        const copy = client.query(new CopyIn(INTO));
        for (const cut of cuts) {
          await copy.write(Buffer.from(left.slice(0, cut)));
          left = left.slice(cut);
        }
        await copy.write(Buffer.from(left));
        await copy.end();
        expect(copy.rowCount).toBe(count);
        expect(await storedText(client)).toBe(rows.join(","));
      }),
      { numRuns: 60 },
    );
  });
});

test("the memory of rows can be used for others once they are written", async () => {
  await withClient(async (client) => {
    const copy = client.query(new CopyIn(INTO));
    const memory = Buffer.alloc(2 * MIB);
    for (const letter of ["a", "b", "c", "d"]) {
      memory.fill(letter);
      memory[memory.length - 1] = 0x0a;
      await copy.write(memory);
    }
    memory.fill("?");
    await copy.end();
    const { rows } = await client.query(
      "select left(text, 1) as letter, text = repeat(left(text, 1), length(text)) as same from copied order by 1",
    );
    expect(rows).toEqual(["a", "b", "c", "d"].map((letter) => ({ letter, same: true })));
  });
});

test("a statement that fails at once throws its own error, in every call, and spoils nothing after it", async () => {
  await withClient(async (client) => {
    const copy = client.query(new CopyIn("copy nowhere from stdin"));
    await expect(copy.write(Buffer.from("x\n"))).rejects.toThrow(/relation "nowhere" does not exist/);
    await expect(copy.end()).rejects.toThrow(/relation "nowhere" does not exist/);
    expect((await client.query("select 2 as two")).rows).toEqual([{ two: 2 }]);
  });
});

test("one that is given up stores nothing, and its connection goes on", async () => {
  await withClient(async (client) => {
    const copy = client.query(new CopyIn(INTO));
    await copy.write(Buffer.from("x\ny\n"));
    await copy.fail("changed my mind");
    await expect(copy.end()).rejects.toThrow(/changed my mind/);
    expect(await storedText(client)).toBe("");
  });
});

test("a connection that breaks ends what is being written", async () => {
  const client = await database.pool.connect();
  client.on("error", () => {});
  const copy = client.query(new CopyIn(INTO));
  await copy.write(Buffer.from("x\n"));
  const writing = copy.write(Buffer.alloc(64 * MIB, "x"));
  abandon(client);
  await Promise.allSettled([writing]);
  await expect(copy.end()).rejects.toThrow();
  client.release(true);
});

test("a stream stores what it is sent, and gives up when its source fails", async () => {
  await withClient(async (client) => {
    const stored = new CopyInStream(client, INTO);
    await pipeline(Readable.from(["a\nb", "\nc\n"]), stored);
    expect(stored.rowCount).toBe(3);
    const broken = (async function* () {
      yield "d\n";
      throw new Error("The source ended early.");
    })();
    await expect(pipeline(Readable.from(broken), new CopyInStream(client, INTO))).rejects.toThrow(/ended early/);
    await expect(pipeline(Readable.from(["e\tf\n"]), new CopyInStream(client, INTO))).rejects.toThrow(/extra data/);
    expect(await storedText(client)).toBe("a,b,c");
  });
});
