import type { Config } from "../../config.ts";
import { ApiError } from "../../errors.ts";
import type { AppDirectory, ServedApp } from "../../intake/app-directory.ts";
import type { BodyHeaders } from "../../intake/body/sent-body.ts";
import type { Door, DoorHeaders, Exchange } from "../exchange.ts";
import { COLLECT_ENDPOINTS, type CollectCall, type CollectContext, collect, enabledApp } from "./collect.ts";
import { DoorCall, type DoorContext } from "./door.ts";
import { type ShowContext, showCollected, showRefused } from "./live-call.ts";

export type CollectDoorContext = DoorContext &
  CollectContext &
  ShowContext & { config: Pick<Config, "bodyBytesMax">; apps: AppDirectory };

/** The fast path for event collect, which is nearly all of the traffic. */
export function collectDoor(context: CollectDoorContext): Door {
  const endpoints = new Map(
    Object.keys(COLLECT_ENDPOINTS).map((endpoint) => [`/event_center/api/v1/${endpoint}`, endpoint]),
  );
  const { bodyBytesMax: bytesMax } = context.config;

  return (exchange) => {
    const { url } = exchange;
    const question = url.indexOf("?");
    const path = question < 0 ? url : url.slice(0, question);
    const endpoint = endpoints.get(path.endsWith("/") ? path.slice(0, -1) : path);
    if (endpoint === undefined || exchange.method !== "POST") return false;
    const token = question < 0 ? undefined : tokenOf(url.slice(question));
    const known = token === undefined ? undefined : context.apps.peek(token);
    if (!known?.enabled && !exchange.canWait) return false;

    const call = new DoorCall(context, exchange, endpoint);
    const receive = (app: ServedApp) =>
      call.readBody((bytes) => void answerCollect(context, call, sentCall(call, exchange, { endpoint, app, bytes })), {
        appId: app.appId,
        bytesMax,
      });
    if (context.isStopping()) call.fail(new ApiError("overloaded", "The server is stopping.", { retryAfterS: 5 }));
    else if (known?.enabled) receive(known);
    // The body of an unknown caller is not read.
    else {
      const finding = context.apps.find(token).then(enabledApp);
      finding.then(receive, (error) => call.fail(error));
    }
    return true;
  };
}

async function answerCollect(context: CollectContext & ShowContext, call: DoorCall, sent: CollectCall): Promise<void> {
  try {
    const collected = await collect(context, sent);
    call.succeed(collected.answer);
    showCollected(context, sent, collected);
  } catch (error) {
    showRefused(context, sent, call.fail(error));
  }
}

function sentCall(
  { ip, ua }: DoorCall,
  { headers }: Exchange,
  { endpoint, app, bytes }: Pick<CollectCall, "endpoint" | "app" | "bytes">,
): CollectCall {
  const isDebug = headers["turbo-debug-mode"] === "1";
  return { endpoint, app, bytes, headers: bodyHeadersOf(headers), ip, ua, isDebug, plain: undefined };
}

function tokenOf(query: string): string | undefined {
  const [, token] = /[?&]access_token=([^&#]*)/.exec(query) ?? [];
  // Our own tokens are plain letters and digits; anything else is unknown, decoded or not.
  return token || undefined;
}

function bodyHeadersOf(headers: DoorHeaders): BodyHeaders {
  return {
    contentType: headers["content-type"] ?? "",
    contentEncoding: headers["content-encoding"] ?? "",
    gravityCompress: headers["gravity-content-compress"] ?? "",
  };
}
