import type { FastifyInstance, RouteOptions } from "fastify";
import type { OpenApi } from "./docs-page.ts";

const DESCRIBED = {
  openapi: "3.1.0",
  info: {
    title: "Touchpoint",
    version: "1",
    description:
      "Attribution, event collection and ROI reporting. Every answer has HTTP status 200 and the envelope, unless stated otherwise.",
  },
};

type JsonSchema = { description?: string; properties?: Record<string, JsonSchema>; required?: string[] };

declare module "fastify" {
  interface FastifySchema {
    summary?: string;
    description?: string;
    tags?: readonly string[];
    deprecated?: boolean;
    /** Leaves the route out of the document. */
    hide?: boolean;
  }
}

/** The keys of a route's schema that become a part of the document; all others are copied as they are. */
type RouteSchema = {
  hide?: boolean;
  querystring?: JsonSchema;
  body?: JsonSchema;
  response?: { 200: JsonSchema };
};

/**
 * Describes the routes that are registered after this call. The schemas go into the document as they are, because they
 * have no references: copying and resolving all of them, as the usual plugin does, held the event loop for 113 ms.
 */
export function openApiOf(server: FastifyInstance): () => OpenApi {
  const routes: RouteOptions[] = [];
  server.addHook("onRoute", (route) => void routes.push(route));
  return () => {
    const paths: Record<string, Record<string, object>> = {};
    for (const { url, method, schema } of routes) {
      const { hide, ...described } = (schema ?? {}) as RouteSchema;
      // The framework adds a HEAD to each GET.
      if (hide || method === "HEAD") continue;
      for (const one of [method].flat()) paths[url] = { ...paths[url], [one.toLowerCase()]: operationOf(described) };
    }
    return { ...DESCRIBED, paths };
  };
}

function operationOf({ querystring, body, response, ...rest }: RouteSchema): object {
  return {
    ...rest,
    ...(querystring && { parameters: parametersOf(querystring) }),
    ...(body && { requestBody: { required: true, content: jsonOf(body) } }),
    responses: { 200: answerOf(response?.[200]) },
  };
}

/** OpenAPI requires a description. */
function answerOf(schema: JsonSchema | undefined): object {
  return { description: schema?.description ?? "The answer", ...(schema && { content: jsonOf(schema) }) };
}

function parametersOf({ properties = {}, required = [] }: JsonSchema): object[] {
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: "query",
    required: required.includes(name),
    ...(description !== undefined && { description }),
    schema,
  }));
}

const jsonOf = (schema: JsonSchema) => ({ "application/json": { schema } });
