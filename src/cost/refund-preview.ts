import type { Readable } from "node:stream";
import type pg from "pg";
import type { App } from "../db/app.ts";
import type { Executor } from "../db/engine/sql.ts";
import { findOrderKeys } from "../db/orders.ts";
import { findRefundIds } from "../db/refund.ts";
import { calendarOf } from "../domain/calendar.ts";
import { type FilePreview, previewed } from "./file-preview.ts";
import { type FileRefund, REFUND_COLUMNS, refundsOf } from "./refund-file.ts";

const UNKNOWN_SHOWN_MAX = 50;

/** Refunds whose orders are not known. They wait for their orders, and until then nothing shows them. */
export type UnknownOrders = {
  /** The number of refunds, and the first of their orders. */
  unknown_orders: number;
  first_unknown: string[];
};

export type RefundPreview = FilePreview & UnknownOrders;

type RefundApp = Pick<App, "appId" | "timeZone" | "currency">;

/** What the import of a file of refunds would do. A refund that is stored stays as it is. */
export async function previewRefunds(
  pool: pg.Pool,
  file: Readable,
  { app, nowMs }: { app: RefundApp; nowMs: number },
): Promise<RefundPreview> {
  const unknown: UnknownOrders = { unknown_orders: 0, first_unknown: [] };
  const preview = await previewed(pool, file, refundsOf({ ...app, nowMs }), {
    columns: REFUND_COLUMNS,
    find: async (tx, rows) => {
      addUnknown(unknown, await unknownOrders(tx, app.appId, rows));
      return knownRefunds(tx, app.appId, rows);
    },
    shown: ({ order_id, amount, time, refund_id, currency }) => ({
      order_id,
      amount: amount === null ? "" : amount / 100,
      time: calendarOf(app.timeZone).textOf(time),
      refund_id,
      currency,
    }),
  });
  return { ...preview, ...unknown };
}

/** Those of the refunds that are stored already. */
export async function knownRefunds(
  executor: Executor,
  appId: number,
  refunds: readonly FileRefund[],
): Promise<FileRefund[]> {
  const ids = refunds.map(({ refund_id }) => refund_id);
  const known = new Set(await findRefundIds(executor, appId, ids));
  return refunds.filter(({ refund_id }) => known.has(refund_id));
}

/** The refunds whose orders are not known, and the first of these orders. */
export async function unknownOrders(
  executor: Executor,
  appId: number,
  refunds: readonly FileRefund[],
): Promise<UnknownOrders> {
  const keys = refunds.map(({ order_id: traceId }) => ({ appId, traceId }));
  const known = new Set((await findOrderKeys(executor, keys)).map(({ traceId }) => traceId));
  const unknown = refunds.filter(({ order_id }) => !known.has(order_id));
  const orders = [...new Set(unknown.map(({ order_id }) => order_id))];
  return { unknown_orders: unknown.length, first_unknown: orders.slice(0, UNKNOWN_SHOWN_MAX) };
}

/** Adds what is unknown of further refunds. */
export function addUnknown(sum: UnknownOrders, more: UnknownOrders): void {
  sum.unknown_orders += more.unknown_orders;
  sum.first_unknown = [...new Set([...sum.first_unknown, ...more.first_unknown])].slice(0, UNKNOWN_SHOWN_MAX);
}
