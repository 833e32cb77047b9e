import { timingSafeEqual } from "node:crypto";
import type { FastifyInstance } from "fastify";
import { Type } from "typebox";
import { LIMITS } from "../config.ts";
import { success } from "../contract/envelope.ts";
import { canAnswer } from "../db/pool.ts";
import { ApiError, CODES } from "../errors.ts";
import type { HttpContext } from "./context.ts";
import { docsPage, type OpenApi } from "./docs-page.ts";
import type { LiveRequest } from "./live.ts";

/** For operators and machines: none of these needs an access token, and none of them tells a secret. */
export function opsRoutes(server: FastifyInstance, context: HttpContext): void {
  server.get("/healthz", {
    schema: { summary: "The process is alive", tags: ["operations"] },
    handler: async () => success({ status: "alive" }),
  });

  server.get("/readyz", {
    schema: {
      summary: "New data is taken in",
      description: "503 when it is refused: disk short, journal full.",
      tags: ["operations"],
    },
    handler: async (_request, reply) => {
      const obstacle = context.intake.obstacle();
      if (obstacle) throw new ApiError("overloaded", obstacle, { retryAfterS: 10 });
      return reply.send(success({ status: "ready", database: (await canAnswer(context.pool)) ? "there" : "away" }));
    },
  });

  server.get("/metrics", {
    schema: { summary: "Figures for Prometheus", tags: ["operations"] },
    handler: async (_request, reply) => {
      reply.type(context.metrics.registry.contentType);
      return reply.send(await context.metrics.text());
    },
  });

  server.get("/progress", {
    schema: {
      summary: "How far the journal has been applied",
      description: "Positions in bytes; `settle` waits on them.",
      tags: ["operations"],
    },
    handler: async () =>
      success({
        durable: context.durable(),
        applied: context.progress.applied,
        backlog_bytes: context.intake.backlogBytes,
      }),
  });

  server.get("/openapi.json", { schema: { hide: true }, handler: async () => server.swagger() });

  server.get("/docs", {
    schema: { hide: true },
    handler: async (_request, reply) =>
      reply.type("text/html; charset=utf-8").send(docsPage(server.swagger() as OpenApi)),
  });

  server.get("/", { schema: { hide: true }, handler: async (_request, reply) => reply.redirect("/docs") });

  server.get("/event_center/api/v1/event/stream", {
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
