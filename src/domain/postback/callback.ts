import { ApiError } from "../../errors.ts";
import { LIMITS } from "../../limits.ts";
import { NAME } from "../event/metadata.ts";
import { isPrivateHost } from "../network.ts";
import { NOT_TOLD, REFUND_EVENT } from "../refund.ts";

/** attribution: GET with macros. event: POST, signed. */
export const CALLBACK_KINDS = ["attribution", "event"] as const;
export type CallbackKind = (typeof CALLBACK_KINDS)[number];

/** Macros of the attribution callback's address, such as `__CLIENT_ID__`. */
export const CALLBACK_MACROS = [
  ...["app_id", "client_id", "wx_openid", "ad_platform", "method", "turbo_promoted_object_id", "advertiser_id"],
  ...["gid", "aid", "cid", "csite", "channel", "touched_at", "registered_at", "id"],
] as const;

/** Finds the macros in an address. */
export const MACRO = /__([A-Z_]+?)__/g;

/** Also finds mistyped macros. */
const LIKE_A_MACRO = /__\w+?__/g;
export const KNOWN_MACROS: readonly string[] = CALLBACK_MACROS.map((name) => `__${name.toUpperCase()}__`);

export type GivenCallback = {
  kind: string;
  url: string;
  events?: readonly string[] | undefined;
  secret?: string | undefined;
};

export type CallbackParts = {
  kind: CallbackKind;
  url: string;
  events: readonly string[];
  /** Undefined to keep the known secret, or to make one. */
  secret: string | undefined;
};

/** Validates a callback. `mayCallPrivate`: whether addresses of private networks may be called. */
export function readCallback(given: GivenCallback, { mayCallPrivate }: { mayCallPrivate: boolean }): CallbackParts {
  const kind = readCallbackKind(given.kind);
  const url = readUrl(given.url, kind);
  const host = hostOf(url);
  if (!mayCallPrivate && isPrivateHost(host)) {
    throw bad(`url: ${host} is an address of a private network; CALLBACK_PRIVATE_NETWORKS=allow allows them.`);
  }
  if (kind === "attribution") {
    if (given.events && given.events.length > 0) throw bad("events belong to the callback kind event.");
    if (given.secret !== undefined) throw bad("secret belongs to the callback kind event, which it signs.");
    return { kind, url, events: [], secret: undefined };
  }
  return { kind, url, events: readEvents(given.events ?? []), secret: readSecret(given.secret) };
}

export function readCallbackKind(text: string): CallbackKind {
  const kind = CALLBACK_KINDS.find((known) => known === text);
  if (kind) return kind;
  throw bad(`kind must be ${CALLBACK_KINDS.join(" or ")}.`);
}

function readUrl(url: string, kind: CallbackKind): string {
  if (url.length > LIMITS.addressLength) throw bad(`url must not be longer than ${LIMITS.addressLength} characters.`);
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw bad("url must be an address that begins with http:// or https://.");
  }
  const macros = [...url.matchAll(LIKE_A_MACRO)].map(([macro]) => macro);
  const unknown = macros.find((macro) => !KNOWN_MACROS.includes(macro));
  if (unknown !== undefined) {
    throw bad(`url: ${unknown} is not a macro; these are: ${KNOWN_MACROS.join(", ")}.`);
  }
  if (kind === "event" && macros.length > 0) throw bad("url: macros belong to the callback kind attribution.");
  // The host must be fixed here and not depend on a user's data.
  if (/__\w+?__/.test(hostOf(url))) throw bad("url: the host must not hold a macro.");
  return url;
}

function hostOf(url: string): string {
  return new URL(url).hostname.replace(/^\[|\]$/g, "");
}

function readEvents(names: readonly string[]): string[] {
  const events = [...new Set(names)];
  if (events.length === 0) throw bad("events must name at least one event.");
  if (events.length > LIMITS.callbackEvents) throw bad(`events must be at most ${LIMITS.callbackEvents}.`);
  if (events.includes(REFUND_EVENT)) throw bad(`events: ${NOT_TOLD}`);
  const wrong = events.find((name) => !NAME.test(name));
  if (wrong !== undefined) throw bad(`events: ${JSON.stringify(wrong)} is not the name of an event.`);
  return events;
}

function readSecret(secret: string | undefined): string | undefined {
  if (secret === undefined || /^[\x21-\x7e]{16,200}$/.test(secret)) return secret;
  throw bad("secret must be 16 to 200 letters, digits and signs, without spaces.");
}

function bad(message: string): ApiError {
  return new ApiError("badParameter", message);
}
