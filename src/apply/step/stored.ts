import type pg from "pg";
import type { ColdEvents } from "../../db/cold-event.ts";
import { type EventKey, findStoredEvents } from "../../db/event.ts";
import { findOrderKeys, type OrderKey } from "../../db/orders.ts";
import type { EventParts } from "../../domain/event/event-part.ts";
import type { DecodedEntry } from "../entry/decode.ts";
import { orderKeyText } from "../entry/key-text.ts";
import type { EventShape } from "../entry/sent-event.ts";
import type { BatchUsers } from "../facts/batch-users.ts";
import type { ObservedNames } from "../facts/observed-names.ts";
import { SeenEvents } from "../facts/seen-events.ts";
import { writtenAfterMs } from "./cold.ts";

/** What is already stored: the batch's repeated events and orders, the open days, and the names seen. */
export type Stored = {
  events: SeenEvents;
  orders: Set<string>;
  parts: EventParts;
  names: ObservedNames;
  /** The shapes of events whose names the batch has noted. */
  noted: Set<EventShape>;
};

/**
 * The batch's events that are already in the database. Only events no later than the user's latest stored one are
 * looked up; nearly all events are later and therefore new.
 */
export async function findEvents(
  tx: pg.PoolClient,
  entries: readonly DecodedEntry[],
  { users, parts, cold }: { users: BatchUsers; parts: EventParts; cold: ColdEvents | undefined },
): Promise<SeenEvents> {
  const suspects: EventKey[] = [];
  let count = 0;
  for (const entry of entries) {
    if (entry.kind !== "events") continue;
    count += entry.events.length;
    const { appId, clientId } = entry.user;
    const latestMs = users.find(entry.user)?.latestEventAtMs ?? null;
    if (latestMs === null) continue;
    for (let index = 0; index < entry.events.length; index += 1) {
      if (entry.events.atMsOf(index) > latestMs) continue;
      const { atMs, day, fingerprint } = entry.events.at(index);
      suspects.push({ appId, clientId, day, atMs, fingerprint });
    }
  }
  const seen = new SeenEvents(count);
  for (const event of await findStoredEvents(tx, suspects)) seen.addStored(event);
  const older = cold ? suspects.filter(({ day }) => parts.stateOf(day) === "cold") : [];
  if (!cold || older.length === 0) return seen;
  const owners = older.map((key) => users.find(key)!);
  for (const event of await cold.find(tx, older, writtenAfterMs(owners))) seen.addStored(event);
  return seen;
}

/** The batch's payments that are already orders in the database. */
export async function findOrders(tx: pg.PoolClient, entries: readonly DecodedEntry[]): Promise<Set<string>> {
  const keys: OrderKey[] = [];
  for (const entry of entries) {
    if (entry.kind !== "events") continue;
    for (let index = 0; index < entry.events.length; index += 1) {
      const payment = entry.events.toldBy(index)?.payment;
      if (payment) keys.push({ appId: entry.head.app, traceId: payment.traceId });
    }
  }
  const found = await findOrderKeys(tx, keys);
  return new Set(found.map(orderKeyText));
}
