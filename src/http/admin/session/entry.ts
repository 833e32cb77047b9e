import type { FastifyReply, FastifyRequest } from "fastify";
import type { Desk } from "../../../admin/desk.ts";
import type { Opened } from "../../../admin/session/sessions.ts";
import type { Session } from "../../../contract/setting/session.ts";
import { dropOldSessions } from "../../../db/console-session.ts";
import { callerOf } from "../../caller-address.ts";
import type { Actor } from "../actor.ts";
import { actorOfSession, csrfTokenOf, SESSION_LIFE, setSession } from "../authentication.ts";
import { rememberDevice } from "./known-device.ts";
import type { SessionContext } from "./session-context.ts";
import { heldGrants } from "./shown-grants.ts";

/** What signing in works with. Sessions that have expired are dropped on the way. */
export async function entryOf(
  { pool, vault, clock, caller }: SessionContext,
  request: FastifyRequest,
  name: string,
): Promise<Desk & { agent: string }> {
  await dropOldSessions(pool, clock(), SESSION_LIFE);
  const agent = request.headers["user-agent"] ?? "";
  return { pool, vault, clock, agent, by: { name, address: callerOf({ caller }, request) } };
}

/** Hands the session to the browser, and answers who is signed in. */
export function shownOpened(
  context: SessionContext,
  { user, session, method }: Opened,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
): Session {
  setSession(request, reply, session);
  rememberDevice(context.vault, user.name, { request, reply });
  return shownSession(context, actorOfSession(context, { ...user, method }, session));
}

export function shownSession(
  { vault }: Pick<SessionContext, "vault">,
  { name, grants, session, mustSetUpFactor = false }: Actor,
): Session {
  return {
    name,
    grants: heldGrants(grants),
    needs_second_factor: mustSetUpFactor,
    csrf: session === undefined ? "" : csrfTokenOf(vault, session),
  };
}
