import type pg from "pg";
import type { App } from "../../db/app.ts";
import { holdDays } from "../../db/apply-holder.ts";
import { COLD_NOWHERE, type ColdEvents } from "../../db/cold-event.ts";
import { inTransaction, preferIndexes } from "../../db/engine/pool.ts";
import { type Executor, type InCamelCase, query, type Sql, sql } from "../../db/engine/sql.ts";
import type { ExportedEvent } from "../../db/event.ts";
import { csvLine } from "../../domain/csv.ts";
import { openEventPages, type Pages } from "./event-pages.ts";
import type { ListBody } from "./list-request.ts";
import { type OrderListBody, orderListCondition, orderRecords, withRefunds } from "./order-list.ts";
import { ordersOfUsers } from "./order-pages.ts";
import { type UserListBody, userListCondition, userRecords } from "./user-list.ts";

type Filter<Body extends ListBody<unknown>> = Pick<Body, "user_filtering" | "event_filtering" | "property_condition">;

/** What to export: the lists with their own filters, and only of these clients; or the events of local days. */
export type ExportOf =
  | { kind: "users"; filter: Filter<UserListBody>; clients?: readonly string[] }
  | { kind: "orders"; filter: Filter<OrderListBody>; clients?: readonly string[] }
  | { kind: "events"; fromDay: string; untilDay: string };

export const EXPORT_FORMATS = ["ndjson", "csv"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

export type ExportedRecord = Record<string, unknown>;

/** JSON text that is written as it is: parsing it would round its longest numbers. */
class JsonText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/**
 * Exports one consistent snapshot through one cursor, with only one page in memory at a time. `write` is awaited, so a
 * slow reader slows the export down and nothing piles up. Returns the number of rows.
 */
export async function exportRows(
  pool: pg.Pool,
  app: App,
  options: { what: ExportOf; format: ExportFormat; write: (text: string) => Promise<void>; cold?: ColdEvents },
): Promise<number> {
  const { what, format, write, cold = COLD_NOWHERE } = options;
  return inTransaction(
    pool,
    async (tx) => {
      // No timeout, because a reader may be slow.
      await tx.query("set local statement_timeout = 0");
      if (what.kind === "events") await holdDays(tx);
      const { next, close } = await openPages(tx, app, { what, cold });
      // For the pages, which are few rows of a large table. The cursor itself is already planned.
      await preferIndexes(tx);
      let count = 0;
      try {
        for (let page = await next(); page.length > 0; page = await next()) {
          await write(recordsText(page, format, count === 0 ? "first" : "later"));
          count += page.length;
        }
      } finally {
        await close();
      }
      return count;
    },
    "snapshot",
  );
}

/** A page of records, at least one; the first of a file begins with the names of its columns. */
export function recordsText(page: readonly ExportedRecord[], format: ExportFormat, place: "first" | "later"): string {
  if (format === "ndjson") return page.map(jsonLine).join("");
  const header = place === "first" ? csvLine(Object.keys(page[0]!)) : "";
  return (
    header +
    page
      .map((record) => csvLine(Object.values(record).map((value) => (value instanceof JsonText ? value.text : value))))
      .join("")
  );
}

function jsonLine(record: ExportedRecord): string {
  if (!Object.values(record).some((value) => value instanceof JsonText)) return `${JSON.stringify(record)}\n`;
  const members = Object.entries(record).map(
    ([name, value]) => `${JSON.stringify(name)}:${value instanceof JsonText ? value.text : JSON.stringify(value)}`,
  );
  return `{${members.join(",")}}\n`;
}

async function openPages(
  tx: pg.PoolClient,
  app: App,
  { what, cold }: { what: ExportOf; cold: ColdEvents },
): Promise<Pages<ExportedRecord>> {
  if (what.kind !== "events") return { next: await openCursor(tx, app, what), close: async () => {} };
  const { fromDay, untilDay } = what;
  const { next, close } = await openEventPages(tx, { appId: app.appId, fromDay, untilDay }, cold);
  return { next: async () => (await next()).map(eventRecord), close };
}

async function openCursor(
  tx: pg.PoolClient,
  app: App,
  what: Exclude<ExportOf, { kind: "events" }>,
): Promise<() => Promise<ExportedRecord[]>> {
  switch (what.kind) {
    case "users": {
      const where = userListCondition(what.filter, app, what.clients);
      await declare(
        tx,
        sql`select u.client_id from user_account u where ${where} order by u.registered_at_ms, u.client_id`,
      );
      return async () => userRecords(tx, await fetchKeys<{ clientId: string }>(tx), app);
    }
    case "orders": {
      const where = orderListCondition(what.filter, app, what.clients);
      await declare(
        tx,
        sql`select o.client_id, o.trace_id from ${ordersOfUsers} where ${where} order by o.received_at_ms, o.trace_id`,
      );
      return async () => {
        const keys = await fetchKeys<{ clientId: string; traceId: string }>(tx);
        return withRefunds(tx, await orderRecords(tx, keys, app), app);
      };
    }
  }
}

async function declare(tx: Executor, statement: Sql): Promise<void> {
  await query(tx, sql`declare exported_key no scroll cursor for ${statement}`);
}

/** A page small enough not to hold up other requests while its text is made: about 10 ms for 250 users. */
function fetchKeys<Key extends InCamelCase<Key>>(tx: Executor): Promise<Key[]> {
  return query<Key>(tx, sql`fetch 250 from exported_key`);
}

function eventRecord(event: ExportedEvent): ExportedRecord {
  return {
    client_id: event.clientId,
    type: event.type,
    event: event.event,
    time: event.atMs,
    properties: new JsonText(event.properties),
    received_at: event.receivedAtMs,
  };
}
