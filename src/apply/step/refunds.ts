import type pg from "pg";
import type { OrderKey } from "../../db/orders.ts";
import {
  type CountedRefund,
  findRefundedOrders,
  insertRefunds,
  loadOrderRefunds,
  loadSlicesOfRefunded,
  type OrderRefund,
  type Refund,
  storeCounted,
} from "../../db/refund.ts";
import type { Slice } from "../../domain/cube.ts";
import { convertToCents, roundHalfAway } from "../../domain/money.ts";
import { countRefunds } from "../../domain/refund.ts";
import type { RefundsEntry } from "../entry/decode.ts";
import { orderKeyText } from "../entry/key-text.ts";
import type { SentRefund } from "../entry/refund.ts";
import type { AppSetting } from "../facts/app-settings.ts";
import type { Facts } from "../facts/facts.ts";

/** A refund, who reported it and when. */
type NotedRefund = SentRefund & Pick<Refund, "clientId" | "day" | "atMs" | "receivedAtMs">;

/** Keeps a refund until the orders of the batch are stored. */
export function noteRefund({ tallies }: Facts, app: AppSetting, noted: NotedRefund): void {
  const { amount, currency, ...refund } = noted;
  const conversion = amount === null ? undefined : convertToCents(amount, currency, app);
  tallies.refunds.push({
    ...refund,
    appId: app.appId,
    asked: {
      amount: amount === null ? null : roundHalfAway(amount),
      currency: currency || app.currency,
      cents: conversion?.kind === "converted" ? conversion.cents : null,
    },
  });
}

/** Refunds of a file, or of a stranger, belong to who paid their orders, and until then to no client. */
export const NOBODY = "";

export function applyRefundsEntry(facts: Facts, { head, refunds }: RefundsEntry): void {
  const app = facts.settings.of(head.app);
  for (const refund of refunds) noteRefund(facts, app, { ...refund, clientId: NOBODY, receivedAtMs: head.at });
}

/**
 * Stores the batch's refunds and counts those of every order that has a new refund, or that has come after its refunds.
 * All refunds of an order are counted together, by their time, so that the order of arrival does not matter. Returns the
 * slices of the cube that change, and the days of the orders.
 */
export async function applyRefunds(tx: pg.PoolClient, { tallies }: Facts): Promise<Refunded> {
  const asked = await insertRefunds(tx, tallies.refunds);
  const late = await findRefundedOrders(tx, tallies.orders);
  const refunds = await loadOrderRefunds(tx, unique([...asked, ...late]));
  if (refunds.length === 0) return { slices: [], orders: [] };
  await storeCounted(tx, [...groupedByOrder(refunds).values()].flatMap(counted));
  const orders = refunds.map(({ appId, order }) => ({ appId, day: order.day }));
  return { slices: await loadSlicesOfRefunded(tx, unique(refunds)), orders };
}

export type Refunded = { slices: Slice[]; orders: { appId: number; day: string }[] };

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
