import { elapsedMs } from "../../clock.ts";
import { SUCCESS_TEXT } from "../../contract/envelope.ts";
import { ApiError, CODES, type CodeName } from "../../errors.ts";
import type { AppDirectory, ServedApp } from "../../intake/app-directory.ts";
import type { IntakeBudgets } from "../../intake/budgets.ts";
import type { Intake } from "../../intake/intake.ts";
import { LIMITS } from "../../limits.ts";
import { LinkQuery } from "../../platform/link-query.ts";
import type { Platform } from "../../platform/platform.ts";
import { platformOfLink } from "../../platform/registry.ts";
import { type ShowContext, showTouch } from "./live-call.ts";
import type { ReadCall, TouchCall } from "./touch-call.ts";
import { callsIn } from "./touch-list.ts";

const COMPANIES_REMEMBERED_MAX = 1_000;

export type TouchContext = ShowContext & { apps: AppDirectory; budgets: IntakeBudgets; intake: Intake };

/**
 * Makes the touch of a call, or those of the list in its body, durable and returns the answer's text. Apply reads each
 * later, with the same `LinkQuery`.
 */
export async function acceptTouch(context: TouchContext, call: TouchCall): Promise<string> {
  const bytes = bytesOf(call);
  const link = LinkQuery.ofBytes(bytes);
  const read: ReadCall = { ...call, bytes, link };
  const id = link.get("app_id");
  const linkPlatform = linkPlatformOf(link.get("company"));
  const known = context.apps.byId(Number(id));
  const { ip: address } = call;
  const caller = { address, appId: known?.appId ?? 0, bytes: call.query.length + (call.body?.bytes.length ?? 0) };
  const refusal = context.budgets.takeFromAddress(caller, elapsedMs());
  if (refusal) throw refusal;
  if (linkPlatform === undefined) {
    throw refused(context, known, read, "badParameter", "company is missing or not the name of an ad platform.");
  }
  if (!/^\d{1,10}$/.test(id)) throw new ApiError("badParameter", "app_id is missing or not a number.");
  const app = known ?? (await context.apps.findById(Number(id)));
  if (!app.enabled) throw refused(context, app, read, "badToken", "This app is disabled.");
  const fault = faultOfSignature(linkPlatform.platform, app, read);
  if (fault !== undefined) throw refused(context, app, read, "badSign", fault);
  const calls = callsIn(read, linkPlatform.platform, (reason, message) => refused(context, app, read, reason, message));
  // The call itself has been counted.
  for (const one of calls.slice(1)) {
    const short = context.budgets.takeFromAddress({ ...caller, bytes: one.bytes.length }, elapsedMs());
    if (short) throw short;
  }
  const head = { kind: call.kind, app: app.appId, client: "", at: context.clock(), ip: call.ip, ua: call.ua } as const;
  await Promise.all(calls.map((one) => context.intake.accept({ ...head, registered: "not_required" }, one.bytes)));
  for (const one of calls) showTouch(context, app, one);
  return linkPlatform.reply;
}

/** The query, followed by the form of a POST. */
function bytesOf({ query, body }: TouchCall): Buffer {
  const form = body?.isForm ? body.bytes : undefined;
  if (query.length + (form?.length ?? 0) > LIMITS.linkBytes) {
    throw new ApiError("bodyTooLarge", `The link call is larger than ${LIMITS.linkBytes} bytes.`);
  }
  const bytes = Buffer.from(query, "latin1");
  return form ? Buffer.concat([bytes, AMPERSAND, form]) : bytes;
}

const AMPERSAND = Buffer.from("&");

/** A refusal, which is also shown on the app's live stream. */
function refused(
  context: ShowContext,
  app: ServedApp | undefined,
  call: ReadCall,
  reason: CodeName,
  message: string,
): ApiError {
  if (app) showTouch(context, app, call, { code: CODES[reason].code, message });
  return new ApiError(reason, message);
}

/** A platform, and the answer to its server: the envelope with the fields that the server looks for. */
type LinkPlatform = { platform: Platform; reply: string };

const linkPlatforms = new Map<string, LinkPlatform>();

/** The platform named by `company`, or undefined when there is none. */
function linkPlatformOf(company: string): LinkPlatform | undefined {
  const known = linkPlatforms.get(company);
  const platform = known ? undefined : platformOfLink(company);
  if (!platform) return known;
  const reply = JSON.stringify({ ...platform.reply, code: CODES.ok.code, msg: SUCCESS_TEXT, data: {}, extra: {} });
  const linkPlatform = { platform, reply };
  if (linkPlatforms.size < COMPANIES_REMEMBERED_MAX) linkPlatforms.set(company, linkPlatform);
  return linkPlatform;
}

/**
 * Why the signature of a call is refused, or undefined when it is valid or not required. A signature covers the
 * address, not the body; and when a parameter is repeated, it is unclear which one the platform meant.
 */
function faultOfSignature({ name, signature }: Platform, app: ServedApp, call: ReadCall): string | undefined {
  const secret = signature && app.secrets.get(`${name} ${signature.secret}`);
  if (!signature || secret === undefined) return undefined;
  if ((call.body?.bytes.length ?? 0) > 0) return "sign does not cover a body: send a signed link call without one.";
  if (call.link.hasRepeats) return "A signed link call must not repeat a parameter.";
  // Behind a proxy the scheme is not known for certain, so both are tried.
  const isValid = ["https", "http"].some((scheme) => signature.isValid(`${scheme}://${call.host}${call.url}`, secret));
  return isValid ? undefined : "sign does not verify.";
}
