import { type Command, Option } from "commander";
import { systemClock } from "../../clock.ts";
import {
  type AdminUser,
  CONSOLE_ROLES,
  type ConsoleRole,
  changeRole,
  countAdmins,
  createAdminUser,
  createSetupLink,
  findAdminUser,
  loadAdminUsers,
  removeAdminUser,
} from "../../db/admin-user.ts";
import { inTransaction } from "../../db/engine/pool.ts";
import type { Executor } from "../../db/engine/sql.ts";
import { loadInstallation, raiseAdminTokenGeneration } from "../../db/installation.ts";
import { UsageError } from "../../errors.ts";
import { adminToken } from "../../http/admin/admin-token.ts";
import { noteCommand } from "../audit.ts";
import { listOf, print, tableOf } from "../output.ts";
import { type DatabaseSession, withDatabase } from "../session.ts";

type Json = { json?: boolean };

export function adminCommands(program: Command): void {
  const admin = program.command("admin").description("The admin interface and the people of the console");

  admin
    .command("token")
    .description("Print the token that /admin/api/v1 asks for: Authorization: Bearer <token>")
    .option("--new", "revoke every admin token handed out so far, at once, and print a new one")
    .option("--json", "print JSON")
    .action((options: { new?: boolean } & Json) =>
      withDatabase(async (session) => {
        await noteCommand(session, options.new ? "admin token --new" : "admin token");
        const generation = options.new ? await raiseAdminTokenGeneration(session.pool) : undefined;
        const token = await adminTokenFor(session, generation);
        print({ admin_token: token }, options, () => token);
      }),
    );

  admin
    .command("link [name]")
    .description("Print a one-time link that sets a password: of the first admin, or of somebody who has forgotten it")
    .option("--json", "print JSON")
    .action((name: string | undefined, options: Json) =>
      withDatabase(async (session) => {
        await noteCommand(session, "admin link", { details: { name: name ?? "" } });
        const token = await setupToken(session, name);
        print({ setup_token: token }, options, () => `/console/setup#${token}`);
      }, "first"),
    );

  userCommands(admin.command("user").description("People of the console"));
}

/** The token that counts now. */
export async function adminTokenFor({ pool, vault }: DatabaseSession, generation?: number): Promise<string> {
  return adminToken(vault, generation ?? (await loadInstallation(pool))?.adminTokenGeneration);
}

async function setupToken({ pool }: DatabaseSession, name: string | undefined): Promise<string> {
  const user = name === undefined ? undefined : await findAdminUser(pool, name);
  if (name !== undefined && !user) throw nobody(name);
  if (!user && (await countAdmins(pool)) > 0) {
    throw new UsageError(
      "There is an admin already: `admin link NAME` makes a link for somebody; `admin user list` shows all.",
    );
  }
  return inTransaction(pool, (tx) => createSetupLink(tx, { userId: user?.userId ?? null, nowMs: systemClock() }));
}

function userCommands(user: Command): void {
  const role = () => new Option("--role <role>", "what they may do").choices([...CONSOLE_ROLES]).makeOptionMandatory();

  user
    .command("list")
    .description("Everybody who can sign in")
    .option("--json", "print JSON")
    .action((options: Json) =>
      withDatabase(async ({ pool }) => {
        const rows = (await loadAdminUsers(pool)).map(shownUser);
        print(rows, options, () => tableOf(rows));
      }),
    );

  user
    .command("add <name>")
    .description("Add somebody; prints the one-time link that sets the password")
    .addOption(role())
    .option("--json", "print JSON")
    .action((name: string, options: { role: ConsoleRole } & Json) =>
      withDatabase(async ({ pool }) => {
        const nowMs = systemClock();
        const made = await inTransaction(pool, async (tx) => {
          await noteCommand({ pool: tx }, "admin user add", { details: { name, role: options.role } });
          // No password has this hash: only the link can set one.
          const added = await createAdminUser(tx, { name, role: options.role, passwordHash: "none", nowMs });
          if (!added) throw new UsageError(`There is a user ${JSON.stringify(name)} already.`);
          return { ...shownUser(added), setup_token: await createSetupLink(tx, { userId: added.userId, nowMs }) };
        });
        print(made, options, () => listOf({ ...made, link: `/console/setup#${made.setup_token}` }));
      }, "first"),
    );

  user
    .command("role <name>")
    .description("Change what somebody may do")
    .addOption(role())
    .option("--json", "print JSON")
    .action((name: string, options: { role: ConsoleRole } & Json) =>
      changeAndKeepAdmin(name, options, (tx) => changeRole(tx, { name, role: options.role })),
    );

  user
    .command("remove <name>")
    .description("Take somebody away; their sessions end at once")
    .option("--json", "print JSON")
    .action((name: string, options: Json) => changeAndKeepAdmin(name, options, (tx) => removeAdminUser(tx, name)));
}

async function changeAndKeepAdmin(
  name: string,
  options: Json,
  change: (tx: Executor) => Promise<boolean>,
): Promise<void> {
  await withDatabase(async ({ pool }) => {
    await inTransaction(pool, async (tx) => {
      if (!(await change(tx))) throw nobody(name);
      if ((await countAdmins(tx)) === 0) throw new UsageError("The last admin stays an admin.");
    });
    const rows = (await loadAdminUsers(pool)).map(shownUser);
    print(rows, options, () => tableOf(rows));
  });
}

function nobody(name: string): UsageError {
  return new UsageError(`There is no user ${JSON.stringify(name)}; \`admin user list\` shows them.`);
}

function shownUser({ name, role, createdAtMs }: AdminUser) {
  return { name, role, created_at: createdAtMs };
}
