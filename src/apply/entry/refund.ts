import { isObject, type JsonObject, type JsonValue, numberOf, textOf } from "../../domain/json.ts";
import { REFUND_EVENT } from "../../domain/refund.ts";
import { md5 } from "../../domain/user/identity.ts";
import type { UserKey } from "../../domain/user/user-key.ts";
import { LIMITS } from "../../limits.ts";
import { eventKeyText } from "./key-text.ts";
import { isUsableTime } from "./usable-time.ts";

export type SentRefund = {
  refundId: string;
  /** The order that is paid back. */
  traceId: string;
  /** Null: all that is left of the order. */
  amount: number | null;
  currency: string;
};

type Sent = { type: "track" | "profile"; event: string; properties: JsonObject; fingerprint: string };

const AMOUNTS = ["$pay_amount", "real_amount", "amount"] as const;

/**
 * The refund, if the event is one. Consumer events and handle_event have been given the preset's name. `given`: the
 * properties before admission left out what it cannot use. An unusable amount takes nothing back, where an absent one
 * takes all.
 */
export function refundOf(sent: Sent, { user, given }: { user: UserKey; given: JsonObject }): SentRefund | undefined {
  if (sent.type !== "track" || sent.event !== REFUND_EVENT) return undefined;
  const { properties } = sent;
  const amount = AMOUNTS.find((name) => (given[name] ?? null) !== null);
  return {
    refundId: shortId(textOf(properties.$refund_id)) || md5(eventKeyText(user, sent.fingerprint)),
    traceId: shortId(textOf(properties.$order_id) || textOf(properties.$trace_id)),
    amount: amount === undefined ? null : numberOf(properties[amount]),
    currency: textOf(properties.$pay_type).toUpperCase(),
  };
}

/** A refund of an imported file, which has no client. */
export type FileRefund = SentRefund & {
  atMs: number;
  /** The day in the app's time zone; empty until the settings of the app are known (see batch.ts). */
  day: string;
};

/** The refunds of an import, each with the id that its file or our reader gave it. */
export function fileRefundsOf({ refunds }: JsonObject): FileRefund[] {
  if (!Array.isArray(refunds)) throw new Error("The entry has no refunds.");
  return refunds.map(fileRefundOf);
}

function fileRefundOf(given: JsonValue): FileRefund {
  if (!isObject(given)) throw new Error("A refund of the entry is not an object.");
  const [refundId, traceId] = [shortId(textOf(given.refund_id)), shortId(textOf(given.order_id))];
  const atMs = typeof given.time === "number" ? given.time : -1;
  if (refundId === "" || traceId === "" || !isUsableTime(atMs)) throw new Error("A refund of the entry is not whole.");
  const amount = typeof given.amount === "number" ? given.amount : null;
  return { refundId, traceId, amount, currency: textOf(given.currency), atMs, day: "" };
}

/** An id that is too long for an index entry is replaced by its digest, as an order's is. */
function shortId(id: string): string {
  return Buffer.byteLength(id) <= LIMITS.propertyTextBytes ? id : md5(id);
}
