import { expect } from "vitest";
import type { JsonObject } from "../../src/domain/json.ts";
import { POSTBACK_EVENT_TYPES, type PostbackEventType } from "../../src/domain/postback/postback.ts";
import { deviceOf } from "../../src/domain/user/device.ts";
import {
  type CallContext,
  type Conversion,
  type ConversionUser,
  type HttpRequest,
  type PostbackConnector,
  settingsOf,
} from "../../src/platform/connector/connector.ts";

export const AT_MS = Date.UTC(2026, 10, 15, 8, 30, 7, 987);
export const AT_SECONDS = Math.floor(AT_MS / 1000);
export const NOW_MS = AT_MS + 61_234;
export const NONCE = "0123456789abcdef0123456789abcdef";
export const DEDUPE_ID = "d0d1d2d3d4d5d6d7d8d9dadbdcdddedf";
export const OAID = "1fe9a970-efbb-29e0-0bdd-f5dbbf751ab5";
export const OAID_MD5 = "83e9158a4fb54c0e1ef0b238639a23ae";
export const IDFA = "AEBE52E7-03EE-455A-B3C4-E57283966239";
/** What ids really contain: special signs, non-ASCII characters, a lone surrogate, a line break. */
export const ODD = "a&b=c?d#e/f+g%h 中文😀\"'\\\n\ud800{{ATYPE}}$&";

export const NOBODY: ConversionUser = {
  clientId: "u-1",
  wxOpenid: "",
  wxUnionid: "",
  osPlatform: "unknown",
  ip: "",
  ua: "",
  device: null,
};

export const ANDROID: ConversionUser = {
  ...NOBODY,
  osPlatform: "android",
  ip: "203.0.113.9",
  device: deviceOf({ imei: "A1000055BCDEF0", oaid: OAID, android_id: "9F3C2A7BE1D04586" }),
};

export const IOS: ConversionUser = { ...NOBODY, osPlatform: "ios", device: deviceOf({ idfa: IDFA.toLowerCase() }) };

export function conversionOf(change: Partial<Conversion> = {}): Conversion {
  return {
    eventType: "activate",
    code: "",
    moment: "activate",
    atMs: AT_MS,
    cents: null,
    dedupeId: DEDUPE_ID,
    orderId: "",
    adData: {},
    touchKind: "click",
    user: NOBODY,
    ...change,
  };
}

type Values = Readonly<Record<string, string>>;

/** A connector with an account, as a caller uses it. */
export function using(connector: PostbackConnector, account: Values) {
  const context = (change: Values = {}): CallContext => ({
    account: settingsOf(connector.fields, { ...account, ...change }),
    nowMs: NOW_MS,
    nonce: NONCE,
  });
  const prepare = (change: Partial<Conversion>, own: Values = {}) =>
    connector.prepare(conversionOf(change), context(own));
  return {
    context,
    prepare,
    request(change: Partial<Conversion>, own: Values = {}): HttpRequest {
      const prepared = prepare(change, own);
      if (prepared.kind === "skip") throw new Error(prepared.reason);
      return prepared.request;
    },
    reason(change: Partial<Conversion>, own: Values = {}): string {
      const prepared = prepare(change, own);
      return prepared.kind === "skip" ? prepared.reason : "";
    },
    dedupes(change: Partial<Conversion>, own: Values = {}): boolean | undefined {
      const prepared = prepare(change, own);
      return prepared.kind === "skip" ? undefined : prepared.dedupes;
    },
  };
}

export function bodyOf(request: HttpRequest): any {
  expect(request).toMatchObject({ method: "POST", headers: { "content-type": "application/json" } });
  return JSON.parse(request.body!);
}

export function queryOf(request: HttpRequest): Record<string, string> {
  expect([request.method, request.body]).toEqual(["GET", undefined]);
  return Object.fromEntries(new URL(request.url).searchParams);
}

/** The code of every event type, or `-` if it is not sent. */
export type CodeTable = Readonly<Record<PostbackEventType, string>>;

export function rowsOf(table: CodeTable): [PostbackEventType, string][] {
  return POSTBACK_EVENT_TYPES.map((eventType) => [eventType, table[eventType]]);
}

/** A request for connectors that read every reply alike. */
export const ASKED: HttpRequest = { method: "GET", url: "https://platform.example/", headers: {} };

export const reply = (body: JsonObject | string, status = 200) => ({
  status,
  body: typeof body === "string" ? body : JSON.stringify(body),
});

/** Addresses that a forged click could bring, for a platform whose callbacks go to `host`. */
export function forgedCallbacks(host: string): string[] {
  return [
    "http://127.0.0.1:5432/?x=1",
    "http://169.254.169.254/latest/meta-data/",
    "http://[::1]/conv",
    "https://evil.example/conv",
    `https://evil.example/${host}`,
    `https://evil${host}/conv`,
    `https://evil.${host}/conv`,
    `https://${host}.evil.example/conv`,
    `https://evil.example\\@${host}/`,
    `https://evil.example#@${host}/`,
    `https://evil.example?.${host}`,
    `https%3A%2F%2Fevil.example%2F%3F${host}`,
  ];
}

/** Callbacks that are no callable address on any host. */
export function oddCallbacks(host: string): string[] {
  return [
    `ftp://${host}/conv`,
    `file://${host}/etc/passwd`,
    `https://user:secret@${host}/conv`,
    `https://${host}@evil.example/conv`,
    `https://${host}/conv x`,
    `https://${host}\n.evil.example/`,
    "https://",
    "https%3A%2F%2F%E0%A4%A",
  ];
}
