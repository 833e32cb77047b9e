import { timingSafeEqual } from "node:crypto";
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { LIMITS } from "../config.ts";
import { ApiError, CODES } from "../errors.ts";
import type { HttpContext } from "./context.ts";
import type { LiveRequest } from "./live.ts";

/** The live event stream of debug traffic, for whoever holds the app's secret key. */
export function liveRoutes(server: FastifyInstance, context: HttpContext): void {
  server.get("/event_center/api/v1/event/stream", {
    // A HEAD would wait for the end of a stream that has none, and take the place of somebody who watches.
    exposeHeadRoute: false,
    schema: {
      summary: "Live event stream",
      description: "Server-sent events of an app's debug traffic. `Authorization: Bearer <app_key>`.",
      tags: ["operations"],
      querystring: Type.Object({ app_id: Type.String({ pattern: "^\\d+$" }) }),
    },
    handler: (request, reply) => {
      const { app_id } = request.query as { app_id: string };
      const app = context.apps.byId(Number(app_id));
      const given = Buffer.from((request.headers.authorization ?? "").replace(/^Bearer /, ""));
      const expected = Buffer.from(app?.appKey ?? "");
      if (!app || given.length !== expected.length || !timingSafeEqual(given, expected)) {
        throw new ApiError("badSign", "Authorization must be `Bearer ` and the app_key of this app.");
      }
      reply.hijack();
      const { raw } = reply;
      raw.writeHead(CODES.ok.status, { "content-type": "text/event-stream", "cache-control": "no-store" });
      raw.write(": watching\n\n");
      const stop = context.live.watch(app.appId, (seen) => {
        // A watcher that does not keep up misses some; it must not fill the memory.
        if (raw.writableLength < LIMITS.liveWaitingBytes) raw.write(`data: ${textOf(seen)}\n\n`);
      });
      if (!stop) raw.end();
      raw.on("close", () => stop?.());
    },
  });
}

/** What is nested beyond the stack is not shown; a watcher must never disturb the request that it watches. */
function textOf(seen: LiveRequest): string {
  try {
    return JSON.stringify(seen);
  } catch {
    return JSON.stringify({ ...seen, events: [] });
  }
}
