import type { Command } from "commander";
import type pg from "pg";
import { systemClock } from "../../clock.ts";
import { configFromEnvironment } from "../../config.ts";
import { directConnection, openDatabase } from "../../db/engine/database.ts";
import { hasCitus, isDistributed, planDistribution } from "../../db/engine/distribute.ts";
import { loadAppPlaces, loadMachines, planRebalance, rebalance } from "../../db/engine/distribution-status.ts";
import { listPending } from "../../db/engine/migrate.ts";
import { openPool } from "../../db/engine/pool.ts";
import { UsageError } from "../../errors.ts";
import { createLog } from "../../log.ts";
import { keepViews } from "../../report/view/views.ts";
import { print, tableOf } from "../output.ts";
import { withDatabase } from "../session.ts";
import { viewCommands } from "./view-commands.ts";

type Options = { json?: boolean; dryRun?: boolean };

export function databaseCommands(program: Command): void {
  const database = program.command("database").description("The tables: their version, and where they are");
  database
    .command("migrate")
    .description("Bring the tables of DATABASE_URL up to this version, and distribute them where Citus is installed")
    .option("--dry-run", "only show what would be done")
    .option("--json", "print JSON")
    .action((options: Options) => (options.dryRun ? showPending(options) : migrateNow()));
  database
    .command("status")
    .description("Show where each app is, and how much each machine holds")
    .option("--json", "print JSON")
    .action((options: Options) => withDatabase(({ pool }) => showStatus(pool, options)));
  database
    .command("rebalance")
    .description("Spread the apps evenly over the machines, after one was added. Writes to an app wait while it moves")
    .option("--dry-run", "only show what would move")
    .option("--json", "print JSON")
    .action((options: Options) => withDatabase(({ pool }) => rebalanceNow(pool, options)));
  viewCommands(database);
}

function externalConfig() {
  const config = configFromEnvironment();
  if (config.databaseUrl === "")
    throw new UsageError("The server migrates its own database when it starts. This command is for DATABASE_URL.");
  return config;
}

async function showPending(options: Options): Promise<void> {
  const connection = await directConnection(externalConfig());
  const pool = openPool(connection, { log: { warn: () => {} }, connectionsMax: 1, name: "cli" });
  try {
    const migrations = (await listPending(pool)).map((name) => ({ step: "migrate", what: name, bytes: 0 }));
    const tables = await planDistribution(pool);
    const moves = tables.map(({ table, kind, bytes }) => ({
      step: kind === "distributed" ? "distribute by app" : "put on every machine",
      what: table,
      bytes,
    }));
    const steps = [...migrations, ...moves];
    print(steps, options, () => tableOf(steps));
  } finally {
    await pool.end();
  }
}

async function migrateNow(): Promise<void> {
  const log = createLog("info");
  const database = await openDatabase(externalConfig(), {
    log,
    clock: systemClock,
    filled: "distribute",
    afterMigrate: (pool) => keepViews(pool, log),
  });
  await database.stop();
}

async function showStatus(pool: pg.Pool, options: Options): Promise<void> {
  if (!(await isDistributed(pool))) {
    const text = (await hasCitus(pool))
      ? "Citus is installed, but nothing is distributed yet: run `database migrate`."
      : "The tables are in one database, which is not distributed.";
    return print({ distributed: false }, options, () => text);
  }
  const machines = (await loadMachines(pool)).map(({ machine, isActive, shards, bytes }) => ({
    machine,
    active: isActive,
    shards,
    bytes,
  }));
  const apps = (await loadAppPlaces(pool)).map(({ appId, name, machine, shardId, bytes }) => ({
    app_id: appId,
    name,
    machine,
    shard: shardId,
    bytes,
  }));
  print({ distributed: true, machines, apps }, options, () => `${tableOf(machines)}\n\n${tableOf(apps)}`);
}

async function rebalanceNow(pool: pg.Pool, options: Options): Promise<void> {
  if (!(await isDistributed(pool)))
    throw new UsageError("The database is not distributed: there is nothing to spread.");
  const moves = (await planRebalance(pool)).map(({ table, shardId, bytes, from, to }) => ({
    shard: shardId,
    with: table,
    bytes,
    from,
    to,
  }));
  if (!options.dryRun && moves.length > 0) await rebalance(pool);
  print(moves, options, () => tableOf(moves));
}
