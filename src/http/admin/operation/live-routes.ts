import type { FastifyInstance } from "fastify";
import { liveQuery } from "../../../contract/live.ts";
import { LIMITS } from "../../../limits.ts";
import { openStream } from "../../live/stream.ts";
import { adminStreamRoute } from "../admin-route.ts";
import { maySeeStill } from "../authentication.ts";
import type { OperationContext } from "./operation-context.ts";

/** Everything that SDKs and ad platforms send, for people signed in to the console. */
export function consoleLiveRoutes(routes: FastifyInstance, context: OperationContext): void {
  adminStreamRoute(routes, {
    path: "live/stream",
    summary: "Live stream of an app's calls",
    description:
      "Server-sent events: events, registrations, touches and every other collection call that this process answers, " +
      `with the reason of each refusal. All calls of debug mode, and at most ${LIMITS.liveCallsPerS} others a second; ` +
      "`event: missed` counts those left out. Ends with the session.",
    access: "detail",
    query: liveQuery,
    send: async ({ query, request, reply }) => {
      const { appId } = await context.apps.findById(Number(query.app_id));
      const { client_id: clientId = "", event = "", scope = "all" } = query;
      const watched = { appId, clientId, event, scope };
      await openStream(context.live, { request, reply }, watched, {
        messageOf: ({ message }) => message,
        mayGoOn: () => maySeeStill(context, request.actor, appId),
      });
      return reply;
    },
  });
}
