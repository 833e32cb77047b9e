import type { FastifyReply, FastifyRequest } from "fastify";
import { decodeJwt, jwtVerify } from "jose";
import { type DeveloperApp, findDeveloperApp } from "../../db/developer-app.ts";
import { giveCallBack, takeCall } from "../../db/report-call.ts";
import { isReportSigned } from "../../domain/access/report-sign.ts";
import { assertShallow, isObject, type JsonValue } from "../../domain/json.ts";
import { ApiError } from "../../errors.ts";
import type { ServedApp } from "../../intake/app-directory.ts";
import { KIB, LIMITS } from "../../limits.ts";
import { ownTurn } from "../../own-turn.ts";
import type { ReportContext } from "./report-context.ts";

/** A report's body up to this size is signed in all spellings without yielding to other requests. */
const SIGNED_BYTES_AT_ONCE = 16 * KIB;

/** The same text for every reason, so that a caller without the key learns nothing about which keys exist. */
const NOT_VERIFIED = "sign or Authorization does not verify.";

/**
 * The developer application whose key the token names, before the body is read. A caller who can name the key has it,
 * because the key is the secret itself. From an unknown caller only a short body is read, to tell whether it is JSON.
 */
export async function namedDeveloper(
  context: Pick<ReportContext, "pool" | "vault">,
  request: FastifyRequest,
): Promise<DeveloperApp | undefined> {
  const appKey = keyNamedBy(tokenOf(request));
  const developer = appKey === undefined ? undefined : await findDeveloperApp(context.pool, context.vault, appKey);
  const isShort = Number(request.headers["content-length"]) <= LIMITS.signInBodyBytes;
  if (!developer && !isShort) throw new ApiError("badSign", NOT_VERIFIED);
  return developer;
}

/**
 * The developer application that the token names, if it also signed the body: key and body make the sign, and the sign
 * is the key of the token. Checked before anything else in the body.
 */
export async function requireSigned(
  { clock }: Pick<ReportContext, "clock">,
  request: FastifyRequest,
  developer: DeveloperApp | undefined,
): Promise<DeveloperApp> {
  const sign = isObject(request.body) ? request.body.sign : undefined;
  if (!developer || typeof sign !== "string") throw new ApiError("badSign", NOT_VERIFIED);
  assertShallow(request.body as JsonValue, "The body");
  const signed = { body: request.plainBody.toString("utf8"), sign, appKey: developer.appKey };
  const isSigned = await isReportSigned(
    signed,
    request.plainBody.length > SIGNED_BYTES_AT_ONCE ? ownTurn : async () => {},
  );
  const signs = new Set([sign.toLowerCase(), sign]);
  if (!isSigned || !(await isTokenOf(tokenOf(request), signs, clock()))) throw new ApiError("badSign", NOT_VERIFIED);
  requireApproved(developer);
  return developer;
}

function tokenOf(request: FastifyRequest): string {
  return (request.headers.authorization ?? "").replace(/^Bearer\s+/i, "");
}

export function requireApproved({ state, reason }: DeveloperApp): void {
  if (state === "approved") return;
  throw new ApiError("notGranted", `This developer application is ${state}${reason ? `: ${reason}` : "."}`);
}

function keyNamedBy(token: string): string | undefined {
  try {
    const { app_key: appKey } = decodeJwt(token);
    return typeof appKey === "string" ? appKey : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Only HS256, whatever algorithm the token names. The sign may have been sent in capitals. A token may limit its
 * validity (`exp`, `nbf`), so that a recorded call cannot be sent again later.
 */
async function isTokenOf(token: string, signs: ReadonlySet<string>, nowMs: number): Promise<boolean> {
  const rules = { algorithms: ["HS256"], currentDate: new Date(nowMs), clockTolerance: LIMITS.clockS };
  for (const sign of signs) {
    const isValid = await jwtVerify(token, Buffer.from(sign), rules).then(
      () => true,
      () => false,
    );
    if (isValid) return true;
  }
  return false;
}

export async function requireGranted(
  context: Pick<ReportContext, "apps">,
  developer: DeveloperApp,
  appId: number,
): Promise<ServedApp> {
  const isGranted = developer.apps === "all" || developer.apps.includes(appId);
  const app = isGranted ? await context.apps.findById(appId).catch(() => undefined) : undefined;
  if (!app) throw new ApiError("notGranted", "This developer application was not granted this app.");
  return app;
}

/** Runs a report within the developer application's rate. Refused and failed calls do not count. */
export async function withinRate<T>(
  context: Pick<ReportContext, "pool" | "clock">,
  developer: DeveloperApp,
  reply: FastifyReply,
  run: () => Promise<T>,
): Promise<T> {
  const { developerId, rate } = developer;
  const nowMs = context.clock();
  const allowance = await takeCall(context.pool, { developerId, rate, nowMs });
  const resetS = Math.max(0, Math.ceil((allowance.resetAtMs - nowMs) / 1000));
  const remaining = allowance.kind === "granted" ? allowance.remaining : 0;
  reply.header("ratelimit-limit", String(rate.calls));
  reply.header("ratelimit-remaining", String(remaining));
  reply.header("ratelimit-reset", String(resetS));
  if (allowance.kind === "used_up") {
    const retryAfterS = Math.max(1, resetS);
    const calls = rate.calls === 1 ? "1 call" : `${rate.calls} calls`;
    const message = `The rate of ${calls} in ${rate.windowS} s is used up; try again in ${retryAfterS} s.`;
    throw new ApiError("rateLimited", message, { retryAfterS });
  }
  try {
    return await run();
  } catch (error) {
    await giveCallBack(context.pool, { developerId, callId: allowance.callId });
    reply.header("ratelimit-remaining", String(remaining + 1));
    throw error;
  }
}
