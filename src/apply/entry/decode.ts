import { isObject, type JsonObject, type JsonValue, parseJson, parseJsonWithIds, textOf } from "../../domain/json.ts";
import { REFUND_EVENT } from "../../domain/refund.ts";
import { messageOf, type Rejection } from "../../errors.ts";
import { decodeEntry, type Entry, type EntryHead } from "../../journal/entry.ts";
import type { LogItem } from "../../journal/entry-log.ts";
import { plainBody } from "../../journal/packed-body.ts";
import { type ReadTouch, readTouch } from "../../platform/link.ts";
import { LinkQuery } from "../../platform/link-query.ts";
import { decodeCollect, type Said } from "./decode-collect.ts";
import { type FileRefund, fileRefundsOf } from "./refund.ts";
import { type EventList, SentEvents } from "./sent-events.ts";
import { addressFrom, decodedEvent, type RawEvent, storedForm } from "./stored-form.ts";
import { weekOfTouch } from "./week-of-touch.ts";

/** Where an entry stands in the journal, and its bytes. */
type Recorded = { from: number; until: number; payload: Buffer };

export type EventsEntry = Recorded &
  Said & {
    kind: "events";
    received: number;
    rejected: readonly (readonly [number, string])[];
    events: EventList;
  };
/** An entry about the user itself: a registration, a device, ids, Apple's answer. */
export type UserEntry = Recorded & Said & { kind: "user"; body: JsonObject };
export type RenameEntry = Recorded & Said & { kind: "rename"; newClientId: string };
export type ErasureEntry = Recorded & Said & { kind: "erasure" };
/** `read` is undefined when the platform's name is unknown. `week`, in which the touch is stored, is then empty. */
export type TouchEntry = Recorded & { kind: "touch"; head: EntryHead; read: ReadTouch | undefined; week: string };
/** Refunds from a file. They concern orders, and no client until their order is known. */
export type RefundsEntry = Recorded & { kind: "refunds"; head: EntryHead; refunds: FileRefund[] };
export type UnreadableEntry = Recorded & { kind: "unreadable"; head: EntryHead | undefined; reason: string };

export type DecodedEntry =
  | EventsEntry
  | UserEntry
  | RenameEntry
  | ErasureEntry
  | TouchEntry
  | RefundsEntry
  | UnreadableEntry;

/** An item of the journal whose head is read: the entry, or why there is none. */
export type OpenedItem = Recorded & { entry: Entry | undefined; reason: string };

export function openItem({ kind, from, until, payload }: LogItem): OpenedItem {
  if (kind === "damage")
    return { from, until, payload, entry: undefined, reason: "The bytes are not a journal record." };
  try {
    return { from, until, payload, entry: decodeEntry(payload), reason: "" };
  } catch (error) {
    return { from, until, payload, entry: undefined, reason: messageOf(error) };
  }
}

/**
 * Turns the bytes of the journal into what the transaction needs. Everything that can be computed without the database
 * happens here, so that it runs while the database is still busy with the batch before. Its events are added to `events`.
 */
export function decodeItem({ from, until, payload, entry, reason }: OpenedItem, events: SentEvents): DecodedEntry {
  const recorded = { from, until, payload };
  if (!entry) return { ...recorded, kind: "unreadable", head: undefined, reason };
  try {
    // Not spread: with small entries, copying members took a tenth of the time of decoding.
    return Object.assign(decodeBody(entry, events), recorded);
  } catch (error) {
    return { ...recorded, kind: "unreadable", head: entry.head, reason: messageOf(error) };
  }
}

/** Decodes an item by itself. */
export function decodeAlone(item: LogItem): DecodedEntry {
  return decodeItem(openItem(item), SentEvents.empty(item.payload.length));
}

function decodeBody(entry: Entry, events: SentEvents) {
  const { head } = entry;
  const text = plainBody(entry);
  const user = { appId: head.app, clientId: head.client };
  switch (head.kind) {
    case "collect":
      return decodeCollect({ head, user }, text, events);
    case "consumer_event":
      return oneEvent({ head, user }, consumerEvent(asObject(parseJson(text))), events);
    case "handle_event":
      return oneEvent({ head, user }, handleEvent(asObject(parseJsonWithIds(text)), head.at), events);
    case "click":
    case "impression":
      return decodeTouch(head, readTouch(head.kind, LinkQuery.ofBytes(entry.body), head.at));
    case "refunds":
      return { kind: "refunds" as const, head, refunds: fileRefundsOf(asObject(parseJson(text))) };
    default:
      return decodeUser({ head, user }, asObject(parseJsonWithIds(text)));
  }
}

function decodeTouch(head: EntryHead, read: ReadTouch | undefined) {
  return { kind: "touch" as const, head, read, week: read ? weekOfTouch(read.touch) : "" };
}

function decodeUser({ head, user }: Said, body: JsonObject) {
  switch (head.kind) {
    case "reset_client_id":
      return { kind: "rename" as const, head, user, newClientId: textOf(body.new_client_id) };
    case "erase":
      return { kind: "erasure" as const, head, user };
    default:
      return { kind: "user" as const, head, user, body };
  }
}

function oneEvent({ head, user }: Said, raw: RawEvent, into: SentEvents) {
  const asStored = storedForm(raw, { index: 0, body: {}, address: addressFrom(head.ip, head.ua) });
  const { count: first } = into;
  into.add(decodedEvent(raw, asStored, { user, kind: head.kind }));
  const events = into.since(first);
  return { kind: "events" as const, head, user, received: 1, rejected: [] as [number, Rejection][], events };
}

function consumerEvent(body: JsonObject): RawEvent {
  const properties: JsonObject = {};
  for (const name of ["amount", "real_amount"]) if (typeof body[name] === "number") properties[name] = body[name];
  const event = eventName(body, "REFUND");
  if (event === REFUND_EVENT) properties.$trace_id = textOf(body.trace_id);
  return { type: "track", event, atMs: Number(body.ts), properties };
}

function handleEvent(body: JsonObject, receivedAtMs: number): RawEvent {
  const properties: JsonObject = isObject(body.properties) ? { ...body.properties } : {};
  if (textOf(body.trace_id) !== "") properties.$trace_id = textOf(body.trace_id);
  const atMs =
    body.use_client_time === true && typeof body.timestamp === "number" ? Math.floor(body.timestamp) : receivedAtMs;
  return { type: "track", event: eventName(body, "refund"), atMs, properties };
}

/** Refunds have one name, wherever they come from. */
function eventName({ event_type }: JsonObject, refund: string): string {
  return event_type === refund ? REFUND_EVENT : (event_type as string);
}

function asObject(value: JsonValue): JsonObject {
  if (!isObject(value)) throw new Error("The body of the entry is not an object.");
  return value;
}
