import { createHmac, timingSafeEqual } from "node:crypto";
import type { FastifyReply, FastifyRequest } from "fastify";
import type pg from "pg";
import { COMMAND_HEADER, readCommandName } from "../../admin/command-name.ts";
import { grantsOf, nameOfToken, stateOfToken } from "../../admin/session/api-tokens.ts";
import type { Clock } from "../../clock.ts";
import type { Config } from "../../config.ts";
import { API_TOKEN_MARK, findApiToken, loadApiToken, type OwnedToken } from "../../db/api-token.ts";
import { findSession, peekSession, type SessionLife, type SignedInUser } from "../../db/console-session.ts";
import { isDatabaseAway } from "../../db/engine/failure.ts";
import { everywhere, mayIn } from "../../domain/access/role.ts";
import { ApiError } from "../../errors.ts";
import type { Vault } from "../../vault.ts";
import { type CallerAddress, callerOf } from "../caller-address.ts";
import { type Actor, accessOf, assertMayCall } from "./actor.ts";
import type { AdminTokens } from "./admin-token.ts";
import { cookieOf, setCookie } from "./cookie.ts";
import type { FailedSignIns } from "./failed-sign-ins.ts";
import type { SeenSessions } from "./seen-sessions.ts";

/** Everything needed to find out who is calling the admin interface. */
export type AuthenticationContext = {
  pool: pg.Pool;
  clock: Clock;
  vault: Vault;
  config: Pick<Config, "secondFactorRoles">;
  caller: CallerAddress;
  adminTokens: AdminTokens;
  seenSessions: SeenSessions;
  failedSignIns: FailedSignIns;
};

export const SESSION_LIFE: SessionLife = { idleMs: 12 * 3_600_000, wholeMs: 7 * 24 * 3_600_000 };
const COOKIE = "touchpoint_session";
export const CSRF_HEADER = "touchpoint-csrf";

/**
 * Proof that a request comes from our own pages: another site can make a browser send the cookie, but not this token.
 */
export function csrfTokenOf(vault: Vault, session: string): string {
  return createHmac("sha256", vault.keyFor("csrf")).update(session).digest("base64url");
}

/** Returns the caller, or refuses a caller who may not use the route. */
export async function actorOf(context: AuthenticationContext, request: FastifyRequest): Promise<Actor> {
  const actor =
    request.headers.authorization === undefined
      ? await signedIn(context, request)
      : await tokenHolder(context, request);
  assertMayCall(actor, request);
  return actor;
}

async function tokenHolder(context: AuthenticationContext, request: FastifyRequest): Promise<Actor> {
  const given = (request.headers.authorization ?? "").replace(/^Bearer /, "");
  if (given.startsWith(API_TOKEN_MARK)) return programOf(context, request, given);
  const adminGeneration = await context.adminTokens.generationOf(given);
  if (adminGeneration === undefined) {
    context.failedSignIns.note({ address: callerOf(context, request), by: "admin token" });
    throw notSignedIn();
  }
  const command = readCommandName(context.vault, request.headers[COMMAND_HEADER]?.toString());
  const name = command ?? "admin token";
  return { name, grants: everywhere("admin"), userId: undefined, session: undefined, adminGeneration };
}

/** A program with a token of its own. Whoever has the whole token may know why it is refused. */
async function programOf(context: AuthenticationContext, request: FastifyRequest, given: string): Promise<Actor> {
  const nowMs = context.clock();
  const token = await findApiToken(context.pool, { token: given, nowMs });
  const state = token && stateOfToken(token, nowMs);
  if (!token || state !== "valid") {
    context.failedSignIns.note({ address: callerOf(context, request), by: "API token" });
    if (state === "ended") throw new ApiError("badSign", "The token has ended: make a new one.");
    if (state === "revoked") throw new ApiError("badSign", "The token was revoked.");
    throw notSignedIn();
  }
  return actorOfToken(token);
}

function actorOfToken(token: OwnedToken): Actor {
  const by = nameOfToken(token);
  return {
    name: token.owner ?? by,
    by,
    grants: grantsOf(token),
    userId: token.userId ?? undefined,
    session: undefined,
    tokenId: token.tokenId,
  };
}

async function signedIn(context: AuthenticationContext, request: FastifyRequest): Promise<Actor> {
  const session = sessionOf(request);
  if (session === undefined) throw notSignedIn();
  if (
    request.method !== "GET" &&
    !isSame(String(request.headers[CSRF_HEADER] ?? ""), csrfTokenOf(context.vault, session))
  ) {
    throw new ApiError("badSign", `The header ${CSRF_HEADER} does not belong to this session.`);
  }
  const actor = await findActor(context, request, session);
  if (!actor) throw notSignedIn();
  return actor;
}

async function findActor(
  context: AuthenticationContext,
  request: FastifyRequest,
  session: string,
): Promise<Actor | undefined> {
  const { pool, clock, seenSessions } = context;
  const nowMs = clock();
  try {
    const user = await findSession(pool, { token: session, nowMs, life: SESSION_LIFE });
    const actor = user && actorOfSession(context, user, session);
    if (actor) seenSessions.note(session, actor, nowMs);
    else seenSessions.forget(session);
    return actor;
  } catch (error) {
    const seen = isDatabaseAway(error) && isReading(request) ? seenSessions.find(session, nowMs) : undefined;
    if (!seen) throw error;
    return seen;
  }
}

/** The actor of a session. Who signs in at the identity provider has given the second factor there. */
export function actorOfSession(
  { config }: Pick<AuthenticationContext, "config">,
  { userId, name, grants, hasSecondFactor, method }: SignedInUser,
  session: string,
): Actor {
  const isNeeded = grants.some(({ role }) => config.secondFactorRoles.has(role));
  return { userId, name, grants, session, mustSetUpFactor: isNeeded && !hasSecondFactor && method !== "oidc" };
}

function isReading(request: FastifyRequest): boolean {
  const { access } = accessOf(request);
  return request.method === "GET" || access === "report" || access === "detail";
}

/** Whether the receiver of an app's long-lived stream may still see it. Asking does not keep the session alive. */
export async function maySeeStill(
  { pool, clock, adminTokens }: Pick<AuthenticationContext, "pool" | "clock" | "adminTokens">,
  { session, tokenId, adminGeneration }: Actor,
  appId: number,
): Promise<boolean> {
  if (tokenId !== undefined) {
    const token = await loadApiToken(pool, tokenId);
    return token !== undefined && stateOfToken(token, clock()) === "valid" && mayIn(grantsOf(token), "detail", appId);
  }
  if (adminGeneration !== undefined) return adminTokens.isCurrent(adminGeneration);
  if (session === undefined) return false;
  const user = await peekSession(pool, { token: session, nowMs: clock(), life: SESSION_LIFE });
  return user !== undefined && mayIn(user.grants, "detail", appId);
}

function notSignedIn(): ApiError {
  return new ApiError(
    "badSign",
    "Sign in, or send the header Authorization: `Bearer ` and a token (the console's page Account makes one, `cli admin token` prints the admin token).",
  );
}

function isSame(given: string, expected: string): boolean {
  const [left, right] = [Buffer.from(given), Buffer.from(expected)];
  return left.length === right.length && timingSafeEqual(left, right);
}

export function sessionOf(request: FastifyRequest): string | undefined {
  return cookieOf(request, COOKIE);
}

/** Sets the session cookie. An empty token ends the session. */
export function setSession(request: FastifyRequest, reply: FastifyReply, token: string): void {
  const lifeS = token === "" ? 0 : SESSION_LIFE.wholeMs / 1000;
  setCookie(request, reply, { name: COOKIE, value: token, lifeS, path: "/" });
}
