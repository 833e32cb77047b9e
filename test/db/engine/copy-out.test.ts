import { Duplex } from "node:stream";
import fc from "fast-check";
import type pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CopyOut } from "../../../src/db/engine/copy-out.ts";
import { abandon, inTransaction } from "../../../src/db/engine/pool.ts";
import { MIB } from "../../../src/limits.ts";
import { createDatabase, type TempDatabase } from "../temp-database.ts";

let database: TempDatabase;
beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

async function textOf(pieces: AsyncIterable<Buffer>): Promise<string> {
  const all: Buffer[] = [];
  for await (const piece of pieces) all.push(piece);
  return Buffer.concat(all).toString();
}

const numbers = (count: number) => `${Array.from({ length: count }, (_, index) => index + 1).join("\n")}\n`;

test("all rows come, with their number, and the connection goes on", async () => {
  await inTransaction(database.pool, async (tx) => {
    for (const count of [0, 1, 400_000]) {
      const copied = tx.query(new CopyOut(`copy (select generate_series(1, ${count})) to stdout`));
      expect(await textOf(copied)).toBe(count === 0 ? "" : numbers(count));
      expect(copied.rowCount).toBe(count);
      expect((await tx.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
    }
  });
});

test("rows larger than a piece come whole", async () => {
  await inTransaction(database.pool, async (tx) => {
    const rows = `select repeat(letter, ${3 * MIB + 7}) from unnest(array['a', 'b']) letter`;
    const text = await textOf(tx.query(new CopyOut(`copy (${rows}) to stdout`)));
    expect(text === `${"a".repeat(3 * MIB + 7)}\n${"b".repeat(3 * MIB + 7)}\n`).toBe(true);
  });
});

test("a statement that fails, at once or after many rows, throws its own error and spoils nothing after it", async () => {
  const client = await database.pool.connect();
  try {
    for (const [rows, message] of [
      ["select * from nowhere", /relation "nowhere" does not exist/],
      ["select 1 / (300000 - n) from generate_series(1, 300001) n", /division by zero/],
    ] as const) {
      await expect(textOf(client.query(new CopyOut(`copy (${rows}) to stdout`)))).rejects.toThrow(message);
      expect((await client.query("select 2 as two")).rows).toEqual([{ two: 2 }]);
    }
  } finally {
    client.release();
  }
});

test("notices between rows are no rows", async () => {
  await inTransaction(database.pool, async (tx) => {
    await tx.query(`create function pg_temp.told(n int) returns int language plpgsql as $$
      begin raise notice 'row %', n; return n; end $$`);
    const text = await textOf(
      tx.query(new CopyOut("copy (select pg_temp.told(n) from generate_series(1, 100) n) to stdout")),
    );
    expect(text).toBe(numbers(100));
  });
});

test("whoever takes rows slowly makes the database wait", async () => {
  const client = await database.pool.connect();
  try {
    const rows = client.query(new CopyOut("copy (select repeat('x', 1000) from generate_series(1, 60000)) to stdout"));
    const pieces = rows[Symbol.asyncIterator]();
    await pieces.next();
    const sent = async () => {
      const { rows: found } = await database.pool.query(
        "select bytes_processed::int as bytes from pg_stat_progress_copy where datname = current_database()",
      );
      return found[0]?.bytes as number;
    };
    // It goes on until nothing more fits on the way, and then stands still.
    let before = -1;
    for (let now = await sent(); now !== before; now = await sent()) {
      before = now;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
    expect(before).toBeLessThan(20 * MIB);
    let bytes = MIB;
    for (let next = await pieces.next(); !next.done; next = await pieces.next()) bytes += next.value.length;
    expect(bytes).toBe(60_000 * 1_001);
  } finally {
    client.release();
  }
});

test("a connection that is cut in the middle ends the rows with an error", async () => {
  const client = await database.pool.connect();
  const rows = client.query(new CopyOut("copy (select repeat('x', 1000) from generate_series(1, 60000)) to stdout"));
  const pieces = rows[Symbol.asyncIterator]();
  await pieces.next();
  abandon(client);
  await expect(
    (async () => {
      while (!(await pieces.next()).done);
    })(),
  ).rejects.toThrow();
  client.release(true);
});

/** A connection whose bytes come as the test says. */
class Fed extends Duplex {
  readonly given: Buffer[] = [];

  constructor() {
    super();
    this.on("data", (chunk: Buffer) => this.given.push(chunk));
  }

  override _read(): void {}

  override _write(_chunk: unknown, _encoding: string, done: () => void): void {
    done();
  }

  query(): void {}

  get stream(): this {
    return this;
  }
}

const message = (kind: string, body: string) => {
  const bytes = Buffer.from(`${kind}    ${body}`);
  bytes.writeUInt32BE(Buffer.byteLength(body) + 4, 1);
  return bytes;
};

test("rows are the same however the bytes are cut, and the client gets everything from the end on", async () => {
  const texts = fc.array(fc.string({ unit: "binary", maxLength: 40 }), { maxLength: 20 });
  const cuts = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(texts, cuts, async (rows, sizes) => {
      const wire = new Fed();
      const copied = new CopyOut("copy …");
      copied.submit(wire as unknown as pg.Connection);
      const end = Buffer.concat([message("c", ""), message("C", "COPY 3\0"), message("Z", "I")]);
      const sent = Buffer.concat([
        message("H", "\0\0\0"),
        ...rows.map((row) => message("d", row)),
        message("N", "told"),
        end,
      ]);
      for (let at = 0, index = 0; at < sent.length; index += 1) {
        const size = sizes[index % sizes.length]!;
        wire.push(Buffer.from(sent.subarray(at, at + size)));
        at += size;
      }
      await new Promise((resolve) => setImmediate(resolve));
      copied.handleCommandComplete({ text: "COPY 3" });
      copied.handleReadyForQuery();
      expect(await textOf(copied)).toBe(rows.map((row) => Buffer.from(row).toString()).join(""));
      expect(Buffer.concat(wire.given)).toEqual(end);
      expect(copied.rowCount).toBe(3);
    }),
    { numRuns: 100 },
  );
});
