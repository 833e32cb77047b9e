import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inject } from "vitest";
import type { TestProject } from "vitest/node";
import { allowDatabases } from "../../sim/chaos/superuser.ts";
import { systemClock } from "../../src/clock.ts";
import { embeddedConnection } from "../../src/db/engine/embedded-role.ts";
import { migrate } from "../../src/db/engine/migrate.ts";
import type { Connection } from "../../src/db/server/server.ts";
import { openKeys } from "../../src/installation.ts";
import { createLog } from "../../src/log.ts";
import { CITUS_URL, distributedUrl } from "./citus.ts";
import { stopKept } from "./kept-server.ts";
import { makeTemplate, prepareDataDir } from "./prepared.ts";
import { cleanUp, Touchpoint, TouchpointProcess } from "./touchpoint.ts";

declare module "vitest" {
  interface ProvidedContext {
    sharedServer: { url: string; dataDir: string };
    /** The folder that workers leave to be removed after the run: browser profiles, and the names of servers (kept-server.ts). */
    runDir: string;
  }
}

/** One real server with its embedded PostgreSQL for all tests that do not need their own. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const runDir = mkdtempSync(join(tmpdir(), "touchpoint-run-"));
  project.provide("runDir", runDir);
  const template = await makeTemplate();
  project.provide("template", template);
  const server = await TouchpointProcess.start({ dataDir: prepareDataDir(template) });
  await allowDatabases(server.dataDir);
  await makeMigrated(new Touchpoint(server));
  project.provide("sharedServer", { url: server.url, dataDir: server.dataDir });
  return async () => {
    const code = await server.stop();
    await cleanUp(server.dataDir);
    await cleanUp(template);
    await stopKept(runDir);
    // A browser that was just told to end may still write.
    rmSync(runDir, { recursive: true, force: true, maxRetries: 10 });
    if (code !== 0) throw new Error(`The shared server ended with ${code}:\n${server.output}`);
  };
}

/** The key that seals secrets in the tests' own databases. */
export const TEST_KEY = { dataDir: "", secretKey: "c3".repeat(32) };

/** A database that others are copied from: creating its tables takes far longer. */
export const MIGRATED = "migrated";

async function makeMigrated(server: Touchpoint): Promise<void> {
  const cluster = server.database();
  await cluster.query(`create database ${MIGRATED}`);
  await cluster.end();
  const pool = server.database(MIGRATED);
  await migrate(pool, { log: createLog("silent"), clock: systemClock });
  await openKeys(pool, TEST_KEY, "first");
  await pool.end();
}

let shared: Touchpoint | undefined;

/** One for all files of a worker, with its connections. */
export function sharedServer(): Touchpoint {
  shared ??= new Touchpoint(inject("sharedServer"));
  return shared;
}

/** How a process of its own reaches a test's database. */
export function connectionTo(name: string): Connection {
  if (CITUS_URL !== "") return { kind: "url", url: distributedUrl(name), sessions: "own" };
  const connection = embeddedConnection(sharedServer().dataDir);
  if (connection?.kind !== "local") throw new Error("The shared server has no database of its own.");
  return { ...connection, database: name };
}

/** DATABASE_URL of a database on the shared server's cluster, for a server without its own. */
export function databaseUrl(name: string, login?: string): string {
  if (CITUS_URL !== "") return distributedUrl(name);
  const connection = embeddedConnection(sharedServer().dataDir);
  if (connection?.kind !== "local") throw new Error("The shared server has no database of its own.");
  const { user, password, host, port } = connection;
  return `postgres://${login ?? `${user}:${password}`}@localhost:${port}/${name}?host=${encodeURIComponent(host)}`;
}
