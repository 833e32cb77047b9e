import { randomBytes } from "node:crypto";
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import pg from "pg";
import { UsageError } from "../../errors.ts";
import type { Log } from "../../log.ts";
import type { Connection } from "../server/server.ts";
import { query, sql } from "./sql.ts";

export type LocalConnection = Connection & { kind: "local" };

/** The role that creates the cluster and everything that only a superuser can. It never serves requests. */
export const SUPERUSER = "touchpoint";
/** The role that serves requests: it owns only the database and its tables, and cannot reach files or programs. */
const SERVER = "touchpoint_server";

const superuserFile = (dataDir: string) => join(dataDir, "postgres-superuser.json");
const connectionFile = (dataDir: string) => join(dataDir, "postgres-connection.json");

/** The connection to a cluster that another process runs. Once made, it is the same on every start. */
export function embeddedConnection(dataDir: string): Connection | undefined {
  return readConnection(connectionFile(dataDir));
}

/** The superuser's connection, for operators who must act by hand. */
export function superuserConnection(dataDir: string): LocalConnection | undefined {
  // The first versions served as the superuser and had only that connection.
  const known = readConnection(superuserFile(dataDir)) ?? readConnection(connectionFile(dataDir));
  return known?.user === SUPERUSER ? known : undefined;
}

export function storeSuperuser(dataDir: string, connection: LocalConnection): void {
  if (JSON.stringify(readConnection(superuserFile(dataDir))) === JSON.stringify(connection)) return;
  const isOld = !existsSync(superuserFile(dataDir)) && existsSync(connectionFile(dataDir));
  // Logs of earlier versions may hold property values, which could not be erased there.
  if (isOld) for (const end of ["", ".1"]) rmSync(join(dataDir, `postgres.log${end}`), { force: true });
  writeConnection(superuserFile(dataDir), connection);
}

/**
 * The connection that serves requests. Its role is created, and given everything that earlier versions created as the
 * superuser, before the file names it, so that a crash repeats that work.
 */
export async function serverConnection(
  options: { dataDir: string; log: Log },
  superuser: LocalConnection,
): Promise<LocalConnection> {
  const file = connectionFile(options.dataDir);
  const known = readConnection(file);
  const isMade = known?.user === SERVER;
  const password = isMade ? known.password : randomBytes(24).toString("hex");
  const connection = { ...superuser, user: SERVER, password };
  if (!isMade) await asSuperuser(superuser, (client) => makeServerRole(client, password, options.log));
  if (JSON.stringify(known) !== JSON.stringify(connection)) writeConnection(file, connection);
  return connection;
}

/** Works as the superuser of an embedded database that runs. */
export async function withSuperuser<T>(dataDir: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const superuser = superuserConnection(dataDir);
  if (!superuser) throw new UsageError(`There is no embedded database in ${dataDir}.`);
  return asSuperuser(superuser, work);
}

async function asSuperuser<T>(superuser: LocalConnection, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const { kind: _, ...local } = superuser;
  const client = new pg.Client(local);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/**
 * Creates the role. Errors in its sessions are returned to them but not written to PostgreSQL's log, because nearly
 * every message about a failed statement can quote a value. Errors in the background are still logged.
 */
async function makeServerRole(client: pg.Client, password: string, log: Log): Promise<void> {
  const known = await query(client, sql`select 1 from pg_roles where rolname = ${SERVER}`);
  if (known.length === 0) await client.query(`create role ${SERVER}`);
  // Iterations make guessing a person's password slower; this one is random, and they would make every connection slower.
  await client.query("set scram_iterations = 1");
  await client.query(
    `alter role ${SERVER} login nosuperuser nocreatedb nocreaterole noreplication nobypassrls password '${password}'`,
  );
  await client.query(`alter role ${SERVER} set log_min_messages = 'log'`);
  await client.query(`alter database postgres owner to ${SERVER}`);
  // Sequences of columns follow their tables. One statement at a time, because all at once would exceed the lock table.
  const moves = await query<{ statement: string }>(
    client,
    sql`select format('alter table %s owner to %I', c.oid::regclass, ${SERVER}::text) as statement from pg_class c
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'S')
        and c.relowner <> ${SERVER}::regrole and not exists (
          select 1 from pg_depend d where d.classid = 'pg_class'::regclass and d.objid = c.oid and d.deptype in ('a', 'i')
            and c.relkind = 'S')
      order by c.oid`,
  );
  for (const { statement } of moves) await client.query(statement);
  if (moves.length > 0) log.info({ tables: moves.length }, "The tables were given to a role that is not a superuser.");
}

function readConnection(file: string): LocalConnection | undefined {
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as LocalConnection) : undefined;
}

/** Writes the file under another name, renames it and syncs the folder: a crash leaves the old file or the new one. */
function writeConnection(file: string, connection: LocalConnection): void {
  writeFileSync(`${file}.draft`, JSON.stringify(connection), { mode: 0o600, flush: true });
  renameSync(`${file}.draft`, file);
  if (process.platform === "win32") return;
  const folder = openSync(dirname(file), "r");
  fsyncSync(folder);
  closeSync(folder);
}
