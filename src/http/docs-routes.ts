import type { FastifyInstance } from "fastify";
import { JSON_TYPE } from "./answer.ts";
import { docsPage, type OpenApi } from "./docs-page.ts";
import { once, type WarmUp } from "./warm-up.ts";

/** The page contains its style and needs nothing else: no script may run, and no page may frame it. */
const PAGE_HEADERS = {
  "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
};

/**
 * Both texts are long and the same for everybody. They are made once, and as bytes, because a text would be copied into
 * each answer: a client that requests them without reading the answers costs neither time nor memory.
 */
export function docsRoutes(server: FastifyInstance, describe: () => OpenApi, warmUp: WarmUp): void {
  const described = once(describe);
  const openApi = once(() => Buffer.from(JSON.stringify(described())));
  const page = once(() => Buffer.from(docsPage(described())));
  warmUp.add(openApi);
  warmUp.add(page);

  server.get("/openapi.json", {
    schema: { hide: true },
    handler: async (_request, reply) => reply.type(JSON_TYPE).send(openApi()),
  });

  server.get("/docs", {
    schema: { hide: true },
    handler: async (_request, reply) => reply.type("text/html; charset=utf-8").headers(PAGE_HEADERS).send(page()),
  });
}
