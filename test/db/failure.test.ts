import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isDatabaseAway, isFaultOfData, noteDriverFailure } from "../../src/db/engine/failure.ts";
import { inTransaction, onConnection, openPool } from "../../src/db/engine/pool.ts";
import { execute, query, sql } from "../../src/db/engine/sql.ts";
import { connectionTo } from "../support/shared-server.ts";
import { log, migratedDatabase, type TempDatabase } from "./temp-database.ts";

let database: TempDatabase;
beforeAll(async () => {
  database = await migratedDatabase();
});
afterAll(() => database.drop());

/** An error as the driver throws it, recorded on its way here. */
function thrownByDriver(error: Error): Error {
  noteDriverFailure(error);
  return error;
}

test.each<[boolean, unknown]>([
  [true, Object.assign(new Error("connect"), { code: "ECONNREFUSED" })],
  [true, Object.assign(new Error("no socket"), { code: "ENOENT" })],
  [true, Object.assign(new Error("terminating connection"), { code: "57P01" })],
  [true, Object.assign(new Error("starting up"), { code: "57P03" })],
  [true, Object.assign(new Error("too many clients"), { code: "53300" })],
  [true, Object.assign(new Error("disk full"), { code: "53100" })],
  [true, Object.assign(new Error("deadlock"), { code: "40P01" })],
  [true, Object.assign(new Error("terminating connection due to idle-in-transaction timeout"), { code: "25P03" })],
  [true, Object.assign(new Error("a worker of Citus is lost"), { code: "XX000" })],
  [true, thrownByDriver(new Error("Connection terminated unexpectedly"))],
  [false, thrownByDriver(new TypeError("A value cannot be written."))],
  [false, thrownByDriver(Object.assign(new Error("division by zero"), { code: "22012" }))],
  [false, new Error("Connection terminated unexpectedly")],
  [false, Object.assign(new Error("duplicate key"), { code: "23505" })],
  [false, Object.assign(new Error("out of range"), { code: "22003" })],
  [false, new Error("There is no app 7.")],
  [false, null],
])("a failure means that the database is away (%s): %s", (away, error) => {
  expect(isDatabaseAway(error)).toBe(away);
});

/** As Citus passes on what another machine says of a COPY. */
const refused = (message: string) => Object.assign(new Error(message), { code: "XX000" });
const failure = (code: string) => Object.assign(new Error(`It failed with ${code}.`), { code });

test.each<[string, boolean, unknown]>([
  ["a number out of range", true, failure("22003")],
  ["a text that is no UTF-8", true, failure("22021")],
  ["a broken constraint", true, failure("23514")],
  ["a key that is there already", true, failure("23505")],
  ["a row that one statement changes twice", true, failure("21000")],
  ["a value longer than an index takes", true, failure("54000")],
  ["a plain error of our own code", true, new Error("There is no app 7.")],
  ["a mistake of our own code", true, new TypeError("undefined is not a function")],
  ["a mistake that Node gives a code to", true, Object.assign(new TypeError("x"), { code: "ERR_INVALID_ARG_TYPE" })],
  ["a missing privilege", false, failure("42501")],
  ["a missing table", false, failure("42P01")],
  ["a missing column", false, failure("42703")],
  ["a time limit", false, failure("57014")],
  ["a read-only server", false, failure("25006")],
  ["an unsupported statement", false, failure("0A000")],
  ["a full disk", false, failure("53100")],
  ["no more memory", false, failure("53200")],
  ["a trigger that raises an exception", false, failure("P0001")],
  ["an internal error of the database", false, failure("XX000")],
  [
    "a row that a machine of a cluster refuses",
    true,
    refused('new row for relation "t_1" violates check constraint "c_1"'),
  ],
  ["a key that a machine has already", true, refused('duplicate key value violates unique constraint "t_pkey_1"')],
  ["a value too long for an index there", true, refused("index row size 2888 exceeds btree version 4 maximum 2704")],
  ["a machine that is lost", false, refused("server closed the connection unexpectedly")],
  ["a lost connection", false, thrownByDriver(new Error("Connection terminated unexpectedly"))],
  ["a stream that was cut", false, failure("ERR_STREAM_PREMATURE_CLOSE")],
  ["a disk that cannot be read", false, failure("EIO")],
])("%s is a fault of the data itself: %s", (_, isOwn, error) => {
  expect(isFaultOfData(error)).toBe(isOwn);
});

test("a server that never answers is away, for a statement and for a transaction", async () => {
  const silent = createServer().listen(0, "127.0.0.1");
  await once(silent, "listening");
  const { port } = silent.address() as AddressInfo;
  const server = { kind: "local", host: "127.0.0.1", port, user: "u", password: "p", database: "d" } as const;
  const pool = openPool(server, { log, connectionsMax: 1, name: "test", waitMs: 1 });
  await expect(query(pool, sql`select 1`)).rejects.toSatisfy(isDatabaseAway);
  await expect(inTransaction(pool, async () => {})).rejects.toSatisfy(isDatabaseAway);
  await pool.end();
  silent.close();
});

test("a connection to a server that takes no writes any more is not used again", async () => {
  const pool = openPool(connectionTo(database.name), { log, connectionsMax: 1, name: "test" });
  await onConnection(pool, (client) => client.query("set session characteristics as transaction read only"));
  const write = () => inTransaction(pool, (tx) => execute(tx, sql`delete from app`));
  await expect(write()).rejects.toMatchObject({ code: "25006" });
  await write();
  await pool.end();
});

test("a transaction whose connection is lost fails for that reason, whatever its own code throws", async () => {
  const confused = new Error("Nothing of this looks like a connection.");
  const work = inTransaction(database.pool, async (tx) => {
    await tx.query("select pg_terminate_backend(pg_backend_pid())").catch(() => {});
    throw confused;
  });
  await expect(work).rejects.toBe(confused);
  expect([isDatabaseAway(confused), isFaultOfData(confused)]).toEqual([true, false]);
});
