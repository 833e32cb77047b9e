import { type Static, Type } from "typebox";
import { passwordBody, sessionIdBody, setupBody, signInBody } from "../../contract/setting/session.ts";
import {
  type AdminUser,
  changePassword,
  countAdmins,
  createAdminUser,
  loadAdminUser,
  nameOf,
  takeSetupLink,
} from "../../db/admin-user.ts";
import { createSession, endSessionOf, type SessionMethod } from "../../db/console-session.ts";
import type { Executor } from "../../db/engine/sql.ts";
import { everywhere } from "../../domain/access/role.ts";
import { ApiError } from "../../errors.ts";
import { act, type Desk } from "../desk.ts";
import { endAccessOf } from "./access.ts";
import { assertSecondFactor } from "./second-factor.ts";

/** A person, and the token of the session that was opened for them. */
export type Opened = { user: AdminUser; method: SessionMethod; session: string };

/** The part of a user agent that is kept. */
const AGENT_LENGTH = 300;

/** A desk at which sessions are opened; without a user agent nothing is kept of the browser. */
export type EntryDesk = Desk & { agent?: string };

/** Opens a session for a person who gave the right password, and the code of the second factor if there is one. */
export function signIn(desk: EntryDesk, user: AdminUser, body: Static<typeof signInBody>): Promise<Opened> {
  return act(desk, {
    action: "session/sign-in",
    schema: signInBody,
    body,
    hides: ["code"],
    run: async (tx) => {
      await assertSecondFactor(tx, desk, { userId: user.userId, code: body.code });
      return opened(tx, desk, user, "password");
    },
  });
}

/** Ends one session of a person. */
export function endOwnSession(desk: Desk, userId: number, body: Static<typeof sessionIdBody>): Promise<void> {
  return act(desk, {
    action: "session/end",
    schema: sessionIdBody,
    body,
    run: async (tx) => {
      if (!(await endSessionOf(tx, { userId, sessionId: body.id })))
        throw new ApiError("badParameter", "You have no session with this id.");
    },
  });
}

/** Ends all sessions of a person, and their tokens. Returns the number of sessions. */
export function endOwnSessions(desk: Desk, user: Pick<AdminUser, "userId" | "name">): Promise<number> {
  return act(desk, {
    action: "session/sign-out-everywhere",
    schema: Type.Object({}),
    body: {},
    noted: (ended) => ({ ended }),
    run: (tx) => endAccessOf(tx, desk, user),
  });
}

/** Changes the password of a person who gave the right one. Their sessions and tokens end, and a new session is opened. */
export function changeOwnPassword(
  desk: EntryDesk,
  body: Static<typeof passwordBody>,
  { user, passwordHash }: { user: AdminUser; passwordHash: string },
): Promise<Opened> {
  return act(desk, {
    action: "session/password",
    schema: passwordBody,
    body,
    run: async (tx) => {
      await changePassword(tx, { userId: user.userId, passwordHash, nowMs: desk.clock() });
      await endAccessOf(tx, desk, user);
      return opened(tx, desk, user, "password");
    },
  });
}

/**
 * Sets a password with a one-time link: makes the first admin, or sets the password of the link's owner. Undefined, and
 * nothing is noted, when the link was used meanwhile.
 */
export function setUp(
  desk: EntryDesk,
  body: Static<typeof setupBody>,
  { passwordHash, validMs }: { passwordHash: string; validMs: number },
): Promise<Opened | undefined> {
  return act(desk, {
    action: "session/setup",
    schema: setupBody,
    body,
    hides: ["code"],
    // Only the link tells whose password it sets.
    actorOf: (done) => done?.user.name ?? desk.by.name,
    isNoted: (done) => done !== undefined,
    run: async (tx) => {
      const user = await ownerOf(tx, desk, { ...body, passwordHash, validMs });
      // A refusal rolls everything back: the link can be used again, with the code.
      if (user) await assertSecondFactor(tx, desk, { userId: user.userId, code: body.code });
      return user && opened(tx, desk, user, "link");
    },
  });
}

type UsedLink = { token: string; name?: string; passwordHash: string; validMs: number };

async function ownerOf(
  tx: Executor,
  { clock, by: { address } }: Desk,
  { token, name = "", passwordHash, validMs }: UsedLink,
): Promise<AdminUser | undefined> {
  const nowMs = clock();
  const found = await takeSetupLink(tx, { token, nowMs, validMs });
  if (!found) return undefined;
  if (found.userId === null) {
    if (nameOf(name) === "") throw new ApiError("badParameter", "name is missing.");
    if ((await countAdmins(tx)) > 0) throw new ApiError("notGranted", "There is already an admin; sign in instead.");
    return createAdminUser(tx, { name, grants: everywhere("admin"), passwordHash, nowMs });
  }
  const user = await loadAdminUser(tx, found.userId);
  if (!user) return undefined;
  await changePassword(tx, { userId: user.userId, passwordHash, nowMs });
  await endAccessOf(tx, { clock, by: { name: user.name, address } }, user);
  return user;
}

/** Opens a session. */
export async function opened(
  tx: Executor,
  { clock, by, agent = "" }: EntryDesk,
  user: AdminUser,
  method: SessionMethod,
): Promise<Opened> {
  const device = { address: by.address, agent: agent.slice(0, AGENT_LENGTH), method };
  return { user, method, session: await createSession(tx, user, clock(), device) };
}
