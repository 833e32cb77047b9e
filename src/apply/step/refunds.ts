import type pg from "pg";
import type { OrderKey } from "../../db/orders.ts";
import {
  type CountedRefund,
  findRefundedOrders,
  insertRefunds,
  loadOrderRefunds,
  loadSlicesOfRefunded,
  type OrderRefund,
  storeCounted,
} from "../../db/refund.ts";
import type { Slice } from "../../domain/cube.ts";
import { countRefunds } from "../../domain/refund.ts";
import { orderKeyText } from "../entry/key-text.ts";
import type { Facts } from "../facts/facts.ts";

/**
 * Stores the batch's refunds and counts those of every order that has a new refund, or that has come after its refunds.
 * All refunds of an order are counted together, by their time, so that the order of arrival does not matter. Returns the
 * slices of the cube that change.
 */
export async function applyRefunds(tx: pg.PoolClient, { tallies }: Facts): Promise<Slice[]> {
  const asked = await insertRefunds(tx, tallies.refunds);
  const late = await findRefundedOrders(tx, tallies.orders);
  const refunds = await loadOrderRefunds(tx, unique([...asked, ...late]));
  if (refunds.length === 0) return [];
  await storeCounted(tx, [...groupedByOrder(refunds).values()].flatMap(counted));
  return loadSlicesOfRefunded(tx, unique(refunds));
}

function counted(refunds: readonly OrderRefund[]): CountedRefund[] {
  const { order } = refunds[0]!;
  const cents = countRefunds(
    order,
    refunds.map(({ asked }) => asked),
  );
  return refunds.map(({ appId, refundId }, index) => ({
    appId,
    refundId,
    clientId: order.clientId,
    orderDay: order.day,
    orderAtMs: order.atMs,
    cents: cents[index]!,
  }));
}

function groupedByOrder(refunds: readonly OrderRefund[]): Map<string, OrderRefund[]> {
  const groups = new Map<string, OrderRefund[]>();
  for (const refund of refunds) {
    const key = orderKeyText(refund);
    groups.set(key, [...(groups.get(key) ?? []), refund]);
  }
  return groups;
}

function unique(keys: readonly OrderKey[]): OrderKey[] {
  return [
    ...new Map(keys.map(({ appId, traceId }) => [orderKeyText({ appId, traceId }), { appId, traceId }])).values(),
  ];
}
