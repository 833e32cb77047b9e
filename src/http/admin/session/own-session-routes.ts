import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Desk } from "../../../admin/desk.ts";
import { endOwnSession, endOwnSessions } from "../../../admin/session/sessions.ts";
import { emptyData, envelopeSchema } from "../../../contract/envelope.ts";
import { endedSessions, type SessionList, sessionIdBody, sessionList } from "../../../contract/setting/session.ts";
import { listSessions } from "../../../db/console-session.ts";
import { ApiError } from "../../../errors.ts";
import { callerOf } from "../../caller-address.ts";
import { adminRoute } from "../admin-route.ts";
import { actorOf, SESSION_LIFE, setSession } from "../authentication.ts";
import type { SessionContext } from "./session-context.ts";

/** A person's own sessions: where they are signed in, and signing out there. */
export function ownSessionRoutes(routes: FastifyInstance, context: SessionContext): void {
  const { pool, clock, seenSessions } = context;

  adminRoute(routes, {
    path: "session/list",
    summary: "Where the caller is signed in",
    access: "own",
    answer: envelopeSchema(sessionList),
    run: async ({ request }): Promise<SessionList> => {
      const { user, session } = await personOf(context, request);
      const asked = { userId: user.userId, token: session, nowMs: clock(), life: SESSION_LIFE };
      const sessions = await listSessions(pool, asked);
      return {
        sessions: sessions.map(({ sessionId, address, agent, method, createdAtMs, seenAtMs, isCurrent }) => ({
          id: sessionId,
          address,
          agent,
          method,
          created_at_ms: createdAtMs,
          seen_at_ms: seenAtMs,
          is_current: isCurrent,
        })),
      };
    },
  });

  adminRoute(routes, {
    path: "session/end",
    summary: "End one of the caller's sessions",
    access: "own",
    body: sessionIdBody,
    answer: envelopeSchema(emptyData),
    run: async ({ body, request }) => {
      const { desk, user } = await personOf(context, request);
      await endOwnSession(desk, user.userId, body);
      seenSessions.forgetPerson(user);
      return {};
    },
  });

  adminRoute(routes, {
    path: "session/sign-out-everywhere",
    method: "POST",
    summary: "End all of the caller's sessions, this one too",
    description: "Their tokens for programs are revoked as well.",
    access: "own",
    answer: envelopeSchema(endedSessions),
    run: async ({ request, reply }) => {
      const { desk, user } = await personOf(context, request);
      const ended = await endOwnSessions(desk, user);
      seenSessions.forgetPerson(user);
      setSession(request, reply, "");
      return { ended };
    },
  });
}

export type SignedInPerson = { desk: Desk; user: { userId: number; name: string }; session: string };

/** A person who is signed in to the console; tokens have no sessions. */
export async function personOf(context: SessionContext, request: FastifyRequest): Promise<SignedInPerson> {
  const { userId, name, session } = await actorOf(context, request);
  if (userId === undefined || session === undefined)
    throw new ApiError("badSign", "A token has no sessions and no second factor: sign in to the console.");
  const { pool, vault, clock } = context;
  const desk = { pool, vault, clock, by: { name, address: callerOf(context, request) } };
  return { desk, user: { userId, name }, session };
}
