import type { TouchKind } from "../../domain/attribution/touch.ts";
import { ApiError } from "../../errors.ts";
import { LIMITS } from "../../limits.ts";
import type { Door } from "../exchange.ts";
import { DoorCall, type DoorContext } from "./door.ts";
import { acceptTouch, type TouchContext } from "./touch.ts";
import type { TouchCall } from "./touch-call.ts";

const PATH = /^\/event_center\/api\/v1\/event\/(click|impression)\/?(?:\?(.*))?$/s;
const FORM = "application/x-www-form-urlencoded";
/** `appId` 0: the app is not known before the body is read. */
const LINK_BODY = { appId: 0, bytesMax: LIMITS.linkBytes };

/** The fast path for the ad platforms' link calls, which are many times as frequent as registrations. */
export function touchDoor(context: DoorContext & TouchContext): Door {
  return (exchange) => {
    const { url, method, headers } = exchange;
    const match = method === "GET" || method === "POST" ? PATH.exec(url) : null;
    if (!match) return false;
    const [, kind, query = ""] = match as unknown as [string, TouchKind, string | undefined];
    const call = new DoorCall(context, exchange, `event/${kind}`);
    const accept = (body: TouchCall["body"]) => {
      const { ip, ua } = call;
      acceptTouch(context, { kind, query, body, url, host: headers.host ?? "", ip, ua }).then(
        (reply) => call.succeed(reply),
        (error) => call.fail(error),
      );
    };
    const isForm = headers["content-type"]?.startsWith(FORM) ?? false;
    if (context.isStopping()) call.fail(new ApiError("overloaded", "The server is stopping.", { retryAfterS: 5 }));
    else if (method === "GET") accept(undefined);
    else call.readBody((bytes) => accept({ bytes, isForm: isForm && bytes.length > 0 }), LINK_BODY);
    return true;
  };
}
