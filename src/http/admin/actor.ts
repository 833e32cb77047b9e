import type { FastifyRequest } from "fastify";
import type { ConsoleRole } from "../../db/admin-user.ts";

/** Who uses the admin interface: somebody signed in to the console, or whoever holds the admin token. */
export type Actor = { name: string; role: ConsoleRole; session: string | undefined };

/**
 * Who may call a route. `open`: anybody, for who signs in is nobody yet. `read` and `own`: everybody who is signed in; an
 * analyst may look at everything, and change what is nobody else's. `change`: admins; every change is noted in the audit log.
 */
export type Access = "open" | "read" | "own" | "change";

declare module "fastify" {
  interface FastifyRequest {
    /** Who uses the admin interface. */
    actor: Actor;
  }
  interface FastifyContextConfig {
    /** Of the admin interface. */
    access?: Access;
  }
}

export function accessOf(request: FastifyRequest): Access {
  return request.routeOptions.config.access ?? "change";
}
