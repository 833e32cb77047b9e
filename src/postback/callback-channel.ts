import { createHmac } from "node:crypto";
import type { Clock } from "../clock.ts";
import type { Callback } from "../db/callback.ts";
import { isObject, type JsonObject } from "../domain/json.ts";
import { CALLBACK_MACROS, MACRO } from "../domain/postback/callback.ts";
import { callbackLaneOf } from "../domain/postback/postback-book.ts";
import type { Sender } from "../outbound/sender.ts";
import type { HttpRequest } from "../platform/connector/connector.ts";
import { type Channel, type Delivery, isOfThePast, type Plan } from "./channel.ts";
import type { Parcel } from "./parcel.ts";

export type CallbackDeps = { sender: Sender; clock: Clock };

/** The channel to the app's own systems. They are called at least once, and can detect a repeat by its id. */
export class CallbackChannel implements Channel {
  readonly lane: string;
  readonly version: string;
  readonly ratePerS = 0;
  readonly #deps: CallbackDeps;
  readonly #callback: Callback;

  constructor(deps: CallbackDeps, callback: Callback) {
    this.lane = callbackLaneOf(callback.appId, callback.kind);
    this.version = callback.url;
    this.#deps = deps;
    this.#callback = callback;
  }

  plan(parcel: Parcel): Plan {
    if (isOfThePast(parcel, this.#deps.clock())) return { kind: "skip", reason: "late" };
    return { kind: "attempt", deliver: () => this.#deliver(parcel) };
  }

  async #deliver(parcel: Parcel): Promise<Delivery> {
    const request = callbackRequest(this.#callback, parcel, this.#deps.clock());
    const sent = await this.#deps.sender.send(request, "kept");
    if (sent.kind !== "reply") return { kind: "later", reason: sent.reason, isDown: true };
    const { status } = sent.reply;
    if (status >= 200 && status < 300) return { kind: "accepted", cents: 0 };
    const reason = `It answered ${status}.`;
    const isTemporary = status < 400 || status >= 500 || [408, 425, 429].includes(status);
    return isTemporary ? { kind: "later", reason, isDown: status >= 500 } : { kind: "given_up", reason };
  }
}

function callbackRequest(callback: Callback, { row, user, dedupeId: id }: Parcel, nowMs: number): HttpRequest {
  const known: JsonObject = { app_id: row.appId, client_id: row.clientId, wx_openid: user?.wxOpenid ?? "", id };
  if (callback.kind === "attribution") {
    const values = { ...row.content, ...known };
    return { method: "GET", url: filled(callback.url, values), headers: {} };
  }
  const body = JSON.stringify({ ...known, ...row.content });
  const timestamp = String(Math.floor(nowMs / 1000));
  return {
    method: "POST",
    url: callback.url,
    body,
    headers: {
      "content-type": "application/json",
      "touchpoint-id": id,
      "touchpoint-timestamp": timestamp,
      "touchpoint-signature": createHmac("sha256", callback.secret).update(`${timestamp}.${body}`).digest("hex"),
    },
  };
}

function filled(url: string, values: JsonObject): string {
  return url.replaceAll(MACRO, (macro, name: string) => {
    const field = name.toLowerCase();
    if (!(CALLBACK_MACROS as readonly string[]).includes(field)) return macro;
    const value = values[field] ?? "";
    return encodeURIComponent(isObject(value) ? JSON.stringify(value) : String(value));
  });
}
