import type { FastifyRequest } from "fastify";
import type { ConsoleRole } from "../../db/admin-user.ts";

/** Who uses the admin interface: somebody signed in to the console, or whoever holds the admin token. */
export type Actor = { name: string; role: ConsoleRole; session: string | undefined };

/**
 * What a route does: an analyst may look at everything and change nothing, but for what is nobody else's ("own"). Changes
 * are audited, and whatever else its route says.
 */
export type Access = "read" | "own" | "change";

declare module "fastify" {
  interface FastifyRequest {
    /** Who uses the admin interface. */
    actor: Actor;
  }
  interface FastifyContextConfig {
    /** Of the admin interface: what the route does; without it, GET reads and everything else changes. */
    access?: Access;
  }
}

export function accessOf(request: FastifyRequest): Access {
  return request.routeOptions.config.access ?? (request.method === "GET" ? "read" : "change");
}
