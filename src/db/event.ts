import type pg from "pg";
import { copyJson, copyText, RowCopy } from "./engine/copy.ts";
import { type Executor, query, sql } from "./engine/sql.ts";

export type EventRow = {
  appId: number;
  clientId: string;
  day: string;
  atMs: number;
  fingerprint: string;
  type: string;
  event: string;
  /** JSON text. */
  properties: string;
  receivedAtMs: number;
};

/** An event in COPY's text form, made early so that a batch holds one text per event instead of an object. */
export function eventRow(e: EventRow): string {
  return `${e.appId}\t${copyText(e.clientId)}\t${e.day}\t${e.atMs}\t${e.fingerprint}\t${e.type}\t${e.event}\t${copyJson(e.properties)}\t${e.receivedAtMs}`;
}

/** A copy into the event table. No row may be stored already: the primary key would refuse the whole batch. */
export function eventCopy(tx: pg.PoolClient): RowCopy {
  return new RowCopy(
    tx,
    "copy event (app_id, client_id, day, at_ms, fingerprint, type, event, properties, received_at_ms) from stdin",
  );
}

export type EventKey = Pick<EventRow, "appId" | "clientId" | "day" | "atMs" | "fingerprint">;

/** The keys that are already stored. */
export async function findStoredEvents(
  executor: Executor,
  keys: readonly EventKey[],
): Promise<Pick<EventKey, "appId" | "clientId" | "fingerprint">[]> {
  if (keys.length === 0) return [];
  return query(
    executor,
    sql`select e.app_id as "appId", e.client_id as "clientId", replace(e.fingerprint::text, '-', '') as fingerprint
      from unnest(${keys.map((k) => k.appId)}::int[], ${keys.map((k) => k.clientId)}::text[], ${keys.map((k) => k.day)}::date[],
        ${keys.map((k) => k.atMs)}::bigint[], ${keys.map((k) => k.fingerprint)}::uuid[])
        as wanted (app_id, client_id, day, at_ms, fingerprint)
      join event e on e.app_id = wanted.app_id and e.client_id = wanted.client_id collate "C" and e.day = wanted.day
        and e.at_ms = wanted.at_ms and e.fingerprint = wanted.fingerprint`,
  );
}

/** The track events of users, with the fields that the day counters need. */
export async function loadTrackEvents(
  executor: Executor,
  users: readonly { appId: number; clientId: string }[],
): Promise<{ appId: number; clientId: string; atMs: number; event: string; ecpm: unknown }[]> {
  return query(
    executor,
    sql`select e.app_id as "appId", e.client_id as "clientId", e.at_ms as "atMs", e.event,
        case when e.event = '$AdShow' then e.properties -> '$ecpm' end as ecpm
      from unnest(${users.map((user) => user.appId)}::int[], ${users.map((user) => user.clientId)}::text[]) as wanted (app_id, client_id)
      join event e on e.app_id = wanted.app_id and e.client_id = wanted.client_id collate "C"
      where e.type = 'track'`,
  );
}

export type ExportedEvent = {
  clientId: string;
  type: string;
  event: string;
  atMs: number;
  properties: string;
  receivedAtMs: number;
};

/** Declares a cursor over an app's events of some days, in a fixed order; read it with fetchEvents. */
export async function openEventCursor(
  tx: Executor,
  range: { appId: number; fromDay: string; untilDay: string },
): Promise<void> {
  await query(
    tx,
    sql`declare exported_event no scroll cursor for
      select client_id as "clientId", type, event, at_ms as "atMs", properties::text as properties, received_at_ms as "receivedAtMs"
      from event where app_id = ${range.appId} and day >= ${range.fromDay}::date and day < ${range.untilDay}::date
      order by at_ms, client_id, fingerprint`,
  );
}

export async function fetchEvents(tx: Executor): Promise<ExportedEvent[]> {
  return query<ExportedEvent>(tx, sql`fetch 500 from exported_event`);
}
