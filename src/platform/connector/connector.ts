import type { TouchKind } from "../../domain/attribution/touch.ts";
import type { JsonObject } from "../../domain/json.ts";
import type { PostbackEventType } from "../../domain/postback/postback.ts";
import type { Device } from "../../domain/user/device.ts";

/** A call to a platform, as plain data. */
export type HttpRequest = {
  method: "GET" | "POST";
  url: string;
  headers: Readonly<Record<string, string>>;
  body?: string;
  /** Values in it that people are not shown, wherever they stand, such as a signature. */
  hidden?: readonly string[];
};

export type HttpReply = { status: number; body: string };

/** A field of an account at a platform, such as a key or an address. */
export type AccountField = {
  name: string;
  hint: string;
  /** The value used when nothing is set. `prepare` reports required fields that have neither. */
  fallback: string;
  /** Encrypted at rest, never shown. */
  isSecret?: true;
};

/** Reads a field: the account's value, else the fallback, else the empty text. */
export type AccountSettings = (name: string) => string;

/** The inputs from outside that the pure functions of a connector need. */
export type CallContext = {
  account: AccountSettings;
  nowMs: number;
  /** 32 hex digits, new for each call. */
  nonce: string;
};

/**
 * How a platform answered. `retry`: send the same again later. `permanent`: it will never accept this one. `token`: it
 * may accept it with another access token.
 */
export type ReplyVerdict = { kind: "accepted" } | { kind: "retry" | "permanent" | "token"; reason: string };

/** A conversion to report to a platform: one moment of one user that its ad brought. */
export type Conversion = {
  eventType: PostbackEventType;
  /** The platform's own code, if the rule names one. */
  code: string;
  /** The moment of the rule, such as each_ad. */
  moment: string;
  atMs: number;
  /** The amount to report, in cents, or null for none. */
  cents: number | null;
  /** The same 32 hex digits in every attempt, by which platforms that dedupe recognise the conversion. */
  dedupeId: string;
  /** The order's trace_id, or the empty text when the conversion is not an order. */
  orderId: string;
  /** The touch that won, with the field names of the platform's own ad_data (see `adData` in the platform's file). */
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
 * `skip`: the conversion cannot be sent, and another attempt would not change that. `dedupes`: whether the platform
 * counts a conversion once that reaches it twice by this route. If it does not, and an answer was lost, the conversion
 * is not sent again, because it may already have been counted.
 */
export type Prepared = { kind: "request"; request: HttpRequest; dedupes: boolean } | { kind: "skip"; reason: string };

/** How conversions are reported to a platform. Pure: it builds requests as data, and reads replies. */
export type PostbackConnector = {
  /** The account's fields, including base addresses. */
  fields: readonly AccountField[];
  prepare(conversion: Conversion, context: CallContext): Prepared;
  /** `request` is the call that was answered: a platform's routes can differ in what means success. */
  read(reply: HttpReply, request: HttpRequest): ReplyVerdict;
  /** The declaration that it was made of, as it was written; connectors of the program have none. */
  declaration?: string;
  /** Fields of its calls that hold a secret or a signature under a name that may not say so. */
  hiddenNames?: readonly string[];
  /** "no": the platform takes no amounts, so that an order's amount never counts as sent. */
  tellsMoney?: "no";
  /** For platforms whose tokens expire and can be renewed. */
  tokens?: TokenFlow;
  /**
   * The field with a permanent key for postbacks, on platforms that have one besides tokens. An account that has the
   * key sends postbacks with it alone; nothing renews it.
   */
  ownKey?: string;
};

/** How to get a new access token. */
export type TokenFlow = {
  /** The request for a token, or undefined when the account lacks a required field. */
  request(context: CallContext): HttpRequest | undefined;
  /** New values of the account's fields `access_token` and often `refresh_token`, and when the first one expires. */
  read(reply: HttpReply, nowMs: number): TokenAnswer;
};

export type TokenAnswer =
  | {
      kind: "token";
      values: Readonly<Record<string, string>>;
      expiresAtMs: number | null;
      /** When the refresh token ends, or null when the platform does not say. */
      refreshExpiresAtMs: number | null;
    }
  | { kind: "retry" | "permanent"; reason: string };

/** Makes an account's settings. The only place where fallbacks are applied. */
export function settingsOf(fields: readonly AccountField[], values: Readonly<Record<string, string>>): AccountSettings {
  const fallbacks = new Map(fields.map((field) => [field.name, field.fallback]));
  return (name) => values[name] || (fallbacks.get(name) ?? "");
}
