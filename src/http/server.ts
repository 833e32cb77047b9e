import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import Fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from "fastify";
import type { Config } from "../config.ts";
import { refusal } from "../contract/envelope.ts";
import { routeValidatorOf } from "../contract/validation.ts";
import { ApiError } from "../errors.ts";
import { type AdminContext, adminRoutes } from "./admin/admin-routes.ts";
import { answerOfError, type FailedAnswer, failedAnswer, JSON_TYPE } from "./answer.ts";
import { hideContentType, readBodies } from "./body-reader.ts";
import { collectDoor } from "./collect/collect-door.ts";
import { addCollectionHooks } from "./collect/collection-hooks.ts";
import { type CollectionContext, collectionRoutes } from "./collect/collection-routes.ts";
import { touchDoor } from "./collect/touch-door.ts";
import { consoleRoutes } from "./console-routes.ts";
import { docsRoutes } from "./docs-routes.ts";
import { type Door, HttpExchange } from "./exchange.ts";
import type { Handler } from "./handler.ts";
import { inTurns } from "./in-turns.ts";
import { KEEP_ALIVE_MS } from "./lane/answer-text.ts";
import { LaneServer } from "./lane/lane-server.ts";
import { type LiveContext, liveRoutes } from "./live/live-routes.ts";
import { oneAtATime } from "./one-at-a-time.ts";
import { openApiOf } from "./openapi.ts";
import { type OpsContext, opsRoutes } from "./ops-routes.ts";
import type { ReportContext } from "./report/report-context.ts";
import { reportRoutes } from "./report/report-routes.ts";
import { mustCloseUnread } from "./unread.ts";
import { readAuthorities, WarmUp } from "./warm-up.ts";

/** What the routes of all families work with; each family sees only its own part. */
export type ServerContext = CollectionContext &
  LiveContext &
  ReportContext &
  AdminContext &
  OpsContext & { config: Pick<Config, "connectionsMax" | "requestTimeoutS"> };

declare module "fastify" {
  interface FastifyRequest {
    answerCode: number;
    /** Why the request was refused, or the empty text when it was accepted. */
    answerMessage: string;
  }
  interface FastifyContextConfig {
    /** The endpoint's name in /metrics. */
    endpoint?: string;
  }
}

export async function createServer(context: ServerContext): Promise<FastifyInstance> {
  const warmUp = new WarmUp(context.log);
  const later = (compile: () => void) => warmUp.add(compile);
  warmUp.add(readAuthorities);
  const server = Fastify({
    loggerInstance: context.log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: "request_id" }),
    serverFactory: (framework) => httpServer(context, framework),
    return503OnClosing: false,
    routerOptions: { ignoreTrailingSlash: true, caseSensitive: true },
    schemaController: {
      compilersFactory: {
        buildValidator: () => (route: unknown) => routeValidatorOf((route as { schema: object }).schema, later),
        // Answers are plain data made by us: there is nothing to filter, and unknown keys must stay.
        buildSerializer: () => () => JSON.stringify,
      },
    },
    // One logger for all requests: a child logger per request costs more than parsing a small body.
    childLoggerFactory: (logger) => logger,
    rewriteUrl(request) {
      hideContentType(request as unknown as IncomingMessage);
      return request.url ?? "/";
    },
    // Addresses that cannot be decoded never reach the error handler.
    frameworkErrors: (error, request, reply: unknown) =>
      send(
        request as FastifyRequest,
        reply as FastifyReply,
        answerOfError(context, error, { id: request.id, url: undefined }),
      ),
  });
  server.decorateRequest("answerCode", 0);
  server.decorateRequest("answerMessage", "");
  warmUp.follow(server);
  readBodies(server, context);
  addHooks(server, context);
  addCollectionHooks(server, context);
  requireBodies(server);
  answerErrors(server, context);
  const openApi = openApiOf(server);
  await server.register(async (routes) => {
    collectionRoutes(routes, context);
    opsRoutes(routes, context);
    docsRoutes(routes, openApi, warmUp);
    liveRoutes(routes, context);
    reportRoutes(routes, context);
    adminRoutes(routes, context);
    consoleRoutes(routes, warmUp);
  });
  return server;
}

function httpServer(context: ServerContext, framework: Handler): LaneServer {
  const { connectionsMax, requestTimeoutS } = context.config;
  const [collect, touch] = [collectDoor(context), touchDoor(context)];
  const door: Door = (exchange) => collect(exchange) || touch(exchange);
  const others = inTurns(framework);
  const server = new LaneServer(
    // The runtime cuts slow clients off: the whole request has to arrive in time.
    {
      requestTimeout: requestTimeoutS * 1000,
      headersTimeout: requestTimeoutS * 1000,
      // By default the runtime checks every 30 s, so that a timeout of 10 s could take up to 40 s.
      connectionsCheckingInterval: Math.min(5_000, requestTimeoutS * 250),
      keepAliveTimeout: KEEP_ALIVE_MS,
    },
    oneAtATime((request, response) => {
      if (!door(new HttpExchange(request, response))) others(request, response);
    }),
    { door, isStopping: context.isStopping, refuseLate: (socket) => refuseUnreadable(socket, "late") },
  );
  server.maxConnections = connectionsMax;
  server.on("clientError", answerUnreadable);
  return server;
}

/** Answers a message that never became a request, and closes its connection. */
function answerUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  const isLate = error.code === "ERR_HTTP_REQUEST_TIMEOUT";
  // Browsers open connections before they need them. An answer to nothing would be taken for that of their next request.
  if (!socket.writable || (isLate && (socket as Socket).bytesRead === 0)) socket.destroy();
  else refuseUnreadable(socket, isLate ? "late" : "invalid");
}

function refuseUnreadable(socket: Duplex, why: "late" | "invalid"): void {
  const status = why === "late" ? "408 Request Timeout" : "400 Bad Request";
  const message = why === "late" ? "The request arrived too slowly." : "The request is not valid HTTP.";
  const body = JSON.stringify(refusal("badParameter", message));
  socket.end(
    `HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-type: ${JSON_TYPE}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

type HooksContext = Pick<ServerContext, "isStopping" | "metrics">;

function addHooks(server: FastifyInstance, { isStopping, metrics }: HooksContext): void {
  server.addHook("onRequest", (request, reply, done) => {
    // Set before anything can fail, so that browsers and proxies do not cache refusals either.
    if (request.url.startsWith("/admin/")) reply.header("cache-control", "no-store");
    if (!isStopping()) return done();
    reply.header("connection", "close");
    done(new ApiError("overloaded", "The server is stopping.", { retryAfterS: 5 }));
  });

  server.addHook("onResponse", (request, reply, done) => {
    const { endpoint } = request.routeOptions.config ?? {};
    if (endpoint) metrics.answered(endpoint, request.answerCode, reply.elapsedTime);
    done();
  });
}

function requireBodies(server: FastifyInstance): void {
  server.addHook("preValidation", (request, _reply, done) => {
    const isMissing = request.body === undefined && request.routeOptions.schema?.body !== undefined;
    done(isMissing ? new ApiError("badJson", "The body is empty.") : undefined);
  });
}

type RoutesByPath = ReadonlyMap<string, ReadonlySet<string>>;

/** The methods of each path. The framework's own look-up takes a pattern, and throws for addresses with `*` or `(`. */
function routesByPath(server: FastifyInstance): RoutesByPath {
  const routes = new Map<string, Set<string>>();
  server.addHook("onRoute", ({ url, method }) => {
    routes.set(url, new Set([...(routes.get(url) ?? []), ...[method].flat()]));
  });
  return routes;
}

function answerErrors(server: FastifyInstance, context: Pick<ServerContext, "log">): void {
  const routes = routesByPath(server);
  server.setErrorHandler((error: FastifyError, request, reply) => {
    // None of our routes takes QUERY, but the framework checks its Content-Type before it looks for a route.
    if (error.code === "FST_ERR_ROUTE_MISSING_CONTENT_TYPE") return refuseRoute(routes, request, reply);
    const { hasRequestId } = request.routeOptions.config ?? {};
    const requestId = hasRequestId ? (request.requestId ?? randomUUID()) : undefined;
    const about = { id: request.id, url: request.routeOptions.url, requestId };
    send(request, reply, answerOfError(context, error, about));
  });

  server.setNotFoundHandler((request, reply) => refuseRoute(routes, request, reply));
}

function refuseRoute(routes: RoutesByPath, request: FastifyRequest, reply: FastifyReply): void {
  const path = request.url.split("?")[0]!.replace(/\/$/, "") || "/";
  const allowed = (["GET", "POST"] as const).filter((method) => routes.get(path)?.has(method));
  const isUnknown = allowed.length === 0;
  const message = isUnknown
    ? `There is nothing at ${path.slice(0, 200)}.`
    : `${path} takes ${allowed.join(" or ")}, not ${request.method}.`;
  const headers: Record<string, string> = isUnknown ? {} : { allow: allowed.join(", ") };
  send(request, reply, failedAnswer(isUnknown ? "unknownPath" : "wrongMethod", message, headers));
}

function send(request: FastifyRequest, reply: FastifyReply, answer: FailedAnswer): void {
  request.answerCode = answer.code;
  request.answerMessage = answer.message;
  if (mustCloseUnread(request.raw)) void reply.header("connection", "close");
  void reply.code(answer.status).headers(answer.headers).type(JSON_TYPE).send(answer.body);
}
