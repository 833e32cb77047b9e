import { DAY_MS } from "../../src/domain/calendar.ts";
import type { CollectCall } from "./call.ts";
import type { Desk, Made } from "./desk.ts";
import { Random } from "./random.ts";
import { MINUTE_MS, type Scene, type Someone } from "./someone.ts";

const SERVER_IP = "47.95.10.20";

type Order = { cents: number; orderId: string };
type Paid = { order: Order; atMs: number };

/** The game's own server reports an order, which the client reports too. */
export function orderReport(person: Someone, desk: Desk, { order, atMs }: Paid): CollectCall {
  const made = desk.pay(atMs - person.clockErrorMs, order, { $pay_reason: "server" });
  return reportOf(person, made, { dueMs: atMs + MINUTE_MS, mishap: "none" });
}

/**
 * The game's own server reports that an order was paid back: in whole or in parts, which may be more than the order;
 * within minutes, so that it can come before an order of a client without a network, or weeks later. Few name an order
 * that nobody has made.
 */
export function refundReports(scene: Scene, person: Someone, desk: Desk, { order, atMs }: Paid): CollectCall[] {
  const { rates, haste, seed } = scene.options;
  // With numbers of its own, so that the rest of the person's life does not depend on refunds.
  const random = new Random(seed, "refund", order.orderId);
  if (!random.chance(rates.refunded)) return [];
  const orderId = random.chance(LOST_SHARE) ? `lost-${order.orderId}` : order.orderId;
  const parts = random.whole(1, 3);
  let refundedMs = atMs;
  return Array.from({ length: parts }, (_, part) => {
    const delayMs = random.chance(0.5) ? random.between(1, 30) * MINUTE_MS : random.between(0.02, 20) * DAY_MS;
    refundedMs += delayMs / haste;
    const cents = random.chance(0.3) ? null : random.whole(1, Math.ceil(order.cents * 0.8));
    const refund = { refundId: `r-${order.orderId}-${part}`, orderId, cents };
    const made = desk.refund(refundedMs - person.clockErrorMs, refund);
    const mishap = random.chance(rates.answerLost) ? "answer" : "none";
    return reportOf(person, made, { dueMs: refundedMs + MINUTE_MS / haste, mishap });
  });
}

const LOST_SHARE = 0.03;

/** A report in the server's own format, compressed as its SDK does, and with a true clock. */
function reportOf(
  { clientId, phone }: Someone,
  { wire, sent }: Made,
  { dueMs, mishap }: Pick<CollectCall, "dueMs" | "mishap">,
): CollectCall {
  const body = JSON.stringify({
    client_id: clientId,
    event_list: [{ ...wire, time_free: false }],
    client_ip: phone.ip,
  });
  const headers = { "content-type": "application/json", "gravity-content-compress": "gzip" };
  const sending = { kind: "collect", dueMs, ip: SERVER_IP, ua: "python-requests", mishap } as const;
  return { ...sending, path: "event/collect/", body, headers, isGzip: true, events: [sent] };
}
