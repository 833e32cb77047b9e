import type { FastifyInstance } from "fastify";
import { liveQuery } from "../../../contract/live.ts";
import { LIMITS } from "../../../limits.ts";
import { openStream } from "../../live/stream.ts";
import { isStillSignedIn } from "../authentication.ts";
import type { OperationContext } from "./operation-context.ts";

/** All that SDKs and ad platforms send, for somebody signed in to the console. */
export function consoleLiveRoutes(routes: FastifyInstance, context: OperationContext): void {
  routes.get("/admin/api/v1/live/stream", {
    exposeHeadRoute: false,
    schema: {
      summary: "Live stream of an app's calls",
      description:
        "Server-sent events: events, registrations, touches and every other collection call that this process answers, " +
        `with why it was refused. All of debug mode; of the rest at most ${LIMITS.liveCallsPerS} a second: how many were ` +
        "left out comes as `event: missed`. Ends with the session.",
      tags: ["admin"],
      querystring: liveQuery,
    },
    handler: async (request, reply) => {
      const query = request.query as { app_id: string; client_id?: string; event?: string; scope?: "all" | "debug" };
      const { appId } = await context.apps.findById(Number(query.app_id));
      const { client_id: clientId = "", event = "", scope = "all" } = query;
      openStream(
        context.live,
        { request, reply },
        { appId, clientId, event, scope },
        {
          messageOf: ({ message }) => message,
          mayGoOn: () => isStillSignedIn(context, request.actor),
        },
      );
      return reply;
    },
  });
}
