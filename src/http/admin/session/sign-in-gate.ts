import type { FastifyRequest } from "fastify";
import { type AdminUser, findAdminUser } from "../../../db/admin-user.ts";
import { ApiError } from "../../../errors.ts";
import { hashPassword, isPassword } from "../../../password.ts";
import { callerOf } from "../../caller-address.ts";
import type { PasswordDesk, Standing } from "./password-desk.ts";
import type { SessionContext } from "./session-context.ts";
import type { Attempt, Counted, SignInLimits } from "./sign-in-limits.ts";

/** What slows down guessing, shared by all routes that take a password or a code. */
export type Gate = { limits: SignInLimits; desk: PasswordDesk };

/** Free failures for one name from one address, or for one device or session. */
const OWN_FAILURES = 5;

export function own(key: string): Counted {
  return { key, free: OWN_FAILURES, onSuccess: "forget" };
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
