import type { FastifyRequest } from "fastify";
import type { By } from "../../admin/desk.ts";
import type { ConsoleRole } from "../../db/admin-user.ts";

/** The user of the admin interface: a person signed in to the console, or a holder of the admin token. */
export type Actor = { name: string; role: ConsoleRole; session: string | undefined };

/**
 * Who may call a route. `open`: anybody, because a caller who is signing in has no name yet. `read` and `own`:
 * everybody who is signed in; an analyst may read everything and change only their own things. `change`: admins only;
 * the act that makes the change notes it in the audit log.
 */
export type Access = "open" | "read" | "own" | "change";

declare module "fastify" {
  interface FastifyRequest {
    /** The user of the admin interface. */
    actor: Actor;
    /** The same, as the audit log names them. */
    by: By;
  }
  interface FastifyContextConfig {
    /** Who may call a route of the admin interface. */
    access?: Access;
  }
}

export function accessOf(request: FastifyRequest): Access {
  return request.routeOptions.config.access ?? "change";
}
