import type { FastifyInstance, FastifyRequest } from "fastify";
import type pg from "pg";
import { auditDetails, auditedApp } from "../../admin/audit-details.ts";
import type { By } from "../../admin/desk.ts";
import type { Clock } from "../../clock.ts";
import { addAudit, removeAudit } from "../../db/audit-log.ts";
import { isObject } from "../../domain/json.ts";
import { type CallerAddress, callerOf } from "../caller-address.ts";
import { accessOf } from "./actor.ts";

export type AuditContext = { pool: pg.Pool; clock: Clock; caller: CallerAddress };

/** What the audit log keeps of a route. Every change is noted: here, or (`by_act`) by the act that the route calls. */
export type AuditRule =
  | "by_act"
  | {
      /** The call is noted although it changes nothing, as an export is. */
      isNoted?: true;
      /** Fields of the body that are not kept. */
      hides?: readonly string[];
    };

declare module "fastify" {
  interface FastifyRequest {
    /** Id of the audit entry written before the change is made. */
    auditId?: number;
    /** Who is calling, as the audit log names them. */
    by: By;
  }
  interface FastifyContextConfig {
    audit?: AuditRule;
  }
}

/**
 * Notes every export, and every change that no act notes, before it is made, and removes the note when it is refused.
 * After a crash in between, the log may name a change that never happened, but it never lacks one that did.
 */
export function auditChanges(routes: FastifyInstance, context: AuditContext): void {
  routes.addHook("preHandler", async (request) => {
    request.by = { name: request.actor.name, address: callerOf(context, request) };
    const { audit } = request.routeOptions.config;
    if (audit === "by_act") return;
    if (accessOf(request) === "change" || audit?.isNoted) request.auditId = await noteChange(context, request);
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
  const { audit } = request.routeOptions.config;
  return addAudit(context.pool, {
    atMs: context.clock(),
    actor: actor ?? "",
    address: callerOf(context, request),
    action: (request.routeOptions.url ?? "").replace("/admin/api/v1/", ""),
    appId: auditedApp(body),
    details: auditDetails(body, audit === "by_act" ? [] : audit?.hides),
  });
}
