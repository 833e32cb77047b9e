import { timingSafeEqual } from "node:crypto";
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import type { LiveCall } from "../../contract/live.ts";
import { isObject } from "../../domain/json.ts";
import { ApiError, CODES } from "../../errors.ts";
import type { AppDirectory } from "../../intake/app-directory.ts";
import type { Live } from "./live.ts";
import { openStream } from "./stream.ts";
import type { Watched } from "./watching.ts";

export type LiveContext = { apps: AppDirectory; live: Live };

/** The live stream of an app's debug traffic, for holders of its secret key. */
export function liveRoutes(server: FastifyInstance, context: LiveContext): void {
  server.get("/event_center/api/v1/event/stream", {
    // A HEAD would wait for the end of an endless stream, and take the place of a watcher.
    exposeHeadRoute: false,
    schema: {
      summary: "Live event stream",
      description: "Server-sent events of an app's debug traffic. `Authorization: Bearer <app_key>`.",
      tags: ["operations"],
      querystring: Type.Object({ app_id: Type.String({ pattern: "^\\d+$" }) }),
    },
    handler: async (request, reply) => {
      const { app_id } = request.query as { app_id: string };
      const app = context.apps.byId(Number(app_id));
      const given = Buffer.from((request.headers.authorization ?? "").replace(/^Bearer /, ""));
      const expected = Buffer.from(app?.appKey ?? "");
      if (!app || given.length !== expected.length || !timingSafeEqual(given, expected)) {
        throw new ApiError("badSign", "Authorization must be `Bearer ` followed by the app_key of this app.");
      }
      const watched: Watched = { appId: app.appId, clientId: "", event: "", scope: "debug" };
      await openStream(context.live, { request, reply }, watched, {
        messageOf: ({ call }) =>
          isCollected(call) ? Buffer.from(`data: ${debugTextOf(app.appId, call)}\n\n`) : undefined,
        mayGoOn: async () => true,
      });
    },
  });
}

function isCollected({ endpoint, code }: LiveCall): boolean {
  return endpoint.endsWith("/collect") && code === CODES.ok.code;
}

/** The call as JSON, without its events when they are nested too deeply to serialize. */
function debugTextOf(appId: number, { at_ms, client_id, body, errors }: LiveCall): string {
  const events = isObject(body) ? body.event_list : [];
  const shown = { appId, clientId: client_id, receivedAtMs: at_ms, events, errors };
  try {
    return JSON.stringify(shown);
  } catch {
    return JSON.stringify({ ...shown, events: [] });
  }
}
