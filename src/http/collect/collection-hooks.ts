import type { FastifyInstance } from "fastify";
import { elapsedMs } from "../../clock.ts";
import type { JsonValue } from "../../domain/json.ts";
import { ApiError } from "../../errors.ts";
import type { AppDirectory, ServedApp } from "../../intake/app-directory.ts";
import type { IntakeBudgets } from "../../intake/budgets.ts";
import type { CallerAddress } from "../caller-address.ts";
import type { Collected } from "./collect.ts";
import { type ShowContext, showCall } from "./live-call.ts";

export type CollectionHooksContext = ShowContext & {
  apps: AppDirectory;
  budgets: IntakeBudgets;
  caller: CallerAddress;
};

declare module "fastify" {
  interface FastifyRequest {
    app: ServedApp;
    /** The result of event collect, once it is durable. */
    collected?: Collected;
    /** The content of a body that was encrypted or is kept as bytes; null until it is read. */
    opened?: JsonValue;
  }
  interface FastifyContextConfig {
    /** Called by SDKs: needs an access token, answers browsers of any origin. */
    collection?: boolean;
    /** The live stream shows nothing of the body. */
    hidesBody?: boolean;
  }
}

/** What every collection route needs: the token's app, the app's budget, and the live stream. */
export function addCollectionHooks(server: FastifyInstance, context: CollectionHooksContext): void {
  server.addHook("onRequest", (request, reply, done) => {
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

  server.addHook("preValidation", (request, _reply, done) => {
    const { collection, keepsBytes } = request.routeOptions.config ?? {};
    if (!collection || keepsBytes) return done();
    const bytes = request.plainBody?.length ?? 0;
    done(context.budgets.takeFromApp(request.app.appId, bytes, elapsedMs()));
  });

  server.addHook("onResponse", (request, _reply, done) => {
    if (request.routeOptions.config?.collection) showCall(context, request);
    done();
  });
}
