import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { expect, test } from "vitest";
import { copyRows } from "../../src/db/engine/copy.ts";
import { startEmbeddedPostgres } from "../../src/db/engine/embedded.ts";
import { embeddedConnection, type LocalConnection, superuserConnection } from "../../src/db/engine/embedded-role.ts";
import { createLog } from "../../src/log.ts";
import { prepareDataDir } from "../support/prepared.ts";
import { sharedServer } from "../support/shared-server.ts";
import { cleanUp } from "../support/touchpoint.ts";

const log = createLog("silent");

async function connected<T>(connection: unknown, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const { kind: _, ...login } = connection as LocalConnection;
  const client = new pg.Client(login);
  await client.connect();
  return work(client).finally(() => client.end());
}

const mayDo = async (client: pg.Client) => {
  const { rows } = await client.query(
    "select rolname, rolsuper, rolcreaterole, rolcreatedb from pg_roles where rolname = current_user",
  );
  return rows[0];
};

test("a cluster that was served by the superuser is moved to a role that only owns its tables", async () => {
  const dataDir = prepareDataDir();
  try {
    await asEarlierVersions(dataDir);
    const again = await startEmbeddedPostgres({ dataDir, log });
    expect(embeddedConnection(dataDir)).toEqual(again.connection);
    expect(existsSync(join(dataDir, "postgres.log.1")), "what was logged before").toBe(false);
    await connected(again.connection, async (client) => {
      expect(await mayDo(client)).toEqual({
        rolname: "touchpoint_server",
        rolsuper: false,
        rolcreaterole: false,
        rolcreatedb: false,
      });
      const owners = await client.query(
        `select distinct pg_get_userbyid(relowner) as owner from pg_class
          where relnamespace = 'public'::regnamespace and relkind in ('r', 'p', 'S')`,
      );
      expect(owners.rows).toEqual([{ owner: "touchpoint_server" }]);
      await client.query("create table later partition of event for values from ('2024-06-15') to ('2024-06-16')");
      await client.query("drop table later, earlier");
      for (const beyond of [
        "copy app to '/tmp/touchpoint-never'",
        "copy app to program 'true'",
        "alter system reset all",
      ])
        await expect(client.query(beyond)).rejects.toMatchObject({ code: "42501" });
    });
    await again.stop();
  } finally {
    await cleanUp(dataDir);
  }
});

/** Removes the role again, and leaves the files as they were before there was one. */
async function asEarlierVersions(dataDir: string): Promise<void> {
  const postgres = await startEmbeddedPostgres({ dataDir, log });
  const superuser = superuserConnection(dataDir)!;
  await connected(superuser, async (client) => {
    await client.query("create table earlier partition of event for values from ('2024-06-14') to ('2024-06-15')");
    await client.query("reassign owned by touchpoint_server to touchpoint");
    await client.query("alter database postgres owner to touchpoint");
    await client.query("drop role touchpoint_server");
  });
  await postgres.stop();
  writeFileSync(join(dataDir, "postgres-connection.json"), JSON.stringify(superuser));
  rmSync(join(dataDir, "postgres-superuser.json"));
  writeFileSync(join(dataDir, "postgres.log.1"), "ERROR: a value\n");
}

test("PostgreSQL's log of a failed statement holds no value, whatever the statement was", async () => {
  const { dataDir } = sharedServer();
  const mark = "marked-5d0c1e";
  const logged = () => readFileSync(join(dataDir, "postgres.log"), "utf8");
  const connection = embeddedConnection(dataDir) as LocalConnection;
  await connected(connection, async (client) => {
    await client.query("create temporary table held (name text primary key, number int, check (number < 10))");
    const insert = "insert into held values ($1, $2)";
    await client.query(insert, [mark, 1]);
    const failing: [string, unknown[]][] = [
      [insert, [mark, 1]],
      [insert, [`${mark}-2`, 11]],
      [insert, ["a", mark]],
      [`insert into held values ('${mark}', 1)`, []],
      [`select '${mark}'::date`, []],
      [`select jsonb_path_query('{}', '${mark} ! ')`, []],
      [`do $$ begin raise exception '${mark}'; end $$`, []],
      [`do $$ begin raise warning '${mark}'; end $$; select 1 / 0`, []],
    ];
    for (const [text, values] of failing) await expect(client.query(text, values), text).rejects.toThrow();
    const copying = copyRows(client as unknown as pg.PoolClient, { table: "held", columns: "name, number" }, [
      `${mark}-3\t${mark}`,
    ]);
    await expect(copying).rejects.toThrow(/invalid input syntax/);
  });
  // It is the right log, and what has nothing to do with values is still there.
  await expect(connected({ ...connection, user: "nobody_at_all" }, async () => {})).rejects.toThrow();
  await expect.poll(logged).toContain('"nobody_at_all"');
  expect(logged()).not.toContain(mark);
});

test("an embedded database is served by a role that is no superuser", async () => {
  const role = await connected(embeddedConnection(sharedServer().dataDir), mayDo);
  expect(role).toMatchObject({ rolname: "touchpoint_server", rolsuper: false });
});
