import { Type } from "typebox";
import { findByIdentity, hasIdentityAt, linkIdentity } from "../../db/admin-identity.ts";
import {
  type AdminUser,
  countAdmins,
  createAdminUser,
  findAdminUser,
  loadAdminUser,
  lockAdmins,
  NO_PASSWORD,
  replaceGrants,
} from "../../db/admin-user.ts";
import type { Executor } from "../../db/engine/sql.ts";
import { type Grants, strongestGrants } from "../../domain/access/role.ts";
import { ApiError } from "../../errors.ts";
import { LIMITS } from "../../limits.ts";
import { act } from "../desk.ts";
import { endAccessOf } from "./access.ts";
import { type EntryDesk, type Opened, opened } from "./sessions.ts";

/** Who somebody is at the identity provider, see outbound/identity-provider.ts. */
type Identity = { issuer: string; subject: string; email: string | undefined; groups: readonly string[] };

/** Who may come in from the provider, and with which roles. */
export type IdentityRules = {
  /** `known`: people whom an admin has added. `create`: everybody whose groups have a role. */
  people: "known" | "create";
  /** Roles by group. When there are any, they replace the person's roles at every sign-in. */
  roles: ReadonlyMap<string, Grants>;
};

/** `left`: a known person none of whose groups has a role any more. They are refused, and what they had is taken. */
export type Entered = { kind: "entered"; opened: Opened } | { kind: "left"; user: AdminUser };

type Noted = Entered & { grants: Grants | undefined; person?: FirstTime; hasChanged: boolean };

/** What the first sign-in of an identity has done with the person. */
type FirstTime = "linked" | "created";

/** Opens a session for somebody who has signed in at the identity provider. */
export function signInByIdentity(desk: EntryDesk, identity: Identity, rules: IdentityRules): Promise<Entered> {
  const { issuer, subject } = identity;
  return act<ReturnType<typeof Type.Object>, Noted>(desk, {
    action: "session/oidc/return",
    schema: Type.Object({}),
    body: {},
    noted: ({ kind, grants, person }) => ({
      issuer,
      subject,
      ...(person && { person }),
      ...(kind === "left" && { refused: "no role" }),
      ...(grants && { grants }),
    }),
    isNoted: ({ hasChanged }) => hasChanged,
    actorOf: (done) => (done.kind === "left" ? done.user : done.opened.user).name,
    run: async (tx) => {
      const given = grantsOf(identity, rules);
      const known = await findByIdentity(tx, identity);
      if (given?.length === 0) return turnedAway(tx, desk, known);
      const first = known ? undefined : await linked(tx, identity, { rules, given, nowMs: desk.clock() });
      const user = known ?? first!.user;
      const hasOthers = given !== undefined && (await tookRoles(tx, user, given));
      const present = hasOthers ? (await loadAdminUser(tx, user.userId))! : user;
      return {
        kind: "entered",
        opened: await opened(tx, desk, present, "oidc"),
        grants: hasOthers || first ? present.grants : undefined,
        ...(first && { person: first.person }),
        hasChanged: true,
      };
    },
  });
}

/** The roles of the person's groups, or undefined when roles are given here. */
function grantsOf({ groups }: Identity, { roles }: IdentityRules): Grants | undefined {
  return roles.size === 0 ? undefined : strongestGrants(groups.flatMap((group) => roles.get(group) ?? []));
}

/** Takes the roles, sessions and tokens of a known person. A refusal instead would roll that back. */
async function turnedAway(tx: Executor, desk: EntryDesk, user: AdminUser | undefined): Promise<Noted> {
  if (!user) throw noRole();
  const grants = (await tookRoles(tx, user, [])) ? [] : undefined;
  const ended = await endAccessOf(tx, { ...desk, by: { ...desk.by, name: user.name } }, user);
  return { kind: "left", user, grants, hasChanged: grants !== undefined || ended > 0 };
}

export function noRole(): ApiError {
  return new ApiError("notGranted", "None of your groups at the identity provider has a role here.");
}

/** The first time: the person is found by a verified e-mail address, or made. */
async function linked(
  tx: Executor,
  { issuer, subject, email }: Identity,
  { rules, given, nowMs }: { rules: IdentityRules; given: Grants | undefined; nowMs: number },
): Promise<{ user: AdminUser; person: FirstTime }> {
  if (email === undefined) {
    throw new ApiError(
      "notGranted",
      "The identity provider does not say that your e-mail address is verified, so you cannot be recognised. Ask an admin.",
    );
  }
  assertPlain(email);
  const known = await findAdminUser(tx, email);
  if (known && (await hasIdentityAt(tx, known.userId, issuer)))
    throw new ApiError(
      "notGranted",
      `${known.name} is linked with another account of the identity provider. Ask an admin.`,
    );
  const made =
    known ??
    (rules.people === "create" && given
      ? await createAdminUser(tx, { name: email, grants: given, passwordHash: NO_PASSWORD, nowMs })
      : undefined);
  if (!made) throw new ApiError("notGranted", `There is no person named ${email} here. Ask an admin to add you.`);
  await linkIdentity(tx, { issuer, subject, userId: made.userId, nowMs });
  return { user: made, person: known ? "linked" : "created" };
}

/**
 * Refuses an address that is not a person's name as it stands. Names are compared without Unicode variants, so another
 * one could belong to somebody else at the provider and yet be the same name here.
 */
function assertPlain(email: string): void {
  if (email.length > LIMITS.personNameLength)
    throw new ApiError("notGranted", `Your e-mail address has more than ${LIMITS.personNameLength} characters.`);
  if (!/^[\x21-\x7e]+$/.test(email))
    throw new ApiError(
      "notGranted",
      "Your e-mail address has other characters than plain ASCII, so you cannot be recognised by it. Ask an admin.",
    );
}

/** Gives the person the roles of their groups. The last admin of all apps stays one. Returns whether anything changed. */
async function tookRoles(tx: Executor, user: AdminUser, given: Grants): Promise<boolean> {
  if (textOf(user.grants) === textOf(given)) return false;
  await lockAdmins(tx);
  await replaceGrants(tx, user.userId, given);
  if ((await countAdmins(tx)) > 0 || !user.grants.some(({ appId, role }) => appId === null && role === "admin"))
    return true;
  await replaceGrants(tx, user.userId, user.grants);
  return false;
}

function textOf(grants: Grants): string {
  const rows = grants.map(({ appId, role }) => `${appId} ${role}`);
  return rows.sort().join();
}
