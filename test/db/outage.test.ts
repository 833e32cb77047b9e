import { once } from "node:events";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { isDatabaseAway } from "../../src/db/engine/failure.ts";
import { inTransaction } from "../../src/db/engine/pool.ts";
import { lockAppCursor, lockCursor } from "../../src/db/journal-cursor.ts";
import { ApplyStage, pay } from "./apply-stage.ts";
import { countWaiting } from "./temp-database.ts";

let stage: ApplyStage;
beforeAll(async () => {
  stage = await ApplyStage.open();
});
beforeEach(() => stage.begin());
afterAll(() => stage.close());

async function payments(count: number, from = 0): Promise<void> {
  for (let index = from; index < from + count; index += 1) {
    await stage.register(`u${index}`);
    await stage.collect(`u${index}`, [pay(`o${index}`, 100)]);
  }
}

/** Ends the session whose statement waits for another transaction. */
async function endWaiting(): Promise<void> {
  await expect.poll(() => countWaiting(stage.pool)).toBe(1);
  await stage.pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and state = 'active'
       and application_name = 'touchpoint test' and pid <> pg_backend_pid()`,
  );
}

test("a batch whose connection is lost in the middle is applied once, by the next turn", async () => {
  await payments(5);
  const holder = await stage.pool.connect();
  await holder.query("begin");
  await lockCursor(holder, stage.cursor);
  await lockAppCursor(holder, { ...stage.cursor, appId: stage.app.appId });
  const turn = stage.applier.turn().then(
    () => undefined,
    (error: unknown) => error,
  );
  await endWaiting();
  expect(isDatabaseAway(await turn)).toBe(true);
  await holder.query("rollback");
  holder.release();
  expect([await stage.count("user_account"), await stage.count("set_aside")]).toEqual([0, 0]);
  await stage.applyAll();
  expect([await stage.count("orders"), await stage.ledger()]).toEqual([5, { received: 5, stored: 5 }]);
});

test("a connection lost while its transaction is idle fails that transaction, not the process", async () => {
  const work = inTransaction(stage.pool, async (tx) => {
    // Without a listener the loss would be an uncaught exception, which ends the process.
    expect(tx.listenerCount("error")).toBeGreaterThan(0);
    const lost = once(tx, "error");
    const { rows } = await tx.query("select pg_backend_pid() as pid");
    await stage.pool.query("select pg_terminate_backend($1::int)", [rows[0].pid]);
    await lost;
    await tx.query("select 1");
  });
  await expect(work).rejects.toSatisfy(isDatabaseAway);
  expect((await stage.pool.query("select 1 as one")).rows).toEqual([{ one: 1 }]);
});

test("two processes that apply the same journal take turns, and each entry takes effect once", async () => {
  await payments(20);
  const both = [stage.newApplier(), stage.newApplier()];
  for (let round = 0; round < 6; round += 1) {
    await payments(3, 20 + round * 3);
    // The later one finds the cursor elsewhere, fails, and reads again from there.
    await Promise.allSettled(both.map((applier) => applier.turn()));
  }
  await Promise.all(both.map((applier) => applier.close()));
  await stage.applyAll();
  expect([await stage.count("orders"), await stage.ledger(), await stage.setAside()]).toEqual([
    38,
    { received: 38, stored: 38 },
    [],
  ]);
});

test("while nothing is new a turn is idle and changes nothing", async () => {
  await payments(1);
  await stage.applyAll();
  const told = stage.applied.length;
  expect([await stage.applier.turn(), await stage.applier.turn()]).toEqual(["idle", "idle"]);
  expect(stage.applied).toHaveLength(told);
});

test("the reported progress ends at the last durable byte, and its outcomes are those of the ledger", async () => {
  await payments(3);
  await stage.collect("u0", [pay("o0", 100)]);
  await stage.applyAll();
  expect(stage.applied.at(-1)?.position).toBe(stage.journal.durable);
  const told: Record<string, number> = {};
  for (const { outcomes } of stage.applied)
    for (const [name, events] of Object.entries(outcomes)) told[name] = (told[name] ?? 0) + events;
  expect(told).toEqual(await stage.ledger());
});
