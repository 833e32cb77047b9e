import { afterAll, beforeAll, expect, test } from "vitest";
import { DISTRIBUTED, EVERYWHERE } from "../../src/db/engine/distributed-tables.ts";
import { migrate } from "../../src/db/engine/migrate.ts";
import { openKeys } from "../../src/installation.ts";
import type { Log } from "../../src/log.ts";
import { ApplyStage, DAY_MS, NOW_MS, pay, track } from "../db/apply-stage.ts";
import { createDatabase, log, rowsOf } from "../db/temp-database.ts";
import { TEST_KEY } from "../support/shared-server.ts";

const options = { log, clock: () => NOW_MS };
let stage: ApplyStage;

/** Tables on the coordinator alone, filled as by a server of before. */
beforeAll(async () => {
  const database = await createDatabase();
  await migrate(database.pool, { ...options, restore: { only: undefined } });
  await openKeys(database.pool, TEST_KEY, "first");
  stage = await ApplyStage.open(database);
  for (const client of ["a", "b", "c"]) {
    await stage.register(client);
    await stage.collect(client, [pay(`o-${client}`, 600), track("e"), track("e", {}, NOW_MS - 3 * DAY_MS)]);
  }
  await stage.append("click", "", "company=vivo&callback=x&oaid=o", { at: NOW_MS });
  await stage.applyAll();
});
afterAll(() => stage.close());

const pictureOf = () =>
  Promise.all([...DISTRIBUTED, ...EVERYWHERE].map(async (table) => [table, await rowsOf(stage.pool, table)]));

/** Bytes of rows in the coordinator's own files of tables that are distributed. */
async function leftHere(): Promise<number> {
  const { rows } = await stage.pool.query(
    `select coalesce(sum(pg_relation_size(c.oid)), 0)::int as bytes
     from pg_dist_partition d join pg_class c on c.oid = d.logicalrelid where c.relkind = 'r'`,
  );
  return rows[0].bytes;
}

test("a distribution that is interrupted goes on later, with every row once and none left behind", async () => {
  const before = await pictureOf();
  const interrupted = new Error("interrupted");
  const info = (details: { table?: string }) => {
    if (details.table === "user_account") throw interrupted;
  };
  const interruptedLog = { ...log, warn: () => {}, info } as unknown as Log;
  await expect(migrate(stage.pool, { ...options, filled: "distribute", log: interruptedLog })).rejects.toBe(
    interrupted,
  );
  // Ended after a table was distributed, and before its rows were deleted here.
  await stage.pool.query("select create_distributed_table('event', 'app_id', colocate_with => 'user_account')");
  expect(await leftHere()).toBeGreaterThan(0);
  expect(await pictureOf()).toEqual(before);
  await migrate(stage.pool, { ...options, filled: "distribute" });
  expect(await leftHere()).toBe(0);
  expect(await pictureOf()).toEqual(before);
  const { rows } = await stage.pool.query(
    "select table_name::text as name from citus_tables where citus_table_type in ('distributed', 'reference')",
  );
  expect(rows.map(({ name }) => name)).toEqual(expect.arrayContaining([...DISTRIBUTED, ...EVERYWHERE]));
});
