import type { PostbackEventType } from "../../domain/postback/postback.ts";
import { deviceOf } from "../../domain/user/device.ts";
import { hostsOf } from "../connector/callback.ts";
import type { Conversion, HttpRequest, Prepared } from "../connector/connector.ts";
import { declaredConnector } from "./connector.ts";
import type { Declaration } from "./declaration.ts";
import { templatesIn } from "./json-template.ts";
import { ACCOUNT_PREFIX } from "./placeholder.ts";
import { namesIn } from "./template.ts";

/** A call that a declaration would make, with made-up values for the account. */
export type ExampleCall = { eventType: PostbackEventType; code: string } & (
  | { kind: "call"; request: HttpRequest }
  | { kind: "skip"; reason: string }
);

/** Event types whose example is an order with an amount. */
const PAID: ReadonlySet<PostbackEventType> = new Set<PostbackEventType>([
  ...(["pay", "service_pay_success", "complete_order", "first_day_pay", "first_pay"] as const),
]);

const EXAMPLE_CENTS = 648;
const A_NUMBER = "5001";
const ID = "0123456789abcdef0123456789abcdef";

/** The conversions to show, by event type. */
export type Examples = (eventType: PostbackEventType, cents: number | null) => Conversion;

/**
 * One example for every event type that the declaration has a code for. The account's values are always made up: whoever
 * writes a declaration could have its secrets shown in any disguise.
 */
export function exampleCalls(declaration: Declaration, nowMs: number, examples?: Examples): ExampleCall[] {
  const connector = declaredConnector(declaration);
  const numbers = numbersIn(declaration);
  const textOf = (name: string, text: string) => (numbers.has(name) ? A_NUMBER : text);
  const account = (name: string) =>
    declaration.account.has(name) ? textOf(ACCOUNT_PREFIX + name, name.toUpperCase()) : "";
  return [...declaration.codes].map(([eventType, code]) => {
    const conversion =
      examples?.(eventType, PAID.has(eventType) ? EXAMPLE_CENTS : null) ??
      exampleOf(eventType, { declaration, textOf, nowMs });
    const prepared = connector.prepare(conversion, { account, nowMs, nonce: ID });
    return { eventType, code, ...callOf(prepared) };
  });
}

function callOf(prepared: Prepared): { kind: "call"; request: HttpRequest } | { kind: "skip"; reason: string } {
  return prepared.kind === "skip" ? prepared : { kind: "call", request: prepared.request };
}

/** Names that stand in JSON as numbers. */
function numbersIn({ body }: Declaration): Set<string> {
  const templates = body.kind === "json" ? templatesIn(body.template) : [];
  return new Set(templates.filter(({ isNumber }) => isNumber).flatMap(namesIn));
}

type Sample = { declaration: Declaration; textOf: (name: string, text: string) => string; nowMs: number };

function exampleOf(eventType: PostbackEventType, { declaration, textOf, nowMs }: Sample): Conversion {
  const { address } = declaration;
  const callback =
    address.kind === "callback"
      ? `https://${hostsOf(address.hosts)[0]}/?click_id=CLICK-ID&amount=__AMOUNT__`
      : "CALLBACK";
  const isPaid = PAID.has(eventType);
  const device = { oaid: "OAID", imei: "860000000000000", android_id: "9f3c2a7be1d04586" };
  return {
    eventType,
    code: "",
    moment: "",
    atMs: nowMs,
    cents: isPaid ? EXAMPLE_CENTS : null,
    dedupeId: ID,
    orderId: isPaid ? textOf("order_id", "ORDER-ID") : "",
    adData: {
      click_id: textOf("click_id", "CLICK-ID"),
      callback: textOf("callback", callback),
      advertiser_id: "1001",
      gid: "2001",
      aid: "3001",
      cid: "4001",
    },
    touchKind: "click",
    user: {
      clientId: textOf("client_id", "CLIENT-ID"),
      wxOpenid: "OPENID",
      wxUnionid: "",
      osPlatform: "android",
      ip: "203.0.113.9",
      ua: "Mozilla/5.0",
      device: deviceOf({ ...device, idfa: "AEBE52E7-03EE-455A-B3C4-E57283966239", os_name: "android" }),
    },
  };
}
