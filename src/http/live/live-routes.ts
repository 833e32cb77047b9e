import { timingSafeEqual } from "node:crypto";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Type } from "typebox";
import { type LiveCall, liveQuery } from "../../contract/live.ts";
import { isObject } from "../../domain/json.ts";
import { ApiError, CODES } from "../../errors.ts";
import { LIMITS } from "../../limits.ts";
import { isStillSignedIn } from "../admin/actor.ts";
import type { HttpContext } from "../context.ts";
import type { Told, Watched } from "./live.ts";

/** What keeps the line open through proxies; and so soon a stream ends after its session has. */
const HEARTBEAT_MS = 5_000;

/** Kept alive after its end, the connection would keep a server that stops. */
const STREAM_HEADERS = { "content-type": "text/event-stream", "cache-control": "no-store", connection: "close" };

/** Debug traffic for whoever holds the app's secret key. */
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
      const watched: Watched = { appId: app.appId, clientId: "", event: "", scope: "debug" };
      openStream(context, { request, reply }, watched, {
        messageOf: ({ call }) => (isCollected(call) ? `data: ${debugTextOf(app.appId, call)}\n\n` : ""),
        mayGoOn: async () => true,
      });
    },
  });
}

/** All that SDKs and ad platforms send, for somebody signed in to the console. */
export function consoleLiveRoutes(routes: FastifyInstance, context: HttpContext): void {
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
        context,
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

type Manner = {
  /** The empty text: not shown here. */
  messageOf: (told: Told) => string | Buffer;
  mayGoOn: () => Promise<boolean>;
};

function openStream(
  context: HttpContext,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  watched: Watched,
  { messageOf, mayGoOn }: Manner,
): void {
  const { raw } = reply;
  const remembered: (string | Buffer)[] = [];
  let missed = 0;
  let isOpen = false;
  const write = (message: string | Buffer) => {
    if (!isOpen) remembered.push(message);
    // A watcher that does not keep up misses some; it must not fill the memory.
    else if (raw.writableLength < LIMITS.liveStreamBytes) raw.write(message);
    else missed += 1;
  };
  const end = () => void (raw.writableEnded || raw.end());
  const tell = (told: Told) => {
    const message = messageOf(told);
    if (message !== "") write(message);
  };
  const lastId = Number(request.headers["last-event-id"] ?? 0);
  const watch = context.live.watch(watched, { tell, end }, Number.isSafeInteger(lastId) ? lastId : 0);
  if (!watch) throw new ApiError("overloaded", `${LIMITS.liveWatchers} streams are open already.`, { retryAfterS: 60 });

  reply.hijack();
  isOpen = true;
  raw.writeHead(CODES.ok.status, STREAM_HEADERS);
  raw.write(": watching\n\n");
  for (const message of remembered) raw.write(message);
  const beat = setInterval(() => {
    missed += watch.takeMissed();
    write(missed > 0 ? `event: missed\ndata: {"calls":${missed}}\n\n` : ": alive\n\n");
    missed = 0;
    mayGoOn().then(
      (isAllowed) => void (isAllowed || end()),
      // While the database is away nobody can tell; the stream needs it for nothing else.
      () => {},
    );
  }, HEARTBEAT_MS);
  raw.on("error", () => {});
  raw.on("close", () => {
    clearInterval(beat);
    watch.stop();
  });
}

function isCollected({ endpoint, code }: LiveCall): boolean {
  return endpoint.endsWith("/collect") && code === CODES.ok.code;
}

/** What is nested beyond the stack is not shown. */
function debugTextOf(appId: number, { at_ms, client_id, body, errors }: LiveCall): string {
  const events = isObject(body) ? body.event_list : [];
  const shown = { appId, clientId: client_id, receivedAtMs: at_ms, events, errors };
  try {
    return JSON.stringify(shown);
  } catch {
    return JSON.stringify({ ...shown, events: [] });
  }
}
