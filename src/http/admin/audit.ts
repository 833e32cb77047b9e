import type { FastifyInstance, FastifyRequest } from "fastify";
import type pg from "pg";
import type { Clock } from "../../clock.ts";
import { addAudit, removeAudit } from "../../db/audit-log.ts";
import { isObject, type JsonObject } from "../../domain/json.ts";
import { LIMITS } from "../../limits.ts";
import { type CallerAddress, callerOf } from "../caller-address.ts";
import { accessOf } from "./actor.ts";

export type AuditContext = { pool: pg.Pool; clock: Clock; caller: CallerAddress };

/** What the audit log keeps of a route. Whatever changes something is noted. */
export type AuditRule = {
  /** Noted although it changes nothing: an export. */
  isNoted?: true;
  /** Fields of the body that are not kept. */
  hides?: readonly string[];
};

declare module "fastify" {
  interface FastifyRequest {
    /** Of the note that a change is about to be made. */
    auditId?: number;
  }
  interface FastifyContextConfig {
    audit?: AuditRule;
  }
}

/**
 * Notes every change and every export before it is made, and takes the note back when it is refused: after a crash between
 * the two the log may name a change that never came, but never lacks one that did.
 */
export function auditChanges(routes: FastifyInstance, context: AuditContext): void {
  routes.addHook("preHandler", async (request) => {
    const isNoted = accessOf(request) === "change" || request.routeOptions.config.audit?.isNoted;
    if (isNoted) request.auditId = await noteChange(context, request);
  });
  routes.addHook("onError", async (request) => {
    if (request.auditId !== undefined) await removeAudit(context.pool, request.auditId);
  });
}

export async function noteChange(
  context: AuditContext,
  request: FastifyRequest,
  actor = request.actor?.name,
): Promise<number> {
  const body = isObject(request.body) ? request.body : {};
  return addAudit(context.pool, {
    atMs: context.clock(),
    actor: actor ?? "",
    address: callerOf(context, request),
    action: (request.routeOptions.url ?? "").replace("/admin/api/v1/", ""),
    appId: isAppId(body.app_id) ? body.app_id : null,
    details: shown(body, request.routeOptions.config.audit?.hides ?? []),
  });
}

/** Whatever else is asked for is refused, but only after it was noted. */
function isAppId(value: unknown): value is number {
  return Number.isInteger(value) && Math.abs(value as number) < 2 ** 31;
}

/** Secrets never get there, and long texts only as far as they help. */
const SECRET = /secret|password|token|key|sign/i;

function shown(body: JsonObject, hidden: readonly string[]): JsonObject {
  const entries = Object.entries(body).map(([name, value]) => {
    if (SECRET.test(name) || hidden.includes(name)) return [name, "…"];
    const text = JSON.stringify(value);
    return [name, text.length > LIMITS.auditDetailBytes ? `${text.slice(0, LIMITS.auditDetailBytes)} …` : value];
  });
  return Object.fromEntries(entries) as JsonObject;
}
