import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto";
import { UsageError } from "../errors.ts";
import { type Executor, identifier, literal, query, type Sql, sql, withLiterals } from "./engine/sql.ts";

/** A role that may read the views of its schema, and nothing else. `password`: undefined keeps the one that it has. */
export type ViewRole = { role: string; password: string | undefined; connectionsMax: number; statementMs: number };

/** How long a transaction may be idle, and a statement may wait for a migration. */
const IDLE_MS = 60_000;
const LOCK_MS = 10_000;

const INSUFFICIENT_PRIVILEGE = "42501";

/** "kept": the role exists, and the user of the database may not change it. */
export type RoleState = "created" | "changed" | "kept";

/** Creates the role, or gives one that exists its limits. It must have no other rights. */
export async function prepareViewRole(admin: Executor, wanted: ViewRole): Promise<RoleState> {
  const known = await findRole(admin, wanted.role);
  if (known?.doesMore)
    throw new UsageError(`The role ${wanted.role} exists and may do more than read views: choose another --role.`);
  if (!known && wanted.password === undefined)
    throw new UsageError("A new role needs a password: --password @file, or - for standard input.");
  const statements = statementsFor(wanted, known ? "changed" : "created");
  try {
    for (const statement of statements) await admin.query(withLiterals(statement));
  } catch (error) {
    if (!isNotAllowed(error)) throw error;
    if (known && wanted.password === undefined) return "kept";
    throw new UsageError(
      `The user of the database may not do this to roles. Let an administrator run: ${helpFor(wanted)} Then run this again without --password.`,
    );
  }
  return known ? "changed" : "created";
}

/** Drops a role that has no rights any more. "kept": it may do something else, or the user may not drop it. */
export async function dropViewRole(admin: Executor, role: string): Promise<"dropped" | "kept"> {
  const known = await findRole(admin, role);
  if (known?.doesMore) return "kept";
  try {
    await admin.query(withLiterals(sql`drop role if exists ${identifier(role)}`));
    return "dropped";
  } catch (error) {
    if (!isNotAllowed(error)) throw error;
    return "kept";
  }
}

function isNotAllowed(error: unknown): boolean {
  return (error as { code?: string }).code === INSUFFICIENT_PRIVILEGE;
}

/** `doesMore`: it has privileges, owns something, or belongs to another role. */
async function findRole(admin: Executor, role: string): Promise<{ doesMore: boolean } | undefined> {
  const [row] = await query<{ doesMore: boolean }>(
    admin,
    sql`select r.rolsuper or r.rolcreaterole or r.rolcreatedb or r.rolreplication or r.rolbypassrls
        or r.rolname = current_user or exists (select 1 from pg_auth_members m where m.member = r.oid)
        or exists (select 1 from pg_class c where c.relowner = r.oid)
        or exists (select 1 from pg_database d where d.datdba = r.oid) as does_more
      from pg_roles r where r.rolname = ${role}`,
  );
  return row;
}

/** What gives the role its limits. */
function statementsFor({ role, password, connectionsMax, statementMs }: ViewRole, state: "created" | "changed"): Sql[] {
  const name = identifier(role);
  const setting = (key: string, value: Sql) => sql`alter role ${name} set ${identifier(key)} = ${value}`;
  return [
    ...(state === "created" ? [sql`create role ${name}`] : []),
    sql`alter role ${name} login connection limit ${literal(connectionsMax)}`,
    // Hashed here: the statement may be logged, and must not tell the password.
    ...(password === undefined ? [] : [sql`alter role ${name} password ${scramVerifier(password)}`]),
    setting("default_transaction_read_only", sql`on`),
    setting("statement_timeout", literal(statementMs)),
    setting("idle_in_transaction_session_timeout", literal(IDLE_MS)),
    setting("lock_timeout", literal(LOCK_MS)),
    setting("search_path", name),
    setting("jit", sql`off`),
  ];
}

function helpFor(wanted: ViewRole): string {
  const statements = statementsFor({ ...wanted, password: undefined }, "created").map(withLiterals);
  return `${statements.join("; ")}; \\password ${wanted.role}.`;
}

const ITERATIONS = 4_096;

/** What PostgreSQL keeps of a password (RFC 5803), from which it cannot be read. */
export function scramVerifier(password: string, salt = randomBytes(16)): string {
  const salted = pbkdf2Sync(password, salt, ITERATIONS, 32, "sha256");
  const keyFor = (what: string) => createHmac("sha256", salted).update(what).digest();
  const stored = createHash("sha256").update(keyFor("Client Key")).digest("base64");
  const server = keyFor("Server Key").toString("base64");
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString("base64")}$${stored}:${server}`;
}
