import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { emptyData, envelopeSchema, success } from "../contract/envelope.ts";
import { passwordBody, type Session, setupBody, signedIn, signInBody } from "../contract/session.ts";
import {
  type AdminUser,
  changePassword,
  countAdmins,
  createAdminUser,
  findAdminUser,
  loadAdminUsers,
  nameOf,
  takeSetupLink,
} from "../db/admin-user.ts";
import { createSession, dropOldSessions, endSession } from "../db/console-session.ts";
import { inTransaction } from "../db/pool.ts";
import { ApiError } from "../errors.ts";
import { hashPassword, isPassword, passwordProblem, pretendToCompare } from "../password.ts";
import { type Actor, actorOf, csrfTokenOf, SESSION_LIFE, sessionOf, setSession } from "./admin.ts";
import { noteChange } from "./audit.ts";
import { callerOf, type HttpContext } from "./context.ts";
import { SignInLimits } from "./sign-in-limits.ts";

const BASE = "/admin/api/v1/session";
const sessionAnswer = envelopeSchema(signedIn);
const SETUP_LINK_MS = 24 * 3_600_000;

/** Signing in and out of the console. These are open to everybody: the password, or the one-time link, is what counts. */
export function sessionRoutes(routes: FastifyInstance, context: HttpContext): void {
  const limits = new SignInLimits();
  signInRoute(routes, context, limits);
  setupRoute(routes, context, limits);
  ownRoutes(routes, context);
}

function signInRoute(routes: FastifyInstance, context: HttpContext, limits: SignInLimits): void {
  routes.post(`${BASE}/sign-in`, {
    schema: { summary: "Sign in", tags: ["session"], body: signInBody, response: { 200: sessionAnswer } },
    handler: async (request, reply) => {
      const { name, password } = request.body as { name: string; password: string };
      const keys = [`address ${callerOf(context, request)}`, `name ${nameOf(name)}`];
      requirePatience(limits, keys, context.clock());
      const user = await findAdminUser(context.pool, name);
      const isRight = user ? await isPassword(password, user.passwordHash) : await pretendToCompare(password);
      if (!user || !isRight) {
        limits.failed(keys, context.clock());
        context.failedSignIns.note({ address: callerOf(context, request), by: "password", user: user?.name });
        throw new ApiError("badSign", "Name or password is wrong.");
      }
      limits.succeeded(keys);
      return signIn(context, user, { request, reply });
    },
  });
}

function setupRoute(routes: FastifyInstance, context: HttpContext, limits: SignInLimits): void {
  routes.post(`${BASE}/setup`, {
    schema: {
      summary: "Set a password by a one-time link",
      description: "The first start prints such a link for the first admin; `cli admin link` makes another one.",
      ...{ tags: ["session"], body: setupBody, response: { 200: sessionAnswer } },
    },
    handler: async (request, reply) => {
      const { token, name = "", password } = request.body as { token: string; name?: string; password: string };
      const keys = [`address ${callerOf(context, request)}`];
      requirePatience(limits, keys, context.clock());
      const passwordHash = await hashOf(password);
      const user = await inTransaction(context.pool, async (tx) => {
        const nowMs = context.clock();
        const link = await takeSetupLink(tx, { token, nowMs, validMs: SETUP_LINK_MS });
        if (!link) return undefined;
        if (link.userId === null) {
          if (nameOf(name) === "") throw new ApiError("badParameter", "name is missing.");
          if ((await countAdmins(tx)) > 0) throw new ApiError("notGranted", "There is an admin already: sign in.");
          return createAdminUser(tx, { name, role: "admin", passwordHash, nowMs });
        }
        await changePassword(tx, { userId: link.userId, passwordHash, nowMs });
        return (await loadAdminUsers(tx)).find(({ userId }) => userId === link.userId);
      });
      if (!user) {
        limits.failed(keys, context.clock());
        context.failedSignIns.note({ address: callerOf(context, request), by: "one-time link" });
        throw new ApiError("badSign", "The link was used already, or is too old: `cli admin link` makes another one.");
      }
      return signIn(context, user, { request, reply });
    },
  });
}

function ownRoutes(routes: FastifyInstance, context: HttpContext): void {
  routes.get(BASE, {
    schema: { summary: "Who is signed in", tags: ["session"], response: { 200: sessionAnswer } },
    handler: async (request) => shownSession(context, await actorOf(context, request)),
  });

  routes.post(`${BASE}/sign-out`, {
    schema: { summary: "Sign out", tags: ["session"], response: { 200: envelopeSchema(emptyData) } },
    config: { access: "read" },
    handler: async (request, reply) => {
      const session = sessionOf(request);
      if (session !== undefined) {
        context.seenSessions.forget(session);
        await endSession(context.pool, session);
      }
      setSession(request, reply, "");
      return success({});
    },
  });

  routes.post(`${BASE}/password`, {
    schema: {
      summary: "Change the own password",
      tags: ["session"],
      body: passwordBody,
      response: { 200: sessionAnswer },
    },
    config: { access: "read" },
    handler: async (request, reply) => {
      const actor = await actorOf(context, request);
      const body = request.body as { password: string; new_password: string };
      const user = actor.session === undefined ? undefined : await findAdminUser(context.pool, actor.name);
      if (!user || !(await isPassword(body.password, user.passwordHash))) {
        context.failedSignIns.note({ address: callerOf(context, request), by: "password", user: user?.name });
        throw new ApiError("badSign", "The present password is wrong.");
      }
      const passwordHash = await hashOf(body.new_password);
      const change = { userId: user.userId, passwordHash, nowMs: context.clock() };
      await inTransaction(context.pool, (tx) => changePassword(tx, change));
      return signIn(context, user, { request, reply });
    },
  });
}

function requirePatience(limits: SignInLimits, keys: readonly string[], nowMs: number): void {
  const waitMs = limits.waitMs(keys, nowMs);
  if (waitMs === 0) return;
  const retryAfterS = Math.ceil(waitMs / 1000);
  throw new ApiError("rateLimited", `Too many failures: try again in ${retryAfterS} s.`, { retryAfterS });
}

async function hashOf(password: string): Promise<string> {
  const problem = passwordProblem(password);
  if (problem !== undefined) throw new ApiError("badParameter", problem);
  return hashPassword(password);
}

async function signIn(
  context: HttpContext,
  user: AdminUser,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
): Promise<object> {
  const nowMs = context.clock();
  await dropOldSessions(context.pool, nowMs, SESSION_LIFE);
  const session = await createSession(context.pool, user, nowMs);
  setSession(request, reply, session);
  await noteChange(context, request, user.name);
  return shownSession(context, { name: user.name, role: user.role, session });
}

function shownSession({ vault }: HttpContext, { name, role, session }: Actor): object {
  return success({ name, role, csrf: session === undefined ? "" : csrfTokenOf(vault, session) } satisfies Session);
}
