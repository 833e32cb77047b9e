import type { FastifyInstance, FastifyRequest } from "fastify";
import { LIMITS } from "../config.ts";
import { addAudit } from "../db/audit-log.ts";
import { isObject, type JsonObject } from "../domain/json.ts";
import { accessOf } from "./admin.ts";
import { callerOf, type HttpContext } from "./context.ts";

/** Notes every change that succeeded, before it is answered. */
export function auditChanges(routes: FastifyInstance, context: HttpContext): void {
  routes.addHook("preSerialization", async (request, _reply, answer) => {
    const hasSucceeded = isObject(answer) && answer.code === 0;
    if (hasSucceeded && accessOf(request) === "change") await noteChange(context, request);
    return answer;
  });
}

export async function noteChange(
  context: HttpContext,
  request: FastifyRequest,
  actor = request.actor?.name,
): Promise<void> {
  const body = isObject(request.body) ? request.body : {};
  await addAudit(context.pool, {
    atMs: context.clock(),
    actor: actor ?? "",
    address: callerOf(context, request),
    action: (request.routeOptions.url ?? "").replace("/admin/api/v1/", ""),
    appId: typeof body.app_id === "number" ? body.app_id : null,
    details: shown(body, request.routeOptions.config.auditHides ?? []),
  });
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
