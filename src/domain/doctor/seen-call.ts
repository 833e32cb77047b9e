import { CODES } from "../../errors.ts";
import { isObject, type JsonObject, type JsonValue } from "../json.ts";

/** A call of a collection endpoint as the doctor sees it. */
export type SeenCall = {
  at_ms: number;
  endpoint: string;
  client_id: string;
  debug: boolean;
  ip: string;
  ua: string;
  code: number;
  msg: string;
  body: unknown;
  errors: readonly { index: number; event: string; reason: string; message: string }[];
};

export const isAccepted = ({ code }: SeenCall): boolean => code === CODES.ok.code;

export function bodyOf({ body }: SeenCall): JsonObject {
  return isObject(body) ? body : {};
}

export function isCollect({ endpoint }: SeenCall): boolean {
  return endpoint.endsWith("/collect");
}

export function isRegistration({ endpoint }: SeenCall): boolean {
  return endpoint === "user/register" || endpoint === "user/initialize";
}

export function isTouch({ endpoint }: SeenCall): boolean {
  return endpoint === "event/click" || endpoint === "event/impression";
}

/** The events of a collect call. Anything that is not an object becomes an empty one, so that indexes stay the same. */
export function eventsOf(call: SeenCall): JsonObject[] {
  const { event_list } = bodyOf(call);
  if (!isCollect(call) || !Array.isArray(event_list)) return [];
  return event_list.map((event) => (isObject(event) ? event : {}));
}

export function propertiesOf(event: JsonObject): JsonObject {
  return isObject(event.properties) ? event.properties : {};
}

export function textOf(value: JsonValue | undefined): string {
  return typeof value === "string" ? value.trim() : typeof value === "number" ? String(value) : "";
}

/** A payment as it was sent. An empty order id was not given. */
export type SeenPayment = { atMs: number; clientId: string; orderId: string; amount: number; timeMs: number };

/** The payments of accepted calls: `$PayEvent`, the consumer event PAY, and handle_event's pay. */
export function paymentsOf(call: SeenCall): SeenPayment[] {
  if (!isAccepted(call)) return [];
  const body = bodyOf(call);
  const base = { atMs: call.at_ms, clientId: call.client_id };
  const ofOrder = (properties: JsonObject) => textOf(properties.$order_id) || textOf(properties.$trace_id);
  if (call.endpoint === "event/consumer_event" && body.event_type === "PAY") {
    return payment({ ...base, orderId: "", timeMs: Number(body.ts) }, body.real_amount ?? body.amount);
  }
  if (call.endpoint === "event/handle_event" && body.event_type === "pay") {
    const properties = propertiesOf(body);
    const orderId = textOf(body.trace_id) || ofOrder(properties);
    return payment({ ...base, orderId, timeMs: call.at_ms }, properties.real_amount ?? properties.amount);
  }
  const rejected = new Set(call.errors.filter(({ reason }) => reason !== "bad_property").map(({ index }) => index));
  return eventsOf(call).flatMap((event, index) => {
    if (event.event !== "$PayEvent" || rejected.has(index)) return [];
    const properties = propertiesOf(event);
    return payment({ ...base, orderId: ofOrder(properties), timeMs: Number(event.time) }, properties.$pay_amount);
  });
}

function payment(about: Omit<SeenPayment, "amount">, amount: JsonValue | undefined): SeenPayment[] {
  return typeof amount === "number" ? [{ ...about, amount }] : [];
}
