import pg from "pg";
import { pino } from "pino";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { emptyFacts } from "../../src/db/facts.ts";
import { lockCursor } from "../../src/db/journal-cursor.ts";
import { ApplyLock } from "../../src/db/lock/apply-lock.ts";
import { APPLY_LOCK_KEY, showsLife } from "../../src/db/lock/lock-session.ts";
import { type Connection, Server } from "../../src/db/server/server.ts";
import { requestReplay } from "../../src/db/set-aside.ts";
import { connectionTo, databaseUrl } from "../support/shared-server.ts";
import { ApplyStage, claim, NOW_MS, pay } from "./apply-stage.ts";
import { countWaiting } from "./temp-database.ts";

let stage: ApplyStage;
beforeAll(async () => {
  stage = await ApplyStage.open();
});
beforeEach(async () => {
  stage.term = await claim(stage.pool);
  await stage.begin();
});
afterAll(() => stage.close());

const TAKEN = { code: "APPLY_TAKEN" };

test("a process that was replaced by another commits nothing, and goes on once it may again", async () => {
  await stage.register("u");
  await stage.collect("u", [pay("o1", 100)]);
  await claim(stage.pool);
  await expect(stage.applier.turn()).rejects.toMatchObject(TAKEN);
  expect([await stage.count("user_account"), await stage.count("journal_cursor"), await stage.setAside()]).toEqual([
    0,
    0,
    [],
  ]);
  stage.term = await claim(stage.pool);
  await stage.applyAll();
  expect([await stage.count("orders"), await stage.ledger()]).toEqual([1, { received: 1, stored: 1 }]);
});

test("a replaced process does not replay entries that were set aside", async () => {
  await stage.append("register", "u", "{");
  await stage.applyAll();
  await requestReplay(stage.pool);
  await claim(stage.pool);
  await expect(stage.applier.replayOne()).rejects.toMatchObject(TAKEN);
  expect(await stage.setAside()).toMatchObject([{ state: "requested" }]);
});

test("a replaced process does not empty the tables", async () => {
  await stage.register("u");
  await stage.applyAll();
  await claim(stage.pool);
  await expect(emptyFacts(stage.pool, stage.term)).rejects.toMatchObject(TAKEN);
  expect(await stage.count("user_account")).toBe(1);
});

test("a process that takes over waits for the transaction under way, and continues after it", async () => {
  await stage.register("u");
  const inTheWay = await stage.pool.connect();
  await inTheWay.query("begin");
  await lockCursor(inTheWay, stage.cursor);
  const turn = stage.applier.turn();
  await expect.poll(waiting).toBe(1);
  const events: string[] = [];
  const claiming = claim(stage.pool).then(() => events.push("claimed"));
  await expect.poll(waiting).toBe(2);
  await inTheWay.query("rollback");
  inTheWay.release();
  await turn.then(() => events.push("applied"));
  await claiming;
  expect([await stage.count("user_account"), events.sort()]).toEqual([1, ["applied", "claimed"]]);
  await stage.register("v");
  await expect(stage.applier.turn()).rejects.toMatchObject(TAKEN);
  expect(await stage.count("user_account")).toBe(1);
});

test("while this process may not apply, a turn is idle; entries applied by another are read anew", async () => {
  await stage.register("u");
  await stage.applyAll();
  const { term } = stage;
  stage.term = undefined as never;
  await stage.register("v");
  expect([await stage.applier.turn(), await stage.applier.replayOne()]).toEqual(["idle", false]);
  stage.term = term;
  await stage.applyAll();
  expect(await stage.count("user_account")).toBe(2);
});

test("a holder shows life by another statement, not by ending", () => {
  const session = { id: 7, address: null, askedAt: "10:00:00" };
  expect(showsLife(session, { ...session, askedAt: "10:00:01" })).toBe(true);
  for (const now of [session, { ...session, askedAt: null }, { ...session, id: 8 }, undefined])
    expect(showsLife(session, now)).toBe(false);
});

describe("the lock", () => {
  let connection: Connection;
  /** A session of another process. */
  let other: pg.Client;
  let lock: ApplyLock;
  const said: string[] = [];

  beforeEach(async () => {
    connection = connectionTo(stage.database.name);
    other = new pg.Client(await new Server(connection).target(5_000));
    await other.connect();
    said.length = 0;
    const log = pino({ level: "warn" }, { write: (line: string) => said.push(line) });
    lock = new ApplyLock({ journalId: "mine", log, clock: () => NOW_MS });
    return async () => {
      await lock.release();
      await other.end();
    };
  });

  const takenByOther = () => other.query(`select pg_advisory_lock(${APPLY_LOCK_KEY}), pg_backend_pid() as id`);

  test("is waited for, with a message, while its holder shows no sign of life: the database may not have noticed its end", async () => {
    await takenByOther();
    const taking = lock.take(connection);
    await expect.poll(() => said).toEqual([expect.stringMatching(/database session \d+.*waiting for it to end/)]);
    // Another statement would be a sign of life.
    await other.end();
    await taking;
    await lock.claim();
    expect(await holder()).toMatchObject({ journal_id: "mine" });
  });

  test("is refused with a message when such a holder stays", async () => {
    const { id } = (await takenByOther()).rows[0];
    await expect(lock.take(connection, 1)).rejects.toThrow(
      new RegExp(
        `^Another process applies into this database already: .*database session ${id}\\. Only one can at a time`,
      ),
    );
  });

  test("is taken again by a claim, if the database has closed its connection since", async () => {
    await lock.take(connection);
    await stage.pool.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'touchpoint apply lock' and datname = current_database()",
    );
    const [term] = await lock.claim();
    expect(await holder()).toMatchObject({ journal_id: "mine", term });
  });

  test("looks for its table in the schema that the address names", async () => {
    await stage.pool.query(
      "create schema elsewhere create table apply_holder (like public.apply_holder including all)",
    );
    const options = encodeURIComponent("-c search_path=elsewhere");
    const address = databaseUrl(stage.database.name);
    const url = `${address}${address.includes("?") ? "&" : "?"}options=${options}`;
    await lock.take({ kind: "url", url, sessions: "own" });
    const [term] = await lock.claim();
    const { rows } = await stage.pool.query("select term, journal_id from elsewhere.apply_holder");
    expect(rows).toEqual([{ term, journal_id: "mine" }]);
  });

  test("stops apply once lost, until it is taken again, and names its holder meanwhile", async () => {
    const terms: (string | undefined)[] = [];
    await lock.take(connection);
    const [first] = await lock.claim();
    const watch = lock.watch(async ([term]) => {
      terms.push(term);
    });
    try {
      // The query waits in line, so it gets the lock at the moment at which the first holder loses it.
      const taken = takenByOther();
      await expect.poll(waiting).toBe(1);
      await stage.pool.query("select pg_terminate_backend($1::int)", [(await holder()).backend_id]);
      const { id } = (await taken).rows[0];
      const obstacle = new RegExp(`^another process applies into this database: .*database session ${id}\\.$`);
      await expect.poll(() => lock.obstacle).toMatch(obstacle);
      expect(terms).toEqual([undefined]);
      await other.query(`select pg_advisory_unlock(${APPLY_LOCK_KEY})`);
      await expect.poll(() => terms).toEqual([undefined, expect.any(String)]);
      await expect.poll(() => lock.obstacle).toBeUndefined();
      expect(terms[1]).not.toBe(first);
    } finally {
      await watch.stop();
    }
  });
});

async function holder() {
  return (await stage.pool.query("select * from apply_holder")).rows[0];
}

const waiting = () => countWaiting(stage.pool);
