import type pg from "pg";
import { EventCopy, type EventRow, eventRowsFor } from "../../src/db/event.ts";
import { EventTails } from "../../src/db/event-tails.ts";
import { wholeProperties } from "../../src/domain/event/origin.ts";

/** Stores events as apply does. */
export async function copyEvents(tx: pg.PoolClient, events: readonly EventRow[]): Promise<void> {
  const rows = eventRowsFor(tx);
  const tails = EventTails.empty(0);
  for (const { properties: propertiesText, ...event } of events) {
    const place = tails.add({ ...event, properties: wholeProperties(propertiesText) });
    rows.add(event, { ...event, ...place, propertiesText, tails });
  }
  const copy = new EventCopy(tx);
  await copy.write(rows);
  await copy.end();
}
