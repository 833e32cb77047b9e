import type { FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from "fastify";
import type { Static, TSchema, TUnsafe } from "typebox";
import type { By } from "../../admin/desk.ts";
import { type EnvelopeSchema, success } from "../../contract/envelope.ts";
import { LEAST_ROLE } from "../../domain/access/role.ts";
import type { Access, AppsNeeded } from "./actor.ts";

const BASE = "/admin/api/v1";

/** A call whose query and body have passed the route's schemas. */
export type AdminCall<Query extends TSchema, Body extends TSchema> = {
  query: Static<Query>;
  body: Static<Body>;
  /** Who is calling. */
  by: By;
  request: FastifyRequest;
  reply: FastifyReply;
};

type Nothing = TUnsafe<undefined>;

type Described<Query extends TSchema, Body extends TSchema> = {
  /** The path below /admin/api/v1. */
  path: string;
  /** POST by default when the route takes a body, otherwise GET. */
  method?: "GET" | "POST";
  summary: string;
  description?: string;
  /** Who may call it: a change of this is seen in the table of docs/API.md. */
  access: Access;
  /** By default `one`. */
  apps?: AppsNeeded;
  /**
   * Tokens for programs are refused where somebody gets a way in: whoever has stolen one must not be able to make another
   * credential of it, which would outlive it.
   */
  apiTokens?: "refused";
  query?: Query;
  body?: Body;
  /** How the body is read, when it differs from the usual way. */
  reading?: { bytesMax?: number; numbersAreIds?: true; takesCsv?: true; keepsBytes?: true };
  /** Refuses a request before any of its body is read. */
  admit?: (request: FastifyRequest) => void;
};

export type AdminRoute<Query extends TSchema, Body extends TSchema, Data extends TSchema> = Described<Query, Body> & {
  answer: EnvelopeSchema<Data>;
  /** Returns the data of the answer. */
  run: (call: AdminCall<Query, Body>) => Promise<Static<Data>>;
};

/** An operation of the admin interface that is answered in the envelope. */
export function adminRoute<Data extends TSchema, Query extends TSchema = Nothing, Body extends TSchema = Nothing>(
  routes: FastifyInstance,
  route: AdminRoute<Query, Body, Data>,
): void {
  const { schema, ...options } = optionsOf(route);
  routes.route({
    ...options,
    method: methodOf(route),
    url: `${BASE}/${route.path}`,
    schema: { ...schema, response: { 200: route.answer } },
    handler: async (request, reply) => success((await route.run(callOf(request, reply))) as object),
  });
}

/** An operation that is answered by a stream of its own. */
export function adminStreamRoute<Query extends TSchema = Nothing, Body extends TSchema = Nothing>(
  routes: FastifyInstance,
  route: Described<Query, Body> & { send: (call: AdminCall<Query, Body>) => Promise<FastifyReply> },
): void {
  routes.route({
    ...optionsOf(route),
    method: methodOf(route),
    url: `${BASE}/${route.path}`,
    // A HEAD would wait for the end of a stream that may have none.
    exposeHeadRoute: false,
    handler: (request, reply) => route.send(callOf(request, reply)),
  });
}

function methodOf({ method, body }: Pick<Described<TSchema, TSchema>, "method" | "body">): "GET" | "POST" {
  return method ?? (body ? "POST" : "GET");
}

/** The only place that casts a request to its schemas' types: validation has just checked it against them. */
function callOf<Query extends TSchema, Body extends TSchema>(
  request: FastifyRequest,
  reply: FastifyReply,
): AdminCall<Query, Body> {
  return { query: request.query as Static<Query>, body: request.body as Static<Body>, by: request.by, request, reply };
}

function optionsOf<Query extends TSchema, Body extends TSchema>(
  route: Described<Query, Body>,
): RouteShorthandOptions & { schema: object } {
  const { path, summary, access, apps = "one", apiTokens, query, body, reading, admit } = route;
  if (apps === "one" && access !== "open" && access !== "own") assertNamesApp(route);
  const refusal = apiTokens === "refused" ? "Not with a token for programs." : "";
  const description = [route.description, needText(access, apps), refusal].filter(Boolean).join(" ");
  const { bytesMax, ...config } = reading ?? {};
  const schema = {
    summary,
    // Signing in has a heading of its own in the documentation.
    tags: [path.split("/")[0] === "session" ? "session" : "admin"],
    ...(description !== "" && { description }),
    // Kept in the OpenAPI document, from which the table in docs/API.md is made.
    "x-access": access,
    ...(query && { querystring: query }),
    ...(body && { body }),
  };
  return {
    schema,
    config: { access, apps, ...(apiTokens && { apiTokens }), ...config },
    ...(bytesMax !== undefined && { bodyLimit: bytesMax }),
    ...(admit && { onRequest: async (request: FastifyRequest) => admit(request) }),
  };
}

/** A route for one app whose calls cannot name the app would be open to everybody with the role for another app. */
function assertNamesApp({ path, query, body }: Described<TSchema, TSchema>): void {
  const named = [query, body].some((schema) => "app_id" in ((schema as { properties?: object })?.properties ?? {}));
  if (!named) throw new Error(`${path} is for one app, but neither its query nor its body has an app_id.`);
}

function needText(access: Access, apps: AppsNeeded): string {
  if (access === "open" || access === "own") return "";
  const where = { one: "for the app", some: "for an app; the answer is about no others", all: "for all apps" };
  return `Role: ${LEAST_ROLE[access]} or more, ${where[apps]}.`;
}
