import { type JsonObject, numberOf, textOf } from "../../domain/json.ts";
import { md5 } from "../../domain/user/identity.ts";
import type { UserKey } from "../../domain/user/user-key.ts";
import type { EntryKind } from "../../journal/entry.ts";
import { LIMITS } from "../../limits.ts";
import { eventKeyText } from "./key-text.ts";

export type SentPayment = {
  amount: number;
  currency: string;
  traceId: string;
  method: string;
  reason: string;
  isVirtual: number;
};

type Sent = { type: "track" | "profile"; event: string; properties: JsonObject; fingerprint: string };

/** The payment, if the event is one. `user` sent it in an entry of this `kind`. */
export function paymentOf(sent: Sent, { user, kind }: { user: UserKey; kind: EntryKind }): SentPayment | undefined {
  if (!isPayment(sent, kind)) return undefined;
  const { properties } = sent;
  const isPreset = sent.event === "$PayEvent";
  const given = textOf(properties.$order_id) || textOf(properties.$trace_id);
  // Admission does not check handle_event, so an id that is too long for an index entry is replaced by its digest.
  const isUsable = given !== "" && Buffer.byteLength(given) <= LIMITS.propertyTextBytes;
  return {
    amount: isPreset ? numberOf(properties.$pay_amount) : numberOf(properties.real_amount ?? properties.amount),
    currency: isPreset ? textOf(properties.$pay_type).toUpperCase() : "",
    traceId: isUsable ? given : md5(given || eventKeyText(user, sent.fingerprint)),
    method: textOf(properties.$pay_method),
    reason: textOf(properties.$pay_reason),
    isVirtual: properties.$is_virtual === true || properties.$is_virtual === 1 ? 1 : 0,
  };
}

/** `$PayEvent`, the consumer event PAY, and handle_event's pay. */
function isPayment({ type, event }: Sent, kind: EntryKind): boolean {
  switch (event) {
    case "$PayEvent":
      return type === "track";
    case "PAY":
      return kind === "consumer_event";
    case "pay":
      return kind === "handle_event";
    default:
      return false;
  }
}
