import type { FastifyRequest } from "fastify";
import { type AdminUser, findAdminUser, hasPassword } from "../../../db/admin-user.ts";
import { ApiError } from "../../../errors.ts";
import { hashPassword, isPassword } from "../../../password.ts";
import { callerOf } from "../../caller-address.ts";
import { PasswordDesk, type Standing } from "./password-desk.ts";
import type { SessionContext } from "./session-context.ts";
import { type Attempt, type Counted, SignInLimits } from "./sign-in-limits.ts";

/** What slows down guessing, shared by all routes that take a password or a code. */
export type Gate = { limits: SignInLimits; desk: PasswordDesk };

export function openGate(): Gate {
  return { limits: new SignInLimits(), desk: new PasswordDesk() };
}

/** Free failures for one name from one address, or for one device or session. */
const OWN_FAILURES = 5;

/** Free failures for everybody behind one address together, who may be a whole office. */
const ADDRESS_FAILURES = 20;

export function own(key: string): Counted {
  return { key, free: OWN_FAILURES, onSuccess: "forget" };
}

/** Failures of one kind from an address. */
export function ofAddress(kind: "address" | "link" | "oidc", address: string): Counted {
  return { key: `${kind} ${address}`, free: ADDRESS_FAILURES, onSuccess: "give_back" };
}

/** `wrong` carries the name of the person when one has it. */
type Found = { kind: "right"; user: AdminUser } | { kind: "wrong"; name: string | undefined };

/** The person with this name and password. It takes just as long when nobody has the name. */
export async function userBy(
  { pool, metrics }: Pick<SessionContext, "pool" | "metrics">,
  desk: PasswordDesk,
  { name, password, standing }: { name: string; password: string; standing: Standing },
): Promise<Found> {
  const user = await findAdminUser(pool, name);
  const isRight = await desk.inTurn(standing, () => {
    metrics.passwordHashes.inc();
    return isPassword(password, user?.passwordHash);
  });
  return user && isRight ? { kind: "right", user } : { kind: "wrong", name: user?.name };
}

export function hashOf(
  { metrics }: Pick<SessionContext, "metrics">,
  desk: PasswordDesk,
  password: string,
): Promise<string> {
  return desk.inTurn("known", () => {
    metrics.passwordHashes.inc();
    return hashPassword(password);
  });
}

export function wrongPassword(
  context: Pick<SessionContext, "caller" | "failedSignIns">,
  request: FastifyRequest,
  { name, message }: { name: string | undefined; message: string },
): ApiError {
  context.failedSignIns.note({ address: callerOf(context, request), by: "password", user: name });
  return new ApiError("badSign", message);
}

export type GateContext = Pick<SessionContext, "pool" | "metrics" | "clock" | "caller" | "failedSignIns">;

/**
 * The person at a session, who gives the password once more. A stolen session allows no more guesses than the sign-in
 * page.
 */
export async function provenByPassword(
  context: GateContext,
  request: FastifyRequest,
  { limits, desk }: Gate,
  { name, session, password }: { name: string; session: string; password: string },
): Promise<AdminUser> {
  const attempt = limits.begin([own(`session ${session}`)], context.clock());
  const found = await checked(attempt, () => userBy(context, desk, { name, password, standing: "known" }));
  if (found.kind === "wrong")
    throw wrongPassword(context, request, { ...found, message: "The current password is wrong." });
  attempt.succeeded();
  return found.user;
}

/** A code to be checked by what is run; without this, none is needed. */
export type AskedCode = { code: string | undefined };

/**
 * Runs what a stolen session alone must not do: with the password, or with a code of the second factor for who has no
 * password. Who has neither proves nothing more; neither does the holder of the admin token, who has no session.
 */
export async function proven<T>(
  context: GateContext,
  request: FastifyRequest,
  gate: Gate,
  { password = "", code }: { password: string | undefined; code: string | undefined },
  run: (asked: AskedCode | undefined) => Promise<T>,
): Promise<T> {
  const { name, session, userId } = request.actor;
  if (session === undefined) return run(undefined);
  if (hasPassword((await findAdminUser(context.pool, name))!)) {
    await provenByPassword(context, request, gate, { name, session, password });
    return run(undefined);
  }
  const given = { limits: gate.limits, key: `person ${userId}`, code, name };
  return withCode(context, request, given, () => run({ code }));
}

/** Runs the check of an attempt. A check that fails for another reason than the password does not count as a guess. */
export async function checked<T>(attempt: Attempt, check: () => Promise<T>): Promise<T> {
  try {
    return await check();
  } catch (error) {
    attempt.unchecked();
    throw error;
  }
}

/**
 * Runs what takes the code of a second factor. A wrong code counts against its key; a refusal for another reason does not. The
 * key does not depend on the address: six digits are guessed soon from many.
 */
export async function withCode<T>(
  context: Pick<SessionContext, "caller" | "failedSignIns" | "clock">,
  request: FastifyRequest,
  { limits, key, code, name }: { limits: SignInLimits; key: string; code: string | undefined; name: string },
  run: () => Promise<T>,
): Promise<T> {
  if (code === undefined) return run();
  const attempt = limits.begin([own(`code ${key}`)], context.clock());
  try {
    const done = await run();
    attempt.succeeded();
    return done;
  } catch (error) {
    if (error instanceof ApiError && error.reason === "badSign")
      context.failedSignIns.note({ address: callerOf(context, request), by: "second factor", user: name });
    else attempt.unchecked();
    throw error;
  }
}
