import type { Static } from "typebox";
import { passwordBody, setupBody, signInBody } from "../../contract/setting/session.ts";
import {
  type AdminUser,
  changePassword,
  countAdmins,
  createAdminUser,
  loadAdminUser,
  nameOf,
  takeSetupLink,
} from "../../db/admin-user.ts";
import { createSession } from "../../db/console-session.ts";
import type { Executor } from "../../db/engine/sql.ts";
import { everywhere } from "../../domain/access/role.ts";
import { ApiError } from "../../errors.ts";
import { act, type Desk } from "../desk.ts";

/** A person, and the token of the session that was opened for them. */
export type Opened = { user: AdminUser; session: string };

/** Opens a session for a person who gave the right password. */
export function signIn(desk: Desk, user: AdminUser, body: Static<typeof signInBody>): Promise<Opened> {
  return act(desk, { action: "session/sign-in", schema: signInBody, body, run: (tx) => opened(tx, desk, user) });
}

/** Changes the password of a person who gave the right one. Their sessions end, and a new one is opened. */
export function changeOwnPassword(
  desk: Desk,
  body: Static<typeof passwordBody>,
  { user, passwordHash }: { user: AdminUser; passwordHash: string },
): Promise<Opened> {
  return act(desk, {
    action: "session/password",
    schema: passwordBody,
    body,
    run: async (tx) => {
      await changePassword(tx, { userId: user.userId, passwordHash, nowMs: desk.clock() });
      return opened(tx, desk, user);
    },
  });
}

/**
 * Sets a password with a one-time link: makes the first admin, or sets the password of the link's owner. Undefined, and
 * nothing is noted, when the link was used meanwhile.
 */
export function setUp(
  desk: Desk,
  body: Static<typeof setupBody>,
  { passwordHash, validMs }: { passwordHash: string; validMs: number },
): Promise<Opened | undefined> {
  return act(desk, {
    action: "session/setup",
    schema: setupBody,
    body,
    // Only the link tells whose password it sets.
    actorOf: (done) => done?.user.name ?? desk.by.name,
    isNoted: (done) => done !== undefined,
    run: async (tx) => {
      const user = await ownerOf(tx, { ...body, passwordHash, validMs, nowMs: desk.clock() });
      return user && opened(tx, desk, user);
    },
  });
}

type UsedLink = { token: string; name?: string; passwordHash: string; validMs: number; nowMs: number };

async function ownerOf(
  tx: Executor,
  { token, name = "", passwordHash, validMs, nowMs }: UsedLink,
): Promise<AdminUser | undefined> {
  const found = await takeSetupLink(tx, { token, nowMs, validMs });
  if (!found) return undefined;
  if (found.userId === null) {
    if (nameOf(name) === "") throw new ApiError("badParameter", "name is missing.");
    if ((await countAdmins(tx)) > 0) throw new ApiError("notGranted", "There is already an admin; sign in instead.");
    return createAdminUser(tx, { name, grants: everywhere("admin"), passwordHash, nowMs });
  }
  await changePassword(tx, { userId: found.userId, passwordHash, nowMs });
  return loadAdminUser(tx, found.userId);
}

async function opened(tx: Executor, { clock }: Desk, user: AdminUser): Promise<Opened> {
  return { user, session: await createSession(tx, user, clock()) };
}
