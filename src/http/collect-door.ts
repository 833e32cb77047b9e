import type { IncomingMessage } from "node:http";
import { collectBody, collectV2Body } from "../contract/collect.ts";
import { type JsonObject, parseJson } from "../domain/json.ts";
import { ApiError } from "../errors.ts";
import type { ServedApp } from "./app-directory.ts";
import { type BodyHeaders, isPacked, isPlain, unpackBody } from "./body.ts";
import { collect, enabledApp } from "./collect.ts";
import type { HttpContext } from "./context.ts";
import { DoorCall, type Handler } from "./door.ts";
import { showCollected, showRefused } from "./live-call.ts";
import { type Validate, validatorOf } from "./validation.ts";

/** The short way in for event collect, which is nearly all of the traffic. Everything else goes to `next`. */
export function collectDoor(context: HttpContext, next: Handler): Handler {
  const validators = new Map<string, { endpoint: string; validate: Validate }>();
  for (const [endpoint, schema] of [
    ["event/collect", collectBody] as const,
    ["eventv2/collect", collectV2Body] as const,
  ]) {
    validators.set(`/event_center/api/v1/${endpoint}`, { endpoint, validate: validatorOf(schema) });
  }

  return (request, response) => {
    const url = request.url ?? "";
    const question = url.indexOf("?");
    const path = question < 0 ? url : url.slice(0, question);
    const route = validators.get(path.endsWith("/") ? path.slice(0, -1) : path);
    if (!route || request.method !== "POST") return next(request, response);

    const call = new DoorCall(context, request, response, route.endpoint);
    if (context.isStopping())
      return call.fail(new ApiError("overloaded", "The server is stopping.", { retryAfterS: 5 }));
    const token = question < 0 ? undefined : tokenOf(url.slice(question));
    const known = token === undefined ? undefined : context.apps.peek(token);
    // Of a stranger nothing is read.
    if (known?.enabled) receive(known);
    else
      context.apps
        .find(token)
        .then(enabledApp)
        .then(receive, (error) => call.fail(error));

    function receive(app: ServedApp): void {
      call.readBody((bytes) => void answer(app, bytes), { appId: app.appId, bytesMax: context.config.bodyBytesMax });
    }

    async function answer(app: ServedApp, bytes: Buffer): Promise<void> {
      const { ip, ua } = call;
      const isDebug = request.headers["turbo-debug-mode"] === "1";
      let plainBody = bytes;
      try {
        const headers = bodyHeadersOf(request);
        if (!isPlain(headers)) plainBody = await unpackBody(bytes, headers, context.config.bodyUnpackedBytesMax);
        const body = parseJson(plainBody) as JsonObject;
        route!.validate(body);
        const sent = { app, body, plainBody, packed: isPacked(headers) ? bytes : undefined, ip, ua, isDebug };
        const collected = await collect(context, sent);
        call.succeed(collected.answer);
        showCollected(context, route!.endpoint, sent, collected);
      } catch (error) {
        const outcome = call.fail(error);
        showRefused(context, { app, endpoint: route!.endpoint, plainBody, ip, ua, isDebug }, outcome);
      }
    }
  };
}

function tokenOf(query: string): string | undefined {
  const [, token] = /[?&]access_token=([^&#]*)/.exec(query) ?? [];
  // Our own tokens are plain letters and digits; anything else is unknown, decoded or not.
  return token || undefined;
}

function bodyHeadersOf({ headers }: IncomingMessage): BodyHeaders {
  return {
    contentType: headers["content-type"] ?? "",
    contentEncoding: headers["content-encoding"] ?? "",
    gravityCompress: String(headers["gravity-content-compress"] ?? ""),
  };
}
