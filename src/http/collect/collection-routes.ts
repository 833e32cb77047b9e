import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { type ClientContext, clientRoutes } from "./client-routes.ts";
import type { CollectDoorContext } from "./collect-door.ts";
import { collectRoutes } from "./collect-routes.ts";
import type { CollectionHooksContext } from "./collection-hooks.ts";
import { type LookupContext, lookupRoutes } from "./lookup-routes.ts";
import { type OrderEventContext, orderEventRoutes } from "./order-event-routes.ts";
import { type RegisterContext, registerRoutes } from "./register-routes.ts";
import type { TouchContext } from "./touch.ts";
import { touchRoutes } from "./touch-routes.ts";

/** Everything that collection works with: both doors, the hooks and the routes. */
export type CollectionContext = CollectDoorContext &
  CollectionHooksContext &
  TouchContext &
  RegisterContext &
  ClientContext &
  LookupContext &
  OrderEventContext;

/** Headers that the SDKs send on cross-origin requests. */
const CORS_HEADERS = [
  "content-type",
  "turbo-debug-mode",
  "gravity-content-compress",
  "user-agent",
  "version",
  "ge-integration-type",
  "ge-integration-version",
  "ge-integration-count",
  "ge-integration-extra",
  "ta-integration-type",
  "ta-integration-version",
  "ta-integration-count",
  "ta-integration-extra",
  "ta-datas-type",
].join(", ");

export function collectionRoutes(routes: FastifyInstance, context: CollectionContext): void {
  collectRoutes(routes, context);
  touchRoutes(routes, context);
  registerRoutes(routes, context);
  clientRoutes(routes, context);
  lookupRoutes(routes, context);
  orderEventRoutes(routes, context);
  routes.options("/event_center/*", { schema: { hide: true }, handler: preflight });
}

async function preflight(_request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  return reply
    .code(204)
    .header("access-control-allow-origin", "*")
    .header("access-control-allow-methods", "GET, POST, OPTIONS")
    .header("access-control-allow-headers", CORS_HEADERS)
    .header("access-control-max-age", "86400")
    .send();
}
