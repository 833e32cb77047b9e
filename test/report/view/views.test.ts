import { readFileSync } from "node:fs";
import fc from "fast-check";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { embeddedConnection, withSuperuser } from "../../../src/db/engine/embedded-role.ts";
import { migrate } from "../../../src/db/engine/migrate.ts";
import type { Executor } from "../../../src/db/engine/sql.ts";
import { dropViewRole, prepareViewRole } from "../../../src/db/view-role.ts";
import { CALIBERS, type Caliber, CUBE_DIMENSIONS } from "../../../src/domain/cube.ts";
import { refreshOnce } from "../../../src/refresh/refresh.ts";
import { querySums } from "../../../src/report/ad/ad-report-query.ts";
import { MEASURES } from "../../../src/report/metric/measure-label.ts";
import { shownMeasure } from "../../../src/report/view/ad-report-view.ts";
import { createViews, dropViews, renewViews, VIEWS } from "../../../src/report/view/views.ts";
import { viewsMarkdown } from "../../../src/report/view/views-markdown.ts";
import { ApplyStage, NOW_MS, pay, track } from "../../db/apply-stage.ts";
import { enact } from "../../db/enact.ts";
import { log, makeApp } from "../../db/temp-database.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { markets } from "../market.ts";

/** Roles belong to the whole cluster, which other tests share. */
const ROLE = `bi_${process.pid}`;
const ONE_APP = `bi_one_${process.pid}`;
const PASSWORD = "a long password!";
const LIMITS = { connectionsMax: 2, statementMs: 61_000 };

let stage: ApplyStage;
beforeAll(async () => {
  stage = await ApplyStage.open();
  for (const role of [ROLE, ONE_APP])
    await asAdmin((admin) => prepareViewRole(admin, { role, password: PASSWORD, ...LIMITS }));
  await createViews(stage.pool, { role: ROLE, appId: undefined });
});
afterAll(async () => {
  for (const role of [ROLE, ONE_APP]) {
    await dropViews(stage.pool, role);
    await asAdmin((admin) => dropViewRole(admin, role));
  }
  await stage.close();
});

function asAdmin<T>(work: (admin: Executor) => Promise<T>): Promise<T> {
  return withSuperuser(sharedServer().dataDir, work);
}

async function connect(role: string): Promise<pg.Client> {
  const { kind: _, ...own } = embeddedConnection(sharedServer().dataDir) as { kind: string } & pg.ClientConfig;
  const client = new pg.Client({ ...own, database: stage.database.name, user: role, password: PASSWORD });
  client.on("error", () => {});
  await client.connect();
  return client;
}

type Rows = Record<string, unknown>[];
type Ask = (statement: string) => Promise<Rows>;

async function as<T>(role: string, work: (ask: Ask) => Promise<T>): Promise<T> {
  const client = await connect(role);
  try {
    return await work(async (statement) => (await client.query(statement)).rows);
  } finally {
    await client.end();
  }
}

test("the views have the columns that docs/BI.md lists", async () => {
  const { rows } = await stage.pool.query(
    `select table_name as view, column_name as name, data_type as type, col_description(format('%I.%I', table_schema, table_name)::regclass, ordinal_position) as says
      from information_schema.columns where table_schema = $1 order by ordinal_position`,
    [ROLE],
  );
  for (const { name, columns } of VIEWS)
    expect(rows.filter(({ view }) => view === name).map(({ view: _, ...column }) => column)).toEqual(
      columns.map(({ value: _, ...column }) => column),
    );
  expect(readFileSync(new URL("../../../docs/BI.md", import.meta.url), "utf8")).toContain(viewsMarkdown());
});

test("rows are those of the tables, and of one app where the views are restricted", async () => {
  await stage.begin();
  await stage.register("a");
  await stage.collect("a", [
    track("e", { n: 1 }),
    pay("o1", 600),
    track("$RefundEvent", { $order_id: "o1", $pay_amount: 50 }),
  ]);
  await stage.applyAll();
  const other = await makeApp(stage.pool);
  const { appId } = stage.app;
  await createViews(stage.pool, { role: ONE_APP, appId: other.appId });
  await as(ROLE, async (ask) => {
    expect(await ask("select app_id, client_id, ad_platform, registered_time from users")).toEqual([
      { app_id: appId, client_id: "a", ad_platform: "natural", registered_time: new Date(NOW_MS) },
    ]);
    expect(await ask("select trace_id, pay_cents, refund_cents, is_virtual from orders")).toEqual([
      { trace_id: "o1", pay_cents: 600, refund_cents: 50, is_virtual: false },
    ]);
    expect(await ask("select event from events where properties ->> 'n' = '1'")).toEqual([{ event: "e" }]);
    expect((await ask("select app_id from apps")).length).toBeGreaterThan(1);
  });
  await as(ONE_APP, async (ask) => {
    expect(await ask("select app_id from apps")).toEqual([{ app_id: other.appId }]);
    for (const view of ["users", "orders", "events", "costs", "ad_report"])
      expect(await ask(`select * from ${view}`)).toEqual([]);
  });
});

test("the role reads its views and nothing else", async () => {
  const { rows: tables } = await stage.pool.query(
    "select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema')",
  );
  expect(tables.length).toBeGreaterThan(50);
  await as(ROLE, async (ask) => {
    for (const { name } of tables) await expect(ask(`select * from ${name}`)).rejects.toMatchObject({ code: "42501" });
    await expect(ask(`select * from ${ONE_APP}.apps`)).rejects.toMatchObject({ code: "42501" });
    // Also without the limits, which a session may lift.
    await ask("set default_transaction_read_only = off");
    for (const statement of [
      "delete from users",
      "insert into apps (app_id) values (1)",
      "create table public.mine (n int)",
      `create table ${ROLE}.mine (n int)`,
      "select pg_read_file('postgresql.conf')",
      "copy apps to program 'cat'",
      "copy (select 1) to '/tmp/x'",
      "alter role current_user superuser",
      "set role touchpoint_server",
      "select * from pg_authid",
      "select lo_import('/etc/passwd')",
    ])
      await expect(ask(statement), statement).rejects.toMatchObject({
        code: expect.stringMatching(/^(42501|55000|0A000|428C9)$/),
      });
  });
});

test("the role has a time limit, reads only, and has few connections", async () => {
  const first = await connect(ROLE);
  const second = await connect(ROLE);
  try {
    const shown = async (name: string) => (await first.query(`show ${name}`)).rows[0][name];
    expect(await shown("statement_timeout")).toBe("61s");
    expect(await shown("default_transaction_read_only")).toBe("on");
    expect(await shown("search_path")).toBe(ROLE);
    await expect(connect(ROLE)).rejects.toMatchObject({ code: "53300" });
    const { rows } = await stage.pool.query(
      "select rolsuper or rolcreaterole or rolcreatedb as can from pg_roles where rolname = $1",
      [ROLE],
    );
    expect(rows).toEqual([{ can: false }]);
  } finally {
    await Promise.all([first.end(), second.end()]);
  }
});

test("a role that may do more, and a schema of somebody else, are left alone", async () => {
  const asked = { password: PASSWORD, ...LIMITS };
  await asAdmin(async (admin) => {
    await expect(prepareViewRole(admin, { role: "touchpoint_server", ...asked })).rejects.toThrow(/may do more/);
    await expect(prepareViewRole(admin, { role: `new_${process.pid}`, ...asked, password: undefined })).rejects.toThrow(
      /needs a password/,
    );
  });
  const powerless = await connect(ONE_APP);
  try {
    await powerless.query("set default_transaction_read_only = off");
    await expect(prepareViewRole(powerless, { role: `new_${process.pid}`, ...asked })).rejects.toThrow(
      /Let an administrator run: create role new_\d+; .*\\password/,
    );
    // What an administrator has made is used as it is.
    expect(await prepareViewRole(powerless, { role: ROLE, ...LIMITS, password: undefined })).toBe("kept");
    expect(await dropViewRole(powerless, ROLE)).toBe("kept");
  } finally {
    await powerless.end();
  }
  await expect(createViews(stage.pool, { role: "public", appId: undefined })).rejects.toThrow(/something else/);
  expect(await dropViews(stage.pool, "public")).toBe(false);
});

test("a migration drops the views, and the next start makes them anew", async () => {
  await createViews(stage.pool, { role: ONE_APP, appId: stage.app.appId });
  await stage.pool.query("delete from migration where name = '0055-lake-state.sql'");
  // What a view shows cannot be changed while it is there.
  await expect(stage.pool.query("alter table cost alter column clicks type numeric")).rejects.toThrow(/view/);
  await stage.pool.query("drop table lake_state");
  await migrate(stage.pool, { log, clock: () => NOW_MS });
  await as(ROLE, (ask) => expect(ask("select * from apps")).rejects.toThrow(/does not exist/));
  expect((await renewViews(stage.pool)).sort()).toEqual([ROLE, ONE_APP].sort());
  await as(ONE_APP, async (ask) => expect(await ask("select app_id from apps")).toEqual([{ app_id: stage.app.appId }]));
  expect(await renewViews(stage.pool)).toEqual([]);
});

async function reported(appId: number, caliber: Caliber): Promise<Map<string, unknown[]>> {
  const dimensions = ["date", ...CUBE_DIMENSIONS] as const;
  const question = {
    appId,
    fromDay: "2024-01-01",
    untilDay: "2025-01-01",
    dimensions,
    filter: { values: [], versions: [] },
    reading: { caliber, roiVersion: 1 as const },
  };
  const rows = await querySums(stage.pool, question, MEASURES);
  return new Map(rows.map(({ values, sums }) => [values.join("|"), MEASURES.map((name) => sums[name] ?? 0)]));
}

async function viewed(appId: number, caliber: Caliber): Promise<Map<string, unknown[]>> {
  const rows = await as(ROLE, (ask) =>
    ask(`select * from ad_report where app_id = ${appId} and caliber = '${caliber}'`),
  );
  const keyOf = (row: Rows[number]) => [row.day, ...CUBE_DIMENSIONS.map((name) => row[name])].join("|");
  return new Map(rows.map((row) => [keyOf(row), MEASURES.map((name) => row[shownMeasure(name).name])]));
}

test("the sums of ad_report are those of the ad report, every measure, for random markets", async () => {
  let seen = 0;
  await fc.assert(
    fc.asyncProperty(markets, async (market) => {
      const { appId } = await makeApp(stage.pool, market.timeZone);
      await enact(stage, appId, market);
      await refreshOnce(stage.pool);
      for (const caliber of CALIBERS) {
        const told = await reported(appId, caliber);
        expect(await viewed(appId, caliber)).toEqual(told);
        seen += told.size;
      }
    }),
    { numRuns: 4, endOnFailure: true },
  );
  expect(seen).toBeGreaterThan(10);
});
