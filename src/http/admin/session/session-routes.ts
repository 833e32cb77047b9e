import type { FastifyInstance, FastifyRequest } from "fastify";
import { changeOwnPassword, setUp, signIn } from "../../../admin/session/sessions.ts";
import { envelopeSchema } from "../../../contract/envelope.ts";
import { passwordBody, setupBody, signedIn, signedOut, signInBody } from "../../../contract/setting/session.ts";
import { hasSetupLink, nameOf } from "../../../db/admin-user.ts";
import { endSession, peekSession } from "../../../db/console-session.ts";
import { countedAddress } from "../../../domain/network.ts";
import { ApiError, messageOf } from "../../../errors.ts";
import { passwordProblem } from "../../../password.ts";
import { callerOf } from "../../caller-address.ts";
import { adminRoute } from "../admin-route.ts";
import { actorOf, SESSION_LIFE, sessionOf, setSession } from "../authentication.ts";
import { entryOf, shownOpened, shownSession } from "./entry.ts";
import { knownDevice } from "./known-device.ts";
import { oidcRoutes, ownUrl } from "./oidc-routes.ts";
import { ownSessionRoutes } from "./own-session-routes.ts";
import { requireSameOrigin } from "./same-origin.ts";
import { secondFactorRoutes } from "./second-factor-routes.ts";
import type { SessionContext } from "./session-context.ts";
import {
  checked,
  type Gate,
  hashOf,
  ofAddress,
  own,
  provenByPassword,
  userBy,
  withCode,
  wrongPassword,
} from "./sign-in-gate.ts";
import type { Counted } from "./sign-in-limits.ts";

const sessionAnswer = envelopeSchema(signedIn);
const SETUP_LINK_MS = 24 * 3_600_000;

/** Signing in and out of the console. These routes are open to everybody: the password or the one-time link decides. */
export function sessionRoutes(routes: FastifyInstance, context: SessionContext, gate: Gate): void {
  ownSessionRoutes(routes, context);
  secondFactorRoutes(routes, context, gate);
  oidcRoutes(routes, context, gate);
  signInRoute(routes, context, gate);
  setupRoute(routes, context, gate);
  ownRoutes(routes, context);
  passwordRoute(routes, context, gate);
}

/**
 * Failures count by address and name together, so that failures under a person's name elsewhere cannot lock that person
 * out, and by address, so that nobody can try many names.
 */
function countedBy(context: Pick<SessionContext, "caller">, request: FastifyRequest, name: string): readonly Counted[] {
  const address = countedAddress(callerOf(context, request));
  return [own(`name ${address} ${nameOf(name)}`), ofAddress("address", address)];
}

function signInRoute(routes: FastifyInstance, context: SessionContext, { limits, desk }: Gate): void {
  adminRoute(routes, {
    path: "session/sign-in",
    summary: "Sign in",
    access: "open",
    body: signInBody,
    admit: (request) => requireSameOrigin(context, request),
    answer: sessionAnswer,
    run: async ({ body, request, reply }) => {
      if (!context.config.passwordSignIn) throw noPasswords();
      const { name, password } = body;
      const device = knownDevice(context.vault, request, name);
      const counted = device === undefined ? countedBy(context, request, name) : [own(`device ${device}`)];
      const attempt = limits.begin(counted, context.clock());
      const standing = device === undefined ? "stranger" : "known";
      const found = await checked(attempt, () => userBy(context, desk, { name, password, standing }));
      if (found.kind === "wrong")
        throw wrongPassword(context, request, { ...found, message: "Name or password is wrong." });
      attempt.succeeded();
      const { user } = found;
      const entry = await entryOf(context, request, user.name);
      const key = device === undefined ? `person ${user.userId}` : `device ${device}`;
      const given = { limits, key, code: body.code, name: user.name };
      const opened = await withCode(context, request, given, () => signIn(entry, user, body));
      return shownOpened(context, opened, { request, reply });
    },
  });
}

function setupRoute(routes: FastifyInstance, context: SessionContext, { limits, desk }: Gate): void {
  adminRoute(routes, {
    path: "session/setup",
    summary: "Set a password with a one-time link",
    description:
      "The first start prints a link for the first admin; `cli admin link` makes another one. The person's sessions end, and " +
      "their tokens for programs are revoked.",
    access: "open",
    body: setupBody,
    admit: (request) => requireSameOrigin(context, request),
    answer: sessionAnswer,
    run: async ({ body, request, reply }) => {
      const { token, password } = body;
      requireGoodPassword(password);
      const given = { token, nowMs: context.clock(), validMs: SETUP_LINK_MS };
      const attempt = limits.begin([ofAddress("link", countedAddress(callerOf(context, request)))], given.nowMs);
      // Before anything is hashed. One look-up refuses links that never existed, were used, or are too old.
      const isLink = await checked(attempt, () => hasSetupLink(context.pool, given));
      if (!isLink) throw badLink(context, request);
      attempt.succeeded();
      const passwordHash = await hashOf(context, desk, password);
      const entry = await entryOf(context, request, "");
      const coded = { limits, key: `link ${token}`, code: body.code, name: "" };
      const link = { passwordHash, validMs: SETUP_LINK_MS };
      const opened = await withCode(context, request, coded, () => setUp(entry, body, link));
      if (!opened) throw badLink(context, request);
      context.seenSessions.forgetPerson(opened.user);
      return shownOpened(context, opened, { request, reply });
    },
  });
}

function badLink(context: Pick<SessionContext, "caller" | "failedSignIns">, request: FastifyRequest): ApiError {
  context.failedSignIns.note({ address: callerOf(context, request), by: "one-time link" });
  return new ApiError("badSign", "The link was already used or has expired; `cli admin link` makes another one.");
}

function ownRoutes(routes: FastifyInstance, context: SessionContext): void {
  adminRoute(routes, {
    path: "session",
    summary: "Who is signed in",
    access: "own",
    answer: sessionAnswer,
    run: async ({ request }) => shownSession(context, await actorOf(context, request)),
  });

  adminRoute(routes, {
    path: "session/sign-out",
    method: "POST",
    summary: "Sign out",
    access: "open",
    admit: (request) => requireSameOrigin(context, request),
    answer: envelopeSchema(signedOut),
    run: async ({ request, reply }) => {
      const session = sessionOf(request);
      const url = session === undefined ? undefined : await leftBehind(context, request, session);
      setSession(request, reply, "");
      return { provider_url: url ?? null };
    },
  });
}

/** Ends a session. Returns the page of the identity provider that ends the one there, if that is where it began. */
async function leftBehind(
  { pool, clock, seenSessions, identityProvider, log }: SessionContext,
  request: FastifyRequest,
  session: string,
): Promise<string | undefined> {
  seenSessions.forget(session);
  const user = await peekSession(pool, { token: session, nowMs: clock(), life: SESSION_LIFE });
  await endSession(pool, session);
  if (user?.method !== "oidc" || !identityProvider) return undefined;
  return identityProvider.signOutUrl(ownUrl(request, "/console/")).catch((error: unknown) => {
    // The session here has ended, and that is what was asked for.
    log.warn({ reason: messageOf(error) }, "The identity provider's page for signing out is unknown.");
    return undefined;
  });
}

function noPasswords(): ApiError {
  return new ApiError(
    "notGranted",
    "Signing in with a password is switched off here. Sign in at the identity provider, or use a one-time link (`cli admin link NAME`).",
  );
}

function passwordRoute(routes: FastifyInstance, context: SessionContext, gate: Gate): void {
  adminRoute(routes, {
    path: "session/password",
    summary: "Change one's own password",
    description: "The caller's other sessions end, and their tokens for programs are revoked.",
    access: "own",
    body: passwordBody,
    answer: sessionAnswer,
    run: async ({ body, request, reply }) => {
      const { session, name } = await actorOf(context, request);
      requireGoodPassword(body.new_password);
      if (session === undefined) throw new ApiError("badSign", "A token has no password; sign in to change yours.");
      const { password } = body;
      const user = await provenByPassword(context, request, gate, { name, session, password });
      const passwordHash = await hashOf(context, gate.desk, body.new_password);
      const entry = await entryOf(context, request, name);
      const opened = await changeOwnPassword(entry, body, { user, passwordHash });
      context.seenSessions.forgetPerson(user);
      return shownOpened(context, opened, { request, reply });
    },
  });
}

function requireGoodPassword(password: string): void {
  const problem = passwordProblem(password);
  if (problem !== undefined) throw new ApiError("badParameter", problem);
}
