import { LIMITS } from "../config.ts";
import { SUCCESS_TEXT } from "../contract/envelope.ts";
import type { TouchKind } from "../domain/touch.ts";
import { ApiError, CODES, type CodeName } from "../errors.ts";
import { isSignedByBaidu } from "../platform/baidu.ts";
import { platformOfLink } from "../platform/registry.ts";
import type { ServedApp } from "./app-directory.ts";
import type { HttpContext } from "./context.ts";
import { showTouch } from "./live-call.ts";

/** A call of a monitoring link, as either door hands it over. */
export type TouchCall = {
  kind: TouchKind;
  /** The query as it was sent, without the question mark. */
  query: string;
  /** The path and query as called, and the host that the caller named. */
  url: string;
  host: string;
  ip: string;
  ua: string;
};

/** Makes a touch durable and gives the answer's text. What it says is worked out later, by apply. */
export async function acceptTouch(context: HttpContext, call: TouchCall): Promise<string> {
  const id = parameterOf(call.query, "app_id");
  const company = parameterOf(call.query, "company").toLowerCase();
  const reply = replyTo(company);
  const known = context.apps.byId(Number(id));
  if (reply === undefined) {
    throw refused(context, known, call, "badParameter", "company is missing or not the name of an ad platform.");
  }
  if (!/^\d{1,10}$/.test(id)) throw new ApiError("badParameter", "app_id is missing or not a number.");
  const app = known ?? (await context.apps.findById(Number(id)));
  if (!app.enabled) throw refused(context, app, call, "badToken", "This app is disabled.");
  const akey = company === "baidu" ? app.secrets.get("baidu akey") : undefined;
  if (akey !== undefined && !isSigned(call, akey))
    throw refused(context, app, call, "badSign", "sign does not verify.");
  await context.intake.accept(
    {
      kind: call.kind,
      app: app.appId,
      client: "",
      at: context.clock(),
      ip: call.ip,
      ua: call.ua,
      registered: "not_required",
    },
    // The bytes as sent: what is not percent-encoded arrives as one character a byte.
    Buffer.from(call.query, "latin1"),
  );
  showTouch(context, app, call);
  return reply;
}

/** A refusal, shown to whoever watches the app that it is about. */
function refused(
  context: HttpContext,
  app: ServedApp | undefined,
  call: TouchCall,
  reason: CodeName,
  message: string,
): ApiError {
  if (app) showTouch(context, app, call, { code: CODES[reason].code, message });
  return new ApiError(reason, message);
}

const replies = new Map<string, string>();

/** The envelope, and in it what the platform's own server looks for. Undefined: there is no such platform. */
function replyTo(company: string): string | undefined {
  const known = replies.get(company);
  const platform = known === undefined ? platformOfLink(company) : undefined;
  if (!platform) return known;
  const reply = JSON.stringify({ ...platform.reply, code: 0, msg: SUCCESS_TEXT, data: {}, extra: {} });
  if (replies.size < LIMITS.linkReplies) replies.set(company, reply);
  return reply;
}

/** Of ids and names, which need no decoding; the whole query is read by apply. */
function parameterOf(query: string, name: string): string {
  for (let at = query.indexOf(`${name}=`); at >= 0; at = query.indexOf(`${name}=`, at + 1)) {
    if (at > 0 && query[at - 1] !== "&") continue;
    const end = query.indexOf("&", at);
    return query.slice(at + name.length + 1, end < 0 ? undefined : end);
  }
  return "";
}

/** Behind a proxy the scheme is not known for certain, so both are tried. */
function isSigned(call: TouchCall, akey: string): boolean {
  return ["https", "http"].some((scheme) => isSignedByBaidu(`${scheme}://${call.host}${call.url}`, akey));
}
