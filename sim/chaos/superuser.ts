import pg from "pg";
import { embeddedConnection, superuserConnection } from "../../src/db/engine/embedded-role.ts";

/**
 * Lets the server's role of an embedded cluster make databases, and roles to test with. It may not by itself: it needs
 * nothing beside its own database.
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
