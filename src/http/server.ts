import swagger from "@fastify/swagger";
import Fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from "fastify";
import { refusal } from "../contract/envelope.ts";
import { isDatabaseAway } from "../db/pool.ts";
import { parseJson, parseJsonWithIds } from "../domain/json.ts";
import { ApiError, CODES, type CodeName } from "../errors.ts";
import { unpackBody } from "./body.ts";
import { collectRoutes } from "./collect-routes.ts";
import type { HttpContext } from "./context.ts";
import { lookupRoutes } from "./lookup-routes.ts";
import { opsRoutes } from "./ops-routes.ts";
import { orderEventRoutes } from "./order-event-routes.ts";
import { userRoutes } from "./user-routes.ts";
import { AJV_OPTIONS, sentenceOf } from "./validation.ts";

/** What the SDKs put on a cross-origin request. */
const CORS_HEADERS = [
  ...["content-type", "turbo-debug-mode", "gravity-content-compress", "user-agent", "version"],
  ...["ge-integration-type", "ge-integration-version", "ge-integration-count", "ge-integration-extra"],
  ...["ta-integration-type", "ta-integration-version", "ta-integration-count", "ta-integration-extra", "ta-datas-type"],
].join(", ");

const RAW_CONTENT_TYPE = Symbol("the Content-Type as sent");
type RawRequest = { headers: Record<string, string | string[] | undefined>; [RAW_CONTENT_TYPE]?: string };

export async function createServer(context: HttpContext): Promise<FastifyInstance> {
  const { config } = context;
  const server = Fastify({
    loggerInstance: context.log as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true, requestIdLogLabel: "request_id" }),
    bodyLimit: config.bodyBytesMax,
    requestTimeout: config.requestTimeoutS * 1000,
    connectionTimeout: 0,
    keepAliveTimeout: 75_000,
    forceCloseConnections: "idle",
    return503OnClosing: false,
    trustProxy: config.trustedProxies.length > 0 ? [...config.trustedProxies] : false,
    routerOptions: { ignoreTrailingSlash: true, caseSensitive: true },
    ajv: { customOptions: AJV_OPTIONS },
    // Fastify refuses odd Content-Types before any parser sees them; SDKs send odd ones, and none tells the truth.
    rewriteUrl(request) {
      const raw = request as unknown as RawRequest;
      raw[RAW_CONTENT_TYPE] = String(raw.headers["content-type"] ?? "");
      if (raw.headers["content-type"] !== undefined) raw.headers["content-type"] = "application/octet-stream";
      return request.url ?? "/";
    },
    clientErrorHandler(_error, socket) {
      const body = JSON.stringify(refusal("badParameter", "The request is not valid HTTP, or came too slowly."));
      if (socket.writable) {
        socket.end(
          `HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
        );
      }
    },
  });
  server.server.maxConnections = config.connectionsMax;
  // Answers are plain data made here: nothing to filter, and unknown keys must stay.
  server.setSerializerCompiler(() => JSON.stringify);
  server.decorateRequest("answerCode", 0);
  readBodies(server, context);
  addHooks(server, context);
  answerErrors(server, context);
  await server.register(swagger, { openapi: OPENAPI });
  await server.register(async (routes) => {
    collectRoutes(routes, context);
    userRoutes(routes, context);
    lookupRoutes(routes, context);
    orderEventRoutes(routes, context);
    opsRoutes(routes, context);
    routes.options("/event_center/*", { schema: { hide: true }, handler: preflight });
  });
  return server;
}

const OPENAPI = {
  openapi: "3.1.0" as const,
  info: {
    title: "Touchpoint",
    version: "1",
    description:
      "Attribution, event collection and ROI reporting. Every answer has HTTP status 200 and the envelope, unless stated otherwise.",
  },
};

/** Bodies are read by us: whatever their Content-Type, unpacked, parsed, and kept as bytes for the journal. */
function readBodies(server: FastifyInstance, context: HttpContext): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser("*", { parseAs: "buffer" }, async (request: FastifyRequest, bytes: Buffer) => {
    const header = (name: string) => String(request.headers[name] ?? "");
    request.plainBody = await unpackBody(
      bytes,
      {
        contentType: (request.raw as unknown as RawRequest)[RAW_CONTENT_TYPE] ?? "",
        contentEncoding: header("content-encoding"),
        gravityCompress: header("gravity-content-compress"),
      },
      context.config.bodyUnpackedBytesMax,
    );
    return request.routeOptions.config.numbersAreIds
      ? parseJsonWithIds(request.plainBody)
      : parseJson(request.plainBody);
  });
}

function addHooks(server: FastifyInstance, context: HttpContext): void {
  server.addHook("onRequest", (request, reply, done) => {
    if (context.isStopping()) {
      reply.header("connection", "close");
      return done(new ApiError("overloaded", "The server is stopping.", { retryAfterS: 5 }));
    }
    if (!request.routeOptions.config?.collection) return done();
    if (request.headers.origin !== undefined) reply.header("access-control-allow-origin", "*");
    const token = (request.query as { access_token?: string | string[] }).access_token;
    const single = Array.isArray(token) ? token[0] : token;
    const known = single === undefined ? undefined : context.apps.peek(single);
    if (known?.enabled) {
      request.app = known;
      return done();
    }
    context.apps.find(single).then((app) => {
      if (!app.enabled) return done(new ApiError("badToken", "This app is disabled."));
      request.app = app;
      done();
    }, done);
  });

  server.addHook("onResponse", (request, reply, done) => {
    const { endpoint } = request.routeOptions.config ?? {};
    if (endpoint) {
      context.metrics.requests.inc({ endpoint, code: request.answerCode });
      context.metrics.requestSeconds.observe({ endpoint }, reply.elapsedTime / 1000);
    }
    request.log.debug(
      { url: request.routeOptions.url, status: reply.statusCode, code: request.answerCode },
      "answered",
    );
    done();
  });
}

function answerErrors(server: FastifyInstance, context: HttpContext): void {
  server.setErrorHandler((error: FastifyError, request, reply) => {
    const { reason, message, retryAfterS } = understand(error);
    if (reason === "internal") request.log.error({ err: error, url: request.routeOptions.url }, "A request failed.");
    if (retryAfterS !== undefined) reply.header("retry-after", String(retryAfterS));
    answer(request, reply, reason, message);
  });

  server.setNotFoundHandler((request, reply) => {
    const path = request.url.split("?")[0]!.replace(/\/$/, "");
    const allowed = (["GET", "POST"] as const).filter((method) => server.hasRoute({ url: path, method }));
    if (allowed.length === 0)
      return answer(request, reply, "unknownPath", `There is nothing at ${path.slice(0, 200)}.`);
    reply.header("allow", allowed.join(", "));
    return answer(request, reply, "wrongMethod", `${path} takes ${allowed.join(" or ")}, not ${request.method}.`);
  });

  function answer(request: FastifyRequest, reply: FastifyReply, reason: CodeName, message: string): void {
    request.answerCode = CODES[reason].code;
    void reply
      .code(CODES[reason].status)
      .type("application/json; charset=utf-8")
      .send(JSON.stringify(refusal(reason, message)));
  }

  function understand(error: FastifyError | ApiError): {
    reason: CodeName;
    message: string;
    retryAfterS?: number | undefined;
  } {
    if (error instanceof ApiError) return error;
    if (error.validation) {
      const where = error.validationContext === "querystring" ? "Query: " : "";
      const sentence = sentenceOf(error.validation as Parameters<typeof sentenceOf>[0]);
      return { reason: "badParameter", message: `${where}${sentence}` };
    }
    switch (error.code) {
      case "FST_ERR_CTP_BODY_TOO_LARGE":
        return { reason: "bodyTooLarge", message: `The body is larger than ${context.config.bodyBytesMax} bytes.` };
      case "FST_ERR_CTP_INVALID_CONTENT_LENGTH":
        return { reason: "badJson", message: "The body is not as long as Content-Length says." };
      case "FST_ERR_BAD_URL":
        return { reason: "unknownPath", message: "The address cannot be read." };
    }
    if (isDatabaseAway(error))
      return { reason: "overloaded", message: "The database is away; try again.", retryAfterS: 5 };
    return { reason: "internal", message: "Something went wrong on our side." };
  }
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
