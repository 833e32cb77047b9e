import pg from "pg";
import { embeddedConnection, superuserConnection } from "../../src/db/engine/embedded-role.ts";

/**
 * Allows the server's role in an embedded cluster to create databases and roles for tests. By default it may not, because it
 * needs nothing beyond its own database.
 */
export async function allowDatabases(dataDir: string): Promise<void> {
  const [server, superuser] = [embeddedConnection(dataDir), superuserConnection(dataDir)];
  if (server?.kind !== "local" || !superuser) throw new Error(`${dataDir} has no database of its own.`);
  const { kind: _, ...login } = superuser;
  const client = new pg.Client(login);
  await client.connect();
  await client.query(`alter role ${server.user} createdb createrole`);
  await client.end();
}
