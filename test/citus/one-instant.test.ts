import { afterAll, beforeAll, expect, test } from "vitest";
import { onConnection } from "../../src/db/engine/pool.ts";
import { atOneInstant } from "../../src/db/standstill.ts";
import { ApplyStage, track } from "../db/apply-stage.ts";
import { countWaiting, makeApp } from "../db/temp-database.ts";
import { onWorker } from "../support/citus.ts";

let stage: ApplyStage;
beforeAll(async () => {
  stage = await ApplyStage.open();
});
afterAll(() => stage.close());

test("apply waits while the tables are read at one instant, and goes on afterwards", async () => {
  const others = [await makeApp(stage.pool), await makeApp(stage.pool)];
  for (const { appId } of [stage.app, ...others])
    for (const client of ["a", "b"]) {
      await stage.register(client, {}, { app: appId });
      await stage.collect(client, [track("e")], { app: appId });
    }
  const own = stage.database.open();
  let applying = Promise.resolve();
  const seen = await onConnection(own, (client) =>
    atOneInstant(client, async (tx) => {
      const counts = async () =>
        (
          await tx.query(
            `select (select count(*)::int from event) as events, (select sum(position)::float8 from app_cursor) as apps,
               (select sum(position)::float8 from journal_cursor) as log`,
          )
        ).rows[0];
      const before = await counts();
      applying = stage.applyAll();
      await expect.poll(() => countWaiting(stage.pool)).toBeGreaterThan(0);
      return [before, await counts()];
    }),
  );
  await own.end();
  expect(seen).toEqual([
    { events: 0, apps: null, log: null },
    { events: 0, apps: null, log: null },
  ]);
  await applying;
  expect(await stage.count("event")).toBe(6);
});

test("what a lost connection left prepared on a machine is finished first", async () => {
  const { name } = stage.database;
  await onWorker(name, async (worker) => {
    await worker.query("begin");
    await worker.query("create table left_prepared (n int)");
    // The name that the coordinator gives to transactions that it cannot finish: no record says that this one was committed.
    await worker.query("prepare transaction 'citus_0_1_1_0'");
  });
  const own = stage.database.open();
  expect(await onConnection(own, (client) => atOneInstant(client, async () => "read"))).toBe("read");
  await own.end();
  const left = await onWorker(name, (worker) =>
    worker.query("select gid from pg_prepared_xacts where database = $1", [name]),
  );
  expect(left.rows).toEqual([]);
});
