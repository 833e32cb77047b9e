import type pg from "pg";
import type { JsonValue } from "../domain/json.ts";
import { BinaryRows, TRAILER } from "./engine/binary-rows.ts";
import { copyJson, copyText, NULL, RowCopy } from "./engine/copy.ts";
import { placeOf } from "./engine/place.ts";
import { PlacedRows } from "./engine/placed-rows.ts";
import { rowsOf } from "./engine/rows.ts";
import { type Executor, execute, query, type Sql, sql } from "./engine/sql.ts";
import { TextRows } from "./engine/text-rows.ts";
import { hourNumber, hourOf } from "./event-hour.ts";
import { eventProperties, eventPropertiesText, withOrigin } from "./event-properties.ts";
import { type EventTails, NO_ORIGIN, type TailPlace } from "./event-tails.ts";

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

/** Who sent an event, and when. */
export type EventSender = Pick<EventRow, "appId" | "clientId" | "receivedAtMs">;

/** A new event whose tail is made already (see event-tails.ts). */
export type NewEvent = Pick<EventRow, "day" | "atMs" | "fingerprint" | "type" | "event"> &
  Readonly<TailPlace> & {
    readonly propertiesText: string;
    readonly tails: EventTails;
  };

/** New events as rows, made early so that a batch holds the bytes of an event instead of an object. */
export interface EventRows {
  add(sender: EventSender, event: NewEvent): void;
  /** Whether enough rows have gathered to be sent. */
  readonly isFull: boolean;
  /** The rows since the last call; undefined when there are none. */
  take(): Buffer | undefined;
}

/** In the form in which the transaction will store them. */
export function eventRowsFor(tx: object): EventRows {
  return placeOf(tx) ? new TextEventRows() : new BinaryEventRows();
}

/** What events that come together have in common: the columns with which their rows begin. */
type Beginning = EventSender & Pick<EventRow, "day" | "type">;
/** A beginning that has been written, and where it stands. */
type Written = Beginning & { from: number; until: number };

/** For COPY. A beginning is copied from the row before when it is the same. */
class BinaryEventRows implements EventRows {
  readonly #rows = new BinaryRows();
  #last: Written | undefined;

  add(sender: EventSender, event: NewEvent): void {
    if (this.#last && isAlike(this.#last, sender, event)) this.#rows.repeat(this.#last);
    else this.#begin(sender, event);
    this.#rows.copied(event.tails.bytes, event);
  }

  #begin({ appId, clientId, receivedAtMs }: EventSender, { day, type }: NewEvent): void {
    const from = this.#rows.position;
    this.#rows.row(11).int(appId).text(clientId).day(day).bigint(receivedAtMs).text(type);
    this.#last = { appId, clientId, day, receivedAtMs, type, from, until: this.#rows.position };
  }

  get isFull(): boolean {
    return this.#rows.isFull;
  }

  take(): Buffer | undefined {
    if (!this.#last) return undefined;
    this.#last = undefined;
    return this.#rows.take();
  }
}

/** For a place. */
class TextEventRows implements EventRows {
  readonly #rows = new TextRows();
  #last: Written | undefined;

  add(sender: EventSender, event: NewEvent): void {
    if (this.#last && isAlike(this.#last, sender, event)) this.#rows.repeat(this.#last);
    else this.#begin(sender, event);
    this.#rows
      .add(`${event.atMs}\t${event.fingerprint}\t${copyText(event.event)}\t`)
      .add(copyProperties(event))
      .end();
  }

  #begin({ appId, clientId, receivedAtMs }: EventSender, { day, type }: NewEvent): void {
    const from = this.#rows.position;
    this.#rows.add(`${appId}\t${copyText(clientId)}\t${day}\t${receivedAtMs}\t${type}\t`);
    this.#last = { appId, clientId, day, receivedAtMs, type, from, until: this.#rows.position };
  }

  get isFull(): boolean {
    return this.#rows.isFull;
  }

  take(): Buffer | undefined {
    if (!this.#last) return undefined;
    this.#last = undefined;
    return this.#rows.take();
  }
}

function isAlike(last: Beginning, { appId, clientId, receivedAtMs }: EventSender, { day, type }: NewEvent): boolean {
  return (
    last.clientId === clientId &&
    last.receivedAtMs === receivedAtMs &&
    last.day === day &&
    last.type === type &&
    last.appId === appId
  );
}

function copyProperties(event: NewEvent): string {
  const { tails, originAt } = event;
  if (originAt === NO_ORIGIN) return `${copyJson(event.propertiesText)}\t${NULL}\t${NULL}`;
  return `${NULL}\t${tails.originIdAt(originAt)}\t${copyJson(tails.restTextAt(event))}`;
}

const TARGET = {
  table: "event",
  columns:
    "app_id, client_id, day, received_at_ms, type, at_ms, fingerprint, event, properties_text, origin_id, properties_rest",
};

/** Stores events. No row may be stored already: nothing else looks for it. */
export class EventCopy {
  readonly #to: { write(rows: Buffer): Promise<void>; end(trailer: Buffer): Promise<void> };

  constructor(tx: pg.PoolClient) {
    const place = placeOf(tx);
    this.#to = place
      ? new PlacedRows(tx, place, { target: TARGET })
      : new RowCopy(tx, `copy ${TARGET.table} (${TARGET.columns}) from stdin (format binary)`);
  }

  async write(rows: EventRows): Promise<void> {
    const bytes = rows.take();
    if (bytes) await this.#to.write(bytes);
  }

  async end(): Promise<void> {
    await this.#to.end(TRAILER);
  }
}

export type EventKey = Pick<EventRow, "appId" | "clientId" | "day" | "atMs" | "fingerprint">;

/** The keys that are already stored. The events of a user's hour are read once, however many of them are looked for. */
export async function findStoredEvents(executor: Executor, keys: readonly EventKey[]): Promise<EventKey[]> {
  if (keys.length === 0) return [];
  const hours = new Map(
    keys.map((key) => {
      const hour = hourNumber(key.atMs);
      return [`${key.appId} ${key.day} ${hour} ${key.clientId}`, { ...key, hour }];
    }),
  );
  const wanted = rowsOf("wanted", [...hours.values()], { appId: "int", clientId: "text", day: "date", hour: "bigint" });
  const fingerprints = [...new Set(keys.map(({ fingerprint }) => fingerprint))];
  const found = await query<EventKey>(
    executor,
    sql`select e.app_id, e.client_id, e.day, e.at_ms, replace(e.fingerprint::text, '-', '') as fingerprint from ${wanted}
      join event e on e.app_id = wanted.app_id and e.client_id = wanted.client_id collate "C" and e.day = wanted.day
        and ${hourOf(sql`e.at_ms`)} = wanted.hour
      where e.fingerprint = any(${fingerprints}::uuid[])`,
  );
  const stored = new Set(found.map(keyText));
  return keys.filter((key) => stored.has(keyText(key)));
}

function keyText({ appId, clientId, day, atMs, fingerprint }: EventKey): string {
  return `${appId} ${day} ${atMs} ${fingerprint} ${clientId}`;
}

/** The track events of users, `cold` ones among them, with the fields that the day counters need. */
export async function loadTrackEvents(
  executor: Executor,
  users: readonly { appId: number; clientId: string }[],
  cold: readonly EventRow[],
): Promise<{ appId: number; clientId: string; atMs: number; event: string; ecpm: unknown; adUnit: JsonValue }[]> {
  const wanted = rowsOf("wanted", users, { appId: "int", clientId: "text" });
  return query(
    executor,
    sql`select e.app_id, e.client_id, e.at_ms, e.event,
        case when e.event = '$AdShow' then ${eventProperties} -> '$ecpm' end as ecpm,
        case when e.event = '$AdShow' then ${eventProperties} -> '$ad_unit_id' end as ad_unit
      from ${wanted}
      join ${eventsWith(cold)} on e.app_id = wanted.app_id and e.client_id = wanted.client_id collate "C" ${withOrigin}
      where e.type = 'track'`,
  );
}

const COLUMNS = sql`app_id, client_id, day, at_ms, fingerprint, type, event, received_at_ms`;

/** The table of events with rows that are only in the lake, under the name e. The latter have no origin. */
export function eventsWith(cold: readonly EventRow[]): Sql {
  if (cold.length === 0) return sql`event e`;
  return sql`(select ${COLUMNS}, properties_text, origin_id, properties_rest, properties_json, properties_jsonb from event
    union all select ${COLUMNS}, properties, null::bigint, null::text, null::json, null::jsonb from ${rowsIn(cold)}) e`;
}

/** Puts cold events of a user back into the table, under another client id. */
export async function insertEvents(tx: Executor, rows: readonly EventRow[]): Promise<void> {
  for (let at = 0; at < rows.length; at += INSERTED_AT_ONCE) {
    const some = rows.slice(at, at + INSERTED_AT_ONCE);
    await execute(
      tx,
      sql`insert into event (${COLUMNS}, properties_text) select ${COLUMNS}, properties from ${rowsIn(some)}`,
    );
  }
}

const INSERTED_AT_ONCE = 5_000;

function rowsIn(rows: readonly EventRow[]): Sql {
  return rowsOf("cold", rows, {
    appId: "int",
    clientId: "text",
    day: "date",
    atMs: "bigint",
    fingerprint: "uuid",
    type: "text",
    event: "text",
    properties: "text",
    receivedAtMs: "bigint",
  });
}

export type ExportedEvent = {
  clientId: string;
  type: string;
  event: string;
  atMs: number;
  fingerprint: string;
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
      select e.client_id, e.type, e.event, e.at_ms, replace(e.fingerprint::text, '-', '') as fingerprint, ${eventPropertiesText} as properties,
        e.received_at_ms
      from event e ${withOrigin}
      where e.app_id = ${range.appId} and e.day >= ${range.fromDay}::date and e.day < ${range.untilDay}::date
      order by e.at_ms, e.client_id, e.fingerprint`,
  );
}

export async function fetchEvents(tx: Executor): Promise<ExportedEvent[]> {
  return query<ExportedEvent>(tx, sql`fetch 500 from exported_event`);
}
