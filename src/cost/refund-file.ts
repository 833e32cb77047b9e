import type { Readable } from "node:stream";
import type { App } from "../db/app.ts";
import { type Calendar, calendarOf } from "../domain/calendar.ts";
import { CURRENCY } from "../domain/money.ts";
import { md5 } from "../domain/user/identity.ts";
import { LIMITS } from "../limits.ts";
import { type CsvShape, readCsv } from "./csv-file.ts";

export const REFUND_COLUMNS = ["order_id", "amount", "time", "refund_id", "currency"] as const;
type RefundColumn = (typeof REFUND_COLUMNS)[number];

/** A refund of a file, in the words of the journal's entry. */
export type FileRefund = {
  order_id: string;
  refund_id: string;
  /** In minor units; null: all that is left of the order. */
  amount: number | null;
  /** The app's own if the file names none. */
  currency: string;
  /** Milliseconds. */
  time: number;
};

/** The app whose refunds a file holds, and the present, after which no refund can be. */
export type RefundFile = Pick<App, "timeZone" | "currency"> & { nowMs: number };

/** Reads a whole file: either every line of it is right, or a FileError names the wrong ones. */
export async function readRefunds(file: Readable, of: RefundFile): Promise<FileRefund[]> {
  const refunds: FileRefund[] = [];
  await readCsv(file, refundsOf(of), async (rows) => {
    for (const row of rows) refunds.push(row);
  });
  return refunds;
}

export function refundsOf({ timeZone, currency: own, nowMs }: RefundFile): CsvShape<RefundColumn, FileRefund> {
  const calendar = calendarOf(timeZone);
  return {
    columns: REFUND_COLUMNS,
    required: ["order_id", "amount", "time"],
    read: (cells) => {
      const refund = {
        order_id: idOf(cells.order_id, "order_id"),
        amount: amountOf(cells.amount),
        currency: currencyOf(cells.currency, own),
        time: timeOf(cells.time, { calendar, nowMs }),
      };
      // Made from what the line says, so that a file that is imported again brings nothing new.
      const made = md5(JSON.stringify([refund.order_id, refund.amount, refund.currency, refund.time]));
      return { ...refund, refund_id: cells.refund_id === "" ? made : idOf(cells.refund_id, "refund_id") };
    },
    key: ({ refund_id }) => [refund_id],
  };
}

function idOf(text: string, column: string): string {
  if (text === "") throw new Error(`${column} is empty`);
  if (Buffer.byteLength(text) > LIMITS.propertyTextBytes)
    throw new Error(`${column} is longer than ${LIMITS.propertyTextBytes.toLocaleString("en")} bytes`);
  return text;
}

/** Major units with up to 2 decimals. */
function amountOf(text: string): number | null {
  if (text === "") return null;
  const [, whole, fraction = ""] = /^(\d{1,11})(?:\.(\d{1,2}))?$/.exec(text) ?? [];
  if (whole === undefined)
    throw new Error("amount must be a number such as 12.50, or empty for all that is left of the order");
  const amount = Number(`${whole}${fraction.padEnd(2, "0")}`);
  if (amount === 0) throw new Error("amount must be more than 0");
  return amount;
}

function currencyOf(text: string, own: string): string {
  if (text === "") return own;
  if (!CURRENCY.test(text.toUpperCase())) throw new Error("currency must be three letters such as USD");
  return text.toUpperCase();
}

const MILLISECONDS = /^\d{13}$/;

/** How far the clock of whoever wrote the file may be ahead: as far as a client's. */
const AHEAD_MS_MAX = 3_600_000;

function timeOf(text: string, { calendar, nowMs }: { calendar: Calendar; nowMs: number }): number {
  const isSecond = text.length > "2026-11-15".length;
  const atMs = MILLISECONDS.test(text) ? Number(text) : isSecond ? calendar.rangeOf(text)?.fromMs : undefined;
  if (atMs === undefined)
    throw new Error("time must look like 2026-11-15 08:00:00, in the app's time zone, or be in milliseconds");
  if (atMs > nowMs + AHEAD_MS_MAX) throw new Error("time is in the future");
  return atMs;
}
