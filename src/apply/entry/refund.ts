import { type JsonObject, numberOf, textOf } from "../../domain/json.ts";
import { md5 } from "../../domain/user/identity.ts";
import type { UserKey } from "../../domain/user/user-key.ts";
import { LIMITS } from "../../limits.ts";
import { eventKeyText } from "./key-text.ts";

export const REFUND_EVENT = "$RefundEvent";

export type SentRefund = {
  refundId: string;
  /** The order that is paid back. */
  traceId: string;
  /** Null: all that is left of the order. */
  amount: number | null;
  currency: string;
};

type Sent = { type: "track" | "profile"; event: string; properties: JsonObject; fingerprint: string };

/** The refund, if the event is one. Consumer events and handle_event have been given the preset's name. */
export function refundOf(sent: Sent, user: UserKey): SentRefund | undefined {
  if (sent.type !== "track" || sent.event !== REFUND_EVENT) return undefined;
  const { properties } = sent;
  const amount = properties.$pay_amount ?? properties.real_amount ?? properties.amount;
  return {
    refundId: shortId(textOf(properties.$refund_id)) || md5(eventKeyText(user, sent.fingerprint)),
    traceId: shortId(textOf(properties.$order_id) || textOf(properties.$trace_id)),
    amount: amount === undefined || amount === null ? null : numberOf(amount),
    currency: textOf(properties.$pay_type).toUpperCase(),
  };
}

/** An id that is too long for an index entry is replaced by its digest, as an order's is. */
function shortId(id: string): string {
  return Buffer.byteLength(id) <= LIMITS.propertyTextBytes ? id : md5(id);
}
