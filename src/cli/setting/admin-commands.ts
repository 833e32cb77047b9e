import { type Command, InvalidArgumentError, Option } from "commander";
import type { Desk } from "../../admin/desk.ts";
import { renewAdminToken, showAdminToken } from "../../admin/session/admin-token.ts";
import {
  addPerson,
  changePersonRole,
  linkFirstAdmin,
  linkPerson,
  removePerson,
  signOutPerson,
} from "../../admin/session/people.ts";
import { resetSecondFactor } from "../../admin/session/second-factor.ts";
import type { ShownGrant } from "../../contract/setting/session.ts";
import { type AdminUser, countAdmins, loadAdminUsers } from "../../db/admin-user.ts";
import { type Grants, ROLES, type Role } from "../../domain/access/role.ts";
import { UsageError } from "../../errors.ts";
import { deskOf } from "../desk.ts";
import { listOf, print, tableOf } from "../output.ts";
import { type DatabaseSession, withDatabase } from "../session.ts";
import { apiTokenCommands } from "./api-token-commands.ts";

type Json = { json?: boolean };

export function adminCommands(program: Command): void {
  const admin = program.command("admin").description("The admin interface and the people of the console");

  admin
    .command("token")
    .description("Print the token for /admin/api/v1, which goes into the header Authorization: Bearer <token>")
    .option("--new", "revoke every admin token handed out so far, at once, and print a new one")
    .option("--json", "print JSON")
    .action((options: { new?: boolean } & Json) =>
      withDatabase(async (session) => {
        const desk = deskOf(session);
        const token = await (options.new ? renewAdminToken(desk) : showAdminToken(desk));
        print({ admin_token: token }, options, () => token);
      }),
    );

  admin
    .command("link [name]")
    .description("Print a one-time link to set a password: for the first admin, or for a person who forgot theirs")
    .option("--json", "print JSON")
    .action((name: string | undefined, options: Json) =>
      withDatabase(async (session) => {
        const token = await setupToken(session, name);
        print({ setup_token: token }, options, () => `/console/setup#${token}`);
      }),
    );

  apiTokenCommands(admin.command("api-token").description("Tokens for programs"));
  userCommands(admin.command("user").description("People of the console"));
}

async function setupToken(session: DatabaseSession, name: string | undefined): Promise<string> {
  if (name !== undefined) return (await linkPerson(deskOf(session), { name })).setupToken;
  if ((await countAdmins(session.pool)) > 0) {
    throw new UsageError(
      "There is already an admin: `admin link NAME` makes a link for a person; `admin user list` shows all people.",
    );
  }
  return linkFirstAdmin(deskOf(session));
}

function userCommands(user: Command): void {
  const role = () =>
    new Option("--role <role[=apps]>", `${ROLES.join(", ")}: for all apps, or for some, as in analyst=1,2; repeatable`)
      .argParser(readRole)
      .makeOptionMandatory();

  user
    .command("list")
    .description("List everybody who can sign in")
    .option("--json", "print JSON")
    .action((options: Json) =>
      withDatabase(async ({ pool }) => {
        const rows = (await loadAdminUsers(pool)).map(shownUser);
        print(rows, options, () => tableOf(rows));
      }),
    );

  user
    .command("add <name>")
    .description("Add a person; prints the one-time link that sets the password")
    .addOption(role())
    .option("--json", "print JSON")
    .action((name: string, options: { role: ShownGrant[] } & Json) =>
      withDatabase(async (session) => {
        const { user: added, setupToken: setup_token } = await addPerson(deskOf(session), {
          name,
          grants: options.role,
        });
        const made = { ...shownUser(added), setup_token };
        print(made, options, () => listOf({ ...made, link: `/console/setup#${made.setup_token}` }));
      }, "first"),
    );

  user
    .command("role <name>")
    .description("Give a person other roles instead of the earlier ones; their sessions end")
    .addOption(role())
    .option("--json", "print JSON")
    .action((name: string, options: { role: ShownGrant[] } & Json) =>
      changePeople(options, (desk) => changePersonRole(desk, { name, grants: options.role })),
    );

  user
    .command("sign-out <name>")
    .description("End all sessions of a person, and revoke their tokens for programs")
    .option("--json", "print JSON")
    .action((name: string, options: Json) =>
      withDatabase(async (session) => {
        const ended = await signOutPerson(deskOf(session), { name });
        print({ ended }, options, () => `${ended} sessions ended.`);
      }),
    );

  user
    .command("reset-second-factor <name>")
    .description("Remove the second factor of a person who has lost it; their sessions and tokens end")
    .option("--json", "print JSON")
    .action((name: string, options: Json) => changePeople(options, (desk) => resetSecondFactor(desk, { name })));

  user
    .command("remove <name>")
    .description("Remove a person; their sessions end at once")
    .option("--json", "print JSON")
    .action((name: string, options: Json) => changePeople(options, (desk) => removePerson(desk, { name })));
}

/** Makes a change, then prints everybody. */
async function changePeople(options: Json, change: (desk: Desk) => Promise<void>): Promise<void> {
  await withDatabase(async (session) => {
    await change(deskOf(session));
    const rows = (await loadAdminUsers(session.pool)).map(shownUser);
    print(rows, options, () => tableOf(rows));
  });
}

function shownUser({ name, grants, hasSecondFactor, createdAtMs }: AdminUser) {
  return { name, roles: roleText(grants), second_factor: hasSecondFactor ? "on" : "off", created_at: createdAtMs };
}

/** Roles as `--role` takes them, one after the other. */
export function roleText(grants: Grants): string {
  const texts = ROLES.flatMap((role) => {
    const apps = grants.filter((grant) => grant.role === role).map(({ appId }) => appId);
    const named = apps.filter((appId) => appId !== null);
    return [...(apps.includes(null) ? [role] : []), ...(named.length > 0 ? [`${role}=${named.join(",")}`] : [])];
  });
  return texts.join(" ");
}

function readRole(text: string, before: ShownGrant[] = []): ShownGrant[] {
  const [role = "", apps] = text.split("=");
  if (!ROLES.includes(role as Role)) throw new InvalidArgumentError(`The roles are ${ROLES.join(", ")}.`);
  if (apps !== undefined && !/^\d{1,10}(,\d{1,10})*$/.test(apps))
    throw new InvalidArgumentError("Apps are named by their ids, as in analyst=1,2.");
  const ids = apps === undefined ? [null] : apps.split(",").map(Number);
  return [...before, ...ids.map((app_id) => ({ app_id, role: role as Role }))];
}
