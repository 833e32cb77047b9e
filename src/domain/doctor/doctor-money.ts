import { medianOf } from "./doctor-clock.ts";
import { Evidence, type Finding } from "./finding.ts";
import { eventsOf, propertiesOf, type SeenCall, type SeenPayment } from "./seen-call.ts";

/** Rules about amounts and orders. Amounts are in cents, `$ecpm` is in major units. */

const PAYMENTS_MIN = 3;
/** Hardly anything costs less than this many cents, one unit of money. */
const SMALL_CENTS = 100;
/** The dearest item of a game costs less than this many units. */
const DEAREST_UNITS = 1_000;

/** Amounts in the wrong unit: fractions cannot be cents, and amounts that are all small look like yuan. */
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

/** No thousand views earn more than this, so a higher value is in cents, or is the revenue of a day. */
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

/** Payments without an order id: one that is reported twice looks like two payments. */
export function paymentWithoutOrderId(payments: readonly SeenPayment[]): Finding | undefined {
  const evidence = new Evidence();
  for (const { atMs, clientId, orderId, amount } of payments) {
    if (orderId === "") evidence.add(atMs, { client_id: clientId, amount });
  }
  return evidence.finding("payment_without_order_id", "warning");
}

/**
 * Different payments with one order id: the same payment reported in two ways, or repeated ids. The identical event
 * sent again is normal SDK behaviour and does not count.
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
