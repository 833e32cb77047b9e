import { cutValue, propertiesOf, typeOfEvent } from "../../domain/event/admission.ts";
import { canonicalText, canonicalTexts, fingerprintOf } from "../../domain/event/fingerprint.ts";
import { isObject, type JsonObject, type JsonValue, parseJson, parseJsonWithIds, textOf } from "../../domain/json.ts";
import { REFUND_EVENT } from "../../domain/refund.ts";
import type { UserKey } from "../../domain/user/user-key.ts";
import { messageOf, type Rejection } from "../../errors.ts";
import { decodeEntry, type Entry, type EntryHead } from "../../journal/entry.ts";
import type { LogItem } from "../../journal/entry-log.ts";
import { plainBody } from "../../journal/packed-body.ts";
import { type ReadTouch, readTouch } from "../../platform/link.ts";
import { LinkQuery } from "../../platform/link-query.ts";
import { paymentOf, type SentPayment } from "./payment.ts";
import { type FileRefund, fileRefundsOf, refundOf, type SentRefund } from "./refund.ts";
import { isUsableTime } from "./usable-time.ts";
import { weekOfTouch } from "./week-of-touch.ts";

/** One event, ready to be stored once it is known to be new. */
export type SentEvent = {
  type: "track" | "profile";
  event: string;
  atMs: number;
  /** The day in the app's time zone; empty until the settings of the app are known (see batch.ts). */
  day: string;
  fingerprint: string;
  properties: JsonObject;
  /** The properties as JSON text, with `$ip` and `$ua` for track events. */
  propertiesText: string;
  /** The payment, if the event is one. */
  payment: SentPayment | undefined;
  /** The refund, if the event is one. */
  refund: SentRefund | undefined;
};

/** Where an entry stands in the journal, and its bytes. */
type Recorded = { from: number; until: number; payload: Buffer };
/** The head of an entry, and the user it is about. */
type Said = { head: EntryHead; user: UserKey };

export type EventsEntry = Recorded &
  Said & {
    kind: "events";
    received: number;
    rejected: readonly (readonly [number, string])[];
    events: SentEvent[];
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

/**
 * Turns the bytes of the journal into what the transaction needs. Everything that can be computed without the database
 * happens here, so that it runs while the database is still busy with the batch before.
 */
export function decodeItem(item: LogItem): DecodedEntry {
  const recorded = { from: item.from, until: item.until, payload: item.payload };
  if (item.kind === "damage")
    return { ...recorded, kind: "unreadable", head: undefined, reason: "The bytes are not a journal record." };
  let head: EntryHead | undefined;
  try {
    const entry = decodeEntry(item.payload);
    head = entry.head;
    // Not spread: with small entries, copying members took a tenth of the time of decoding.
    return Object.assign(decodeBody(entry), recorded);
  } catch (error) {
    return { ...recorded, kind: "unreadable", head, reason: messageOf(error) };
  }
}

function decodeBody(entry: Entry) {
  const { head } = entry;
  const text = plainBody(entry);
  const user = { appId: head.app, clientId: head.client };
  switch (head.kind) {
    case "collect":
      return decodeCollect({ head, user }, asObject(parseJson(text)));
    case "consumer_event":
      return oneEvent({ head, user }, consumerEvent(asObject(parseJson(text))));
    case "handle_event":
      return oneEvent({ head, user }, handleEvent(asObject(parseJsonWithIds(text)), head.at));
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

function decodeCollect({ head, user }: Said, body: JsonObject) {
  const list = body.event_list as JsonValue[];
  const rejectedIndexes = head.rejected && new Set(head.rejected.map(([index]) => index));
  const address = addressFrom(textOf(body.client_ip) || head.ip, textOf(body.client_ua) || head.ua);
  const corrections = correctionsOf(head);
  const by = { user, kind: head.kind };
  const events: SentEvent[] = [];
  for (let index = 0; index < list.length; index += 1) {
    if (rejectedIndexes?.has(index)) continue;
    const sent = list[index] as JsonObject;
    const type = typeOfEvent(sent, body.type) as SentEvent["type"];
    const properties = propertiesOf(sent);
    const event = sentEvent(
      corrections,
      index,
      { type, event: sent.event as string, atMs: Math.floor(sent.time as number), properties },
      body,
      address,
    );
    event.payment = paymentOf(event, by);
    event.refund = refundOf(event, { user, given: properties });
    events.push(event);
  }
  return { kind: "events" as const, head, user, received: list.length, rejected: head.rejected ?? [], events };
}

type RawEvent = Pick<SentEvent, "type" | "event" | "atMs" | "properties">;

/**
 * The fingerprint covers what was sent, before admission's corrections, so that a repeat is the same event. `$ip` and
 * `$ua` do not count: the server fills them in, and an export that is imported again carries them.
 */
function sentEvent(
  corrections: Corrections | undefined,
  index: number,
  raw: RawEvent,
  body: JsonObject,
  address: Address,
): SentEvent {
  const { atMs, type, event } = raw;
  if (!isUsableTime(atMs)) throw new Error("An event of the entry has no usable time.");
  const isUsual = type === "track" && !corrections;
  if (isUsual && raw.properties.$ip === undefined && raw.properties.$ua === undefined) {
    const { canonical, withAdded } = canonicalTexts(raw.properties, address.added);
    const fingerprint = fingerprintOf({ atMs, type, event, canonical });
    const { properties } = raw;
    return {
      type,
      event,
      atMs,
      day: "",
      fingerprint,
      properties,
      propertiesText: withAdded,
      payment: undefined,
      refund: undefined,
    };
  }
  const canonical = canonicalText(withoutAddress(raw.properties));
  const fingerprint = fingerprintOf({ atMs, type, event, canonical });
  const properties = corrected(raw.properties, corrections?.get(index));
  const stored = type === "track" ? { ...properties, ...addressOf(properties, body, address) } : properties;
  const propertiesText = canonicalText(stored);
  return { type, event, atMs, day: "", fingerprint, properties, propertiesText, payment: undefined, refund: undefined };
}

function withoutAddress({ $ip: _ip, $ua: _ua, ...rest }: JsonObject): JsonObject {
  return rest;
}

/** Admission's corrections by the event's index in the list; undefined when nothing was wrong. */
type Corrections = ReadonlyMap<number, { omitted: string[]; cut: string[] }>;

function correctionsOf({ omitted = [], cut = [] }: EntryHead): Corrections | undefined {
  if (omitted.length === 0 && cut.length === 0) return undefined;
  const corrections = new Map<number, { omitted: string[]; cut: string[] }>();
  const at = (index: number) => {
    const known = corrections.get(index) ?? { omitted: [], cut: [] };
    corrections.set(index, known);
    return known;
  };
  for (const [index, name] of omitted) at(index).omitted.push(name);
  for (const [index, name] of cut) at(index).cut.push(name);
  return corrections;
}

function corrected(properties: JsonObject, found: { omitted: string[]; cut: string[] } | undefined): JsonObject {
  if (!found) return properties;
  const result = { ...properties };
  for (const name of found.omitted) delete result[name];
  for (const name of found.cut) result[name] = cutValue(properties[name]!);
  return result;
}

/** The sender's address; `added` is the same as JSON, made once for all events of the entry, in jsonb's key order. */
type Address = { ip: string; ua: string; added: readonly { key: string; text: string }[] };

function addressFrom(ip: string, ua: string): Address {
  const added = [];
  if (ip !== "") added.push({ key: "$ip", text: `"$ip":${JSON.stringify(ip)}` });
  if (ua !== "") added.push({ key: "$ua", text: `"$ua":${JSON.stringify(ua)}` });
  return { ip, ua, added };
}

/** client_ip and client_ua replace `$ip` and `$ua`; the caller's own address only fills them in. */
function addressOf(properties: JsonObject, body: JsonObject, { ip, ua }: Address): JsonObject {
  return {
    ...(ip !== "" && (textOf(body.client_ip) !== "" || properties.$ip === undefined) && { $ip: ip }),
    ...(ua !== "" && (textOf(body.client_ua) !== "" || properties.$ua === undefined) && { $ua: ua }),
  };
}

function oneEvent({ head, user }: Said, raw: RawEvent) {
  const event = sentEvent(undefined, 0, raw, {}, addressFrom(head.ip, head.ua));
  event.payment = paymentOf(event, { user, kind: head.kind });
  event.refund = refundOf(event, { user, given: raw.properties });
  return { kind: "events" as const, head, user, received: 1, rejected: [] as [number, Rejection][], events: [event] };
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
