import { medianOf } from "./doctor-clock.ts";
import { Evidence, type Finding } from "./finding.ts";
import { eventsOf, propertiesOf, type SeenCall, type SeenPayment } from "./seen-call.ts";

/** Rules about amounts and orders. Amounts are in cents, `$ecpm` is in major units. */

const PAYMENTS_MIN = 3;
/** In cents hardly anything is sold for less than one unit of money, … */
const SMALL_CENTS = 100;
/** … and the dearest thing a game sells costs less than this many units. */
const DEAREST_UNITS = 1_000;

/** Amounts with a fraction cannot be cents; amounts that are all small look like yuan. */
export function amountUnit(payments: readonly SeenPayment[]): Finding | undefined {
  const paid = payments.filter(({ amount }) => amount > 0);
  const broken = paid.filter(({ amount }) => !Number.isInteger(amount));
  if (broken.length > 0) return evidenceOf(broken).finding("amount_unit", "error");
  const small = paid.filter(({ amount }) => amount < SMALL_CENTS);
  const isAllSmall = paid.every(({ amount }) => amount <= DEAREST_UNITS) && small.length * 2 >= paid.length;
  return paid.length >= PAYMENTS_MIN && isAllSmall ? evidenceOf(small).finding("amount_unit", "warning") : undefined;
}

function evidenceOf(payments: readonly SeenPayment[]): Evidence {
  const evidence = new Evidence();
  for (const { atMs, clientId, orderId, amount } of payments) {
    evidence.add(atMs, { client_id: clientId, order_id: orderId, amount }, String(amount));
  }
  return evidence;
}

/** A thousand views that bring more than this are nowhere sold: it is in cents, or the revenue of a day. */
const ECPM_MAX = 1_000;
const VIEWS_MIN = 3;

export function ecpmUnit(calls: readonly SeenCall[]): Finding | undefined {
  const evidence = new Evidence();
  const values: number[] = [];
  for (const call of calls) {
    for (const event of eventsOf(call)) {
      const { $ecpm } = propertiesOf(event);
      if (typeof $ecpm !== "number" || $ecpm <= 0) continue;
      values.push($ecpm);
      if ($ecpm > ECPM_MAX) evidence.add(call.at_ms, { client_id: call.client_id, event: String(event.event), $ecpm });
    }
  }
  return values.length >= VIEWS_MIN && medianOf(values) > ECPM_MAX
    ? evidence.finding("ecpm_unit", "warning")
    : undefined;
}

/** Without an id nobody can tell a payment that is reported twice from two payments. */
export function paymentWithoutOrderId(payments: readonly SeenPayment[]): Finding | undefined {
  const evidence = new Evidence();
  for (const { atMs, clientId, orderId, amount } of payments) {
    if (orderId === "") evidence.add(atMs, { client_id: clientId, amount });
  }
  return evidence.finding("payment_without_order_id", "warning");
}

/**
 * One order id for payments that differ: two ways of reporting the same payment, or ids that repeat. The very same event
 * sent again is what SDKs do, and is no payment of its own.
 */
export function repeatedOrder(payments: readonly SeenPayment[]): Finding | undefined {
  const byOrder = new Map<string, SeenPayment[]>();
  for (const payment of payments) {
    if (payment.orderId === "") continue;
    const known = byOrder.get(payment.orderId) ?? [];
    const isSame = (one: SeenPayment) =>
      one.clientId === payment.clientId && one.timeMs === payment.timeMs && one.amount === payment.amount;
    if (!known.some(isSame)) byOrder.set(payment.orderId, [...known, payment]);
  }
  const evidence = new Evidence();
  for (const [orderId, reports] of byOrder) {
    if (reports.length < 2) continue;
    const clients = new Set(reports.map(({ clientId }) => clientId)).size;
    const amounts = new Set(reports.map(({ amount }) => amount)).size;
    const lastAtMs = Math.max(...reports.map(({ atMs }) => atMs));
    evidence.add(lastAtMs, { order_id: orderId, reports: reports.length, clients, amounts }, orderId);
  }
  return evidence.finding("repeated_order", "warning");
}
