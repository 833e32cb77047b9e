import type { TouchKind } from "../../domain/attribution/touch.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { PostbackEventType } from "../../domain/postback/postback.ts";
import type { Device } from "../../domain/user/device.ts";

/** A call to a platform as data: building it sends nothing. */
export type HttpRequest = {
  method: "GET" | "POST";
  url: string;
  headers: Readonly<Record<string, string>>;
  body?: string;
};

export type HttpReply = { status: number; body: string };

/** One thing that an account at a platform can be told, such as a key or an address. */
export type AccountField = {
  name: string;
  hint: string;
  /** Holds where nothing is set; a field whose fallback is empty and which is needed says so in `prepare`. */
  fallback: string;
  /** Encrypted at rest, never shown. */
  isSecret?: true;
};

/** An account's own values over the fallbacks; the empty text for what neither has. */
export type AccountSettings = (name: string) => string;

/** What the outside world lends to a pure function. */
export type CallContext = {
  account: AccountSettings;
  nowMs: number /** 32 hex digits, new for each call. */;
  nonce: string;
};

/**
 * How a platform answered. `retry`: the same again later. `permanent`: it will never take this one. `token`: with
 * another access token it may.
 */
export type ReplyVerdict = { kind: "accepted" } | { kind: "retry" | "permanent" | "token"; reason: string };

/** What a platform is to be told: one moment of one user that its ad brought. */
export type Conversion = {
  eventType: PostbackEventType;
  atMs: number;
  /** Money to tell, in cents; null: none is told. */
  cents: number | null;
  /** Names this conversion in every attempt, 32 hex digits: platforms that dedupe know it again by that. */
  dedupeId: string;
  /** The order's trace_id; the empty text where it is not about an order. */
  orderId: string;
  /** The touch that won, in the words of the platform's own ad_data (see `adData` in the platform's file). */
  adData: JsonObject;
  touchKind: TouchKind;
  user: ConversionUser;
};

export type ConversionUser = {
  clientId: string;
  wxOpenid: string;
  wxUnionid: string;
  osPlatform: string;
  ip: string;
  ua: string;
  device: Device | null;
};

/**
 * `skip`: this platform cannot be told, and no other attempt would change that. `dedupes`: whether the platform counts
 * a conversion once that reaches it twice by this route. Where it does not, and an answer was lost, it is not told
 * again: it may have counted already.
 */
export type Prepared = { kind: "request"; request: HttpRequest; dedupes: boolean } | { kind: "skip"; reason: string };

/** How a platform is told of conversions. Pure: a request as data, and a reply read. */
export type PostbackConnector = {
  /** What an account can be told; base addresses are among them. */
  fields: readonly AccountField[];
  prepare(conversion: Conversion, context: CallContext): Prepared;
  read(reply: HttpReply): ReplyVerdict;
  /** "no": it has no place for money, so that none of an order's amount counts as told. */
  tellsMoney?: "no";
  /** Where tokens run out and can be had anew. */
  tokens?: TokenFlow;
};

/** Gets a new access token. */
export type TokenFlow = {
  /** Undefined: the account lacks what is needed for it. */
  request(context: CallContext): HttpRequest | undefined;
  /** New values of the account's fields, `access_token` and often `refresh_token`; and when the first one runs out. */
  read(reply: HttpReply, nowMs: number): TokenAnswer;
};

export type TokenAnswer =
  | { kind: "token"; values: Readonly<Record<string, string>>; expiresAtMs: number | null }
  | { kind: "retry" | "permanent"; reason: string };

/** Settings for tests and dry runs, and the one place where fallbacks are applied. */
export function settingsOf(fields: readonly AccountField[], values: Readonly<Record<string, string>>): AccountSettings {
  const fallbacks = new Map(fields.map((field) => [field.name, field.fallback]));
  return (name) => values[name] || (fallbacks.get(name) ?? "");
}
