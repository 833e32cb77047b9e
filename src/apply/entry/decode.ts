import { adUnitOf } from "../../domain/ad-revenue.ts";
import { cutValue, propertiesOf, typeOfEvent } from "../../domain/event/admission.ts";
import { canonicalText, canonicalTexts, fingerprintOf, keysOf } from "../../domain/event/fingerprint.ts";
import {
  isObject,
  type JsonObject,
  type JsonValue,
  numberOf,
  parseJson,
  parseJsonWithIds,
  textOf,
} from "../../domain/json.ts";
import { REFUND_EVENT } from "../../domain/refund.ts";
import type { UserKey } from "../../domain/user/user-key.ts";
import { messageOf, type Rejection } from "../../errors.ts";
import { decodeEntry, type Entry, type EntryHead, type EntryKind } from "../../journal/entry.ts";
import type { LogItem } from "../../journal/entry-log.ts";
import { plainBody } from "../../journal/packed-body.ts";
import { type ReadTouch, readTouch } from "../../platform/link.ts";
import { LinkQuery } from "../../platform/link-query.ts";
import { paymentOf } from "./payment.ts";
import { type FileRefund, fileRefundsOf, refundOf } from "./refund.ts";
import { type DecodedEvent, type SentEvent, SentEvents } from "./sent-event.ts";
import { isUsableTime } from "./usable-time.ts";
import { weekOfTouch } from "./week-of-touch.ts";

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
  return decodeItem(openItem(item), new SentEvents(item.payload.length));
}

function decodeBody(entry: Entry, events: SentEvents) {
  const { head } = entry;
  const text = plainBody(entry);
  const user = { appId: head.app, clientId: head.client };
  switch (head.kind) {
    case "collect":
      return decodeCollect({ head, user }, asObject(parseJson(text)), events);
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

function decodeCollect({ head, user }: Said, body: JsonObject, into: SentEvents) {
  const list = body.event_list as JsonValue[];
  const rejectedIndexes = head.rejected && new Set(head.rejected.map(([index]) => index));
  const address = addressFrom(textOf(body.client_ip) || head.ip, textOf(body.client_ua) || head.ua);
  const corrections = correctionsOf(head);
  const by = { user, kind: head.kind };
  const events: SentEvent[] = [];
  for (let index = 0; index < list.length; index += 1) {
    if (rejectedIndexes?.has(index)) continue;
    const sent = list[index] as JsonObject;
    const raw = {
      type: typeOfEvent(sent, body.type) as SentEvent["type"],
      event: sent.event as string,
      atMs: Math.floor(sent.time as number),
      properties: propertiesOf(sent),
    };
    const asStored = storedForm(raw, { corrections, index, body, address });
    events.push(into.add(decodedEvent(raw, asStored, by)));
  }
  return { kind: "events" as const, head, user, received: list.length, rejected: head.rejected ?? [], events };
}

type RawEvent = { type: SentEvent["type"]; event: string; atMs: number; properties: JsonObject };
/** The event as it is stored. `properties`: after corrections; undefined where they are those that were sent. */
type StoredForm = { fingerprint: string; propertiesText: string; names: readonly string[]; properties?: JsonObject };

/**
 * The fingerprint covers what was sent, before admission's corrections, so that a repeat is the same event. `$ip` and
 * `$ua` do not count: the server fills them in, and an export that is imported again carries them.
 */
function storedForm(
  { type, event, atMs, properties: sent }: RawEvent,
  given: { corrections?: Corrections | undefined; index: number; body: JsonObject; address: Address },
): StoredForm {
  const { corrections, index, body, address } = given;
  if (!isUsableTime(atMs)) throw new Error("An event of the entry has no usable time.");
  if (type === "track" && !corrections && sent.$ip === undefined && sent.$ua === undefined) {
    const { canonical, withAdded, keys } = canonicalTexts(sent, address.added);
    return { fingerprint: fingerprintOf({ atMs, type, event, canonical }), propertiesText: withAdded, names: keys };
  }
  const canonical = canonicalText(withoutAddress(sent));
  const fingerprint = fingerprintOf({ atMs, type, event, canonical });
  const properties = corrected(sent, corrections?.get(index));
  const stored = type === "track" ? { ...properties, ...addressOf(properties, body, address) } : properties;
  return { fingerprint, propertiesText: canonicalText(stored), names: keysOf(properties), properties };
}

function decodedEvent(
  raw: RawEvent,
  form: StoredForm,
  { user, kind }: { user: UserKey; kind: EntryKind },
): DecodedEvent {
  const { type, event, atMs } = raw;
  const { fingerprint, propertiesText, names } = form;
  const properties = form.properties ?? raw.properties;
  const sent = { type, event, fingerprint, properties };
  const payment = paymentOf(sent, { user, kind });
  const refund = refundOf(sent, { user, given: raw.properties });
  const adView = adViewOf(sent);
  // Of other calls than collect, admission does not see to it that the text holds all properties as they are.
  const isRead = form.properties || payment || event === "$BindThirdPlatform" || kind !== "collect";
  const told = isRead || refund || adView ? { payment, refund, adView, ...(isRead && { properties }) } : undefined;
  return { appId: user.appId, type, event, names, atMs, fingerprint, propertiesText, told };
}

function adViewOf({ type, event, properties }: Pick<RawEvent, "type" | "event" | "properties">) {
  if (type !== "track" || event !== "$AdShow") return undefined;
  const { $ecpm, $ad_type, $ad_unit_id } = properties;
  return { ecpm: numberOf($ecpm), adType: textOf($ad_type), adUnit: adUnitOf($ad_unit_id) };
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

function oneEvent({ head, user }: Said, raw: RawEvent, into: SentEvents) {
  const asStored = storedForm(raw, { index: 0, body: {}, address: addressFrom(head.ip, head.ua) });
  const event = into.add(decodedEvent(raw, asStored, { user, kind: head.kind }));
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
