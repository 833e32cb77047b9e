import { type Static, Type } from "typebox";
import { consoleUserBody, consoleUserNameBody } from "../../contract/setting/session.ts";
import {
  type AdminUser,
  countAdmins,
  createAdminUser,
  createSetupLink,
  findAdminUser,
  lockAdmins,
  NO_PASSWORD,
  nameOf,
  removeAdminUser,
  replaceGrants,
} from "../../db/admin-user.ts";
import { endSessionsOf } from "../../db/console-session.ts";
import type { Executor } from "../../db/engine/sql.ts";
import type { Grants } from "../../domain/access/role.ts";
import { ApiError } from "../../errors.ts";
import { assertApps } from "../apps.ts";
import { act, assertName, type Desk } from "../desk.ts";
import { endAccessOf } from "./access.ts";

type Person = Static<typeof consoleUserBody>;
type Named = Static<typeof consoleUserNameBody>;

/** A person of the console, and the token of the one-time link that sets their password. */
export type Invited = { user: AdminUser; setupToken: string };

/** Adds a person to the console. */
export function addPerson(desk: Desk, body: Person): Promise<Invited> {
  return act(desk, {
    action: "console-users/create",
    schema: consoleUserBody,
    body,
    run: async (tx) => {
      const { name } = body;
      assertName(nameOf(name));
      const grants = await readGrants(tx, body);
      const nowMs = desk.clock();
      const user = await createAdminUser(tx, { name, grants, passwordHash: NO_PASSWORD, nowMs });
      if (!user) throw new ApiError("badParameter", `There is already a person named ${JSON.stringify(nameOf(name))}.`);
      return { user, setupToken: await createSetupLink(tx, { userId: user.userId, nowMs }) };
    },
  });
}

/** Makes a new link for a person who forgot the password; earlier links become invalid. */
export function linkPerson(desk: Desk, body: Named): Promise<Invited> {
  return act(desk, {
    action: "console-users/link",
    schema: consoleUserNameBody,
    body,
    run: async (tx) => {
      const user = await findAdminUser(tx, body.name);
      if (!user) throw nobody(body);
      return { user, setupToken: await createSetupLink(tx, { userId: user.userId, nowMs: desk.clock() }) };
    },
  });
}

/** Makes the link by which the first admin signs up. Returns its token. */
export function linkFirstAdmin(desk: Desk): Promise<string> {
  return act(desk, {
    action: "console-users/link",
    schema: Type.Object({}),
    body: {},
    run: async (tx) => {
      if ((await countAdmins(tx)) > 0) throw new ApiError("badParameter", "There is already an admin.");
      return createSetupLink(tx, { userId: null, nowMs: desk.clock() });
    },
  });
}

/** Gives a person other roles, instead of the earlier ones. Their sessions end, except the one that asks for it. */
export function changePersonRole(desk: Desk, body: Person, ownSession?: string): Promise<void> {
  return act(desk, {
    action: "console-users/role",
    schema: consoleUserBody,
    body,
    run: async (tx) => {
      const before = await lockAdmins(tx);
      const user = await findAdminUser(tx, body.name);
      if (!user) throw nobody(body);
      await replaceGrants(tx, user.userId, await readGrants(tx, body));
      await endSessionsOf(tx, user.userId, ownSession);
      await assertAdminLeft(tx, before);
    },
  });
}

/** Removes a person; their sessions end at once. */
export function removePerson(desk: Desk, body: Named): Promise<void> {
  return act(desk, {
    action: "console-users/remove",
    schema: consoleUserNameBody,
    body,
    run: async (tx) => {
      const before = await lockAdmins(tx);
      if (!(await removeAdminUser(tx, body.name))) throw nobody(body);
      await assertAdminLeft(tx, before);
    },
  });
}

/** The roles of a body: each app once, and only apps that exist. */
async function readGrants(tx: Executor, { grants }: Person): Promise<Grants> {
  const read = grants.map(({ app_id: appId, role }) => ({ appId, role }));
  const twice = read.find(({ appId }, index) => read.findIndex((other) => other.appId === appId) !== index);
  if (twice) {
    const where = twice.appId === null ? "All apps have" : `App ${twice.appId} has`;
    throw new ApiError("badParameter", `grants: ${where} more than one role.`);
  }
  await assertApps(
    tx,
    read.flatMap(({ appId }) => (appId === null ? [] : [appId])),
  );
  return read;
}

/** Ends all sessions of a person, and their tokens. Returns the number of sessions. */
export function signOutPerson(desk: Desk, body: Named): Promise<number> {
  return act(desk, {
    action: "console-users/sign-out",
    schema: consoleUserNameBody,
    body,
    run: async (tx) => {
      const user = await findAdminUser(tx, body.name);
      if (!user) throw nobody(body);
      return endAccessOf(tx, desk, user);
    },
  });
}

/** Refuses to leave an installation without an admin, if it had one before. */
async function assertAdminLeft(tx: Executor, before: number): Promise<void> {
  if (before > 0 && (await countAdmins(tx)) === 0)
    throw new ApiError("badParameter", "There must be at least one admin of all apps.");
}

export function nobody({ name }: Named): ApiError {
  return new ApiError("badParameter", `There is no person named ${JSON.stringify(name)}.`);
}
