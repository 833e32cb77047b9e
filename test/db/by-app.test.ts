import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { App } from "../../src/db/app.ts";
import { listTables } from "../../src/db/engine/catalog.ts";
import { DISTRIBUTED, EVERYWHERE, ON_COORDINATOR } from "../../src/db/engine/distributed-tables.ts";
import { segmentPath } from "../../src/journal/segment.ts";
import { ApplyStage, pay, track } from "./apply-stage.ts";
import { makeApp, rowsOf } from "./temp-database.ts";

let stage: ApplyStage;
let other: App;
beforeAll(async () => {
  stage = await ApplyStage.open();
  stage.byApp = true;
  other = await makeApp(stage.pool);
});
beforeEach(() => stage.begin());
afterAll(() => stage.close());

const position = async () => (await rowsOf(stage.pool, "journal_cursor")).map((row: any) => row.position);
const appsApplied = async () => (await rowsOf(stage.pool, "app_cursor")).map((row: any) => row.app_id);

async function tables(): Promise<Record<string, object[]>> {
  const rows: Record<string, object[]> = {};
  for (const table of [...DISTRIBUTED, "journal_cursor"])
    rows[table] = await rowsOf(stage.pool, table, ["marked", "since"]);
  return rows;
}

async function fill(): Promise<void> {
  for (const client of ["a", "b"]) {
    for (const app of [stage.app.appId, other.appId]) {
      await stage.register(client, {}, { app });
      await stage.collect(client, [track("e"), pay(`order-${client}`, 600)], { app });
    }
  }
}

test("a crash between two apps of a stretch applies neither of them twice", async () => {
  await fill();
  await stage.applyAll();
  const whole = await tables();
  // As if the other app's transaction had not come any more, and the cursor therefore waited.
  for (const table of DISTRIBUTED) await stage.pool.query(`delete from ${table} where app_id = $1`, [other.appId]);
  await stage.pool.query("delete from journal_cursor");
  await stage.restart();
  expect([await appsApplied(), await stage.count("event")]).toEqual([[stage.app.appId], 4]);
  await stage.applyAll();
  expect(await tables()).toEqual(whole);
});

test("what is known of one app goes on when a later entry of another one is set aside", async () => {
  await stage.register("a", {}, { app: 404 });
  await fill();
  await stage.applyAll();
  expect(await stage.setAside()).toMatchObject([{ appId: 404 }]);
  expect([await stage.count("event"), await position()]).toEqual([8, [stage.journal.durable]]);
});

test("bytes that belong to no app are set aside once, also when their stretch has to be ended again", async () => {
  await stage.register("damaged");
  await fill();
  const path = segmentPath(stage.journal.dir, 0);
  const bytes = readFileSync(path);
  bytes[bytes.indexOf('"damaged"')] = 0;
  writeFileSync(path, bytes);
  await stage.applyAll();
  // As after a crash before the cursor moved.
  await stage.pool.query("delete from journal_cursor");
  await stage.restart();
  await stage.applyAll();
  expect(await stage.setAside()).toMatchObject([{ appId: null, partition: 0, from: 0 }]);
  expect([await stage.count("event"), await stage.ledger()]).toEqual([8, { received: 8, stored: 8 }]);
});

test("every table is distributed by app, on every machine, or on the coordinator alone", async () => {
  const names = (await listTables(stage.pool, "all")).map(({ name, partition }) => partition?.of ?? name);
  const { rows } = await stage.pool.query("select relname from pg_class where relkind = 'p'");
  const all = new Set([...names, ...rows.map(({ relname }) => relname)]);
  expect([...DISTRIBUTED, ...EVERYWHERE, ...ON_COORDINATOR].sort()).toEqual([...all].sort());
});

test("every key of a distributed table begins with the app or holds it", async () => {
  const { rows } = await stage.pool.query(
    `select c.relname as table, i.relname as index from pg_index x join pg_class c on c.oid = x.indrelid
      join pg_class i on i.oid = x.indexrelid
      where x.indisunique and c.relname = any($1) and not exists (select 1 from pg_attribute a
        where a.attrelid = c.oid and a.attname = 'app_id' and a.attnum = any(x.indkey))`,
    [[...DISTRIBUTED]],
  );
  expect(rows).toEqual([]);
});
