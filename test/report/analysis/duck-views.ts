import { DuckDBInstance } from "@duckdb/node-api";
import { propertiesNamedIn, propertyColumn } from "../../../src/domain/lake-properties.ts";
import { propertyText } from "../../../src/lake/lake-statements.ts";
import type { Row } from "../../../src/report/analysis/row.ts";
import { dayOf } from "../oracle-days.ts";
import { localText, type Market, TEXT_COLUMNS } from "./market.ts";

/** The views of an app as tables in memory. */
export type Views = {
  load: (market: Market) => Promise<void>;
  run: (statement: string) => Promise<Row[]>;
  close: () => void;
};

const TABLES = [
  `create or replace table event_rows (client_id varchar, event varchar, type varchar, "time" timestamp, local_time timestamp,
    "day" date, received_time timestamp, properties varchar, event_id uuid)`,
  `create or replace table users (client_id varchar, registered_time timestamp, registered_day date, touched_time timestamp,
    cohort_day date, version bigint, properties varchar, ${TEXT_COLUMNS.map((name) => `${name} varchar`).join(", ")})`,
  `create or replace table orders (client_id varchar, trace_id varchar, "time" timestamp, local_time timestamp, "day" date,
    received_time timestamp, pay_cents bigint, refund_cents bigint, currency varchar, pay_count integer, is_virtual boolean,
    properties varchar)`,
];

export async function openViews(): Promise<Views> {
  const instance = await DuckDBInstance.create(":memory:", { threads: "1" });
  const connection = await instance.connect();
  // Few rows would be compared one by one: these tests are about the join that large tables get.
  await connection.run("set asof_loop_join_threshold = 0");
  const insert = async (table: string, rows: readonly object[]) => {
    // JSON carries every text and number, and no literal is written by hand.
    const prepared = await connection.prepare(
      `insert into ${table} by name select row.* from (
        select unnest(from_json($1::json, json_structure($1::json))) as row)`,
    );
    prepared.bindVarchar(1, JSON.stringify(rows));
    if (rows.length > 0) await prepared.run();
  };
  const clear = async () => {
    for (const table of TABLES) await connection.run(table);
  };
  await clear();
  return {
    load: async (market) => {
      await clear();
      await insert(
        "event_rows",
        market.events.map((event) => eventRow(event, market.zone)),
      );
      await insert(
        "orders",
        market.orders.map((order) => orderRow(order, market.zone)),
      );
      await insert(
        "users",
        market.users.map((user) => userRow(user, market.zone)),
      );
    },
    run: async (statement) => {
      const named = propertiesNamedIn(statement).map((name) => `${propertyText(name)} as "${propertyColumn(name)}"`);
      await connection.run(`create or replace view events as select ${["*", ...named].join(", ")} from event_rows`);
      return (await connection.runAndReadAll(statement)).getRowObjectsJson() as Row[];
    },
    close: () => {
      connection.closeSync();
      instance.closeSync();
    },
  };
}

function utcText(ms: number): string {
  return new Date(ms).toISOString().slice(0, 23).replace("T", " ");
}

function timesOf({ ms, receivedMs }: { ms: number; receivedMs: number }, zone: string): object {
  return {
    time: utcText(ms),
    local_time: localText(ms, zone),
    day: dayOf(ms, zone),
    received_time: utcText(receivedMs),
  };
}

function eventRow(event: Market["events"][number], zone: string): object {
  const { client, id, properties } = event;
  const names = { client_id: client, event: event.event, type: event.type, event_id: id };
  return { ...names, ...timesOf(event, zone), properties: JSON.stringify(properties) };
}

function orderRow(order: Market["orders"][number], zone: string): object {
  return {
    client_id: order.client,
    trace_id: order.traceId,
    ...timesOf(order, zone),
    pay_cents: order.payCents,
    refund_cents: order.refundCents,
    currency: order.currency,
    pay_count: order.payCount,
    is_virtual: order.isVirtual,
    properties: JSON.stringify(order.properties),
  };
}

function userRow(user: Market["users"][number], zone: string): object {
  const { client, registeredMs, touchedMs, version, columns, properties } = user;
  return {
    client_id: client,
    registered_time: utcText(registeredMs),
    registered_day: dayOf(registeredMs, zone),
    touched_time: touchedMs === null ? null : utcText(touchedMs),
    cohort_day: dayOf(touchedMs ?? registeredMs, zone),
    version,
    ...columns,
    properties: JSON.stringify(properties),
  };
}
