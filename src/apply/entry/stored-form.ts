import { adUnitOf } from "../../domain/ad-revenue.ts";
import { cutValue } from "../../domain/event/admission.ts";
import { canonicalText, canonicalTexts, fingerprintOf, keysOf } from "../../domain/event/fingerprint.ts";
import { type StoredProperties, wholeProperties } from "../../domain/event/origin.ts";
import type { AddedMember } from "../../domain/event/plain/plain-text.ts";
import { type JsonObject, type JsonValue, numberOf, textOf } from "../../domain/json.ts";
import type { UserKey } from "../../domain/user/user-key.ts";
import type { EntryHead, EntryKind } from "../../journal/entry.ts";
import { paymentOf } from "./payment.ts";
import { refundOf } from "./refund.ts";
import type { DecodedEvent, EventShape, SentAdView } from "./sent-event.ts";
import { isUsableTime } from "./usable-time.ts";

/** An event as it was sent. */
export type RawEvent = { type: EventShape["type"]; event: string; atMs: number; properties: JsonObject };
/** The event as it is stored. `properties`: after corrections; undefined where they are those that were sent. */
type StoredForm = { fingerprint: string; stored: StoredProperties; names: readonly string[]; properties?: JsonObject };

/**
 * The fingerprint covers what was sent, before admission's corrections, so that a repeat is the same event. `$ip` and
 * `$ua` do not count: the server fills them in, and an export that is imported again carries them.
 */
export function storedForm(
  { type, event, atMs, properties: sent }: RawEvent,
  given: { corrections?: Corrections | undefined; index: number; body: Addressed; address: Address },
): StoredForm {
  const { corrections, index, body, address } = given;
  if (!isUsableTime(atMs)) throw new Error("An event of the entry has no usable time.");
  if (type === "track" && !corrections && sent.$ip === undefined && sent.$ua === undefined) {
    const { canonical, stored, keys } = canonicalTexts(sent, address.added);
    return { fingerprint: fingerprintOf({ atMs, type, event, canonical }), stored, names: keys };
  }
  const canonical = canonicalText(withoutAddress(sent));
  const fingerprint = fingerprintOf({ atMs, type, event, canonical });
  const properties = corrected(sent, corrections?.get(index));
  const stored =
    type === "track"
      ? canonicalTexts({ ...properties, ...addressOf(properties, body, address) }).stored
      : wholeProperties(canonicalText(properties));
  return { fingerprint, stored, names: keysOf(properties), properties };
}

export function decodedEvent(
  raw: RawEvent,
  form: StoredForm,
  { user, kind }: { user: UserKey; kind: EntryKind },
): DecodedEvent {
  const { type, event, atMs } = raw;
  const { fingerprint, stored, names } = form;
  const properties = form.properties ?? raw.properties;
  const sent = { type, event, fingerprint, properties };
  const payment = paymentOf(sent, { user, kind });
  const refund = refundOf(sent, { user, given: raw.properties });
  const adView = adViewOf(sent);
  // Of other calls than collect, admission does not see to it that the text holds all properties as they are.
  const isRead = form.properties || payment || event === "$BindThirdPlatform" || kind !== "collect";
  const told = isRead || refund || adView ? { payment, refund, adView, ...(isRead && { properties }) } : undefined;
  return { appId: user.appId, type, event, names, atMs, fingerprint, properties: stored, told };
}

function adViewOf({ type, event, properties }: Pick<RawEvent, "type" | "event" | "properties">) {
  return type === "track" && event === AD_SHOWN ? adViewIn((key) => properties[key]) : undefined;
}

export const AD_SHOWN = "$AdShow";

export function adViewIn(read: (key: string) => JsonValue | undefined): SentAdView {
  const adUnit = adUnitOf(read("$ad_unit_id"));
  return { ecpm: numberOf(read("$ecpm")), adType: textOf(read("$ad_type")), adUnit };
}

function withoutAddress({ $ip: _ip, $ua: _ua, ...rest }: JsonObject): JsonObject {
  return rest;
}

/** Admission's corrections by the event's index in the list; undefined when nothing was wrong. */
export type Corrections = ReadonlyMap<number, { omitted: string[]; cut: string[] }>;

export function correctionsOf({ omitted = [], cut = [] }: EntryHead): Corrections | undefined {
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

/** What a body says of its sender's address. */
type Addressed = { client_ip?: JsonValue; client_ua?: JsonValue };

/** The sender's address; `added` is the same as JSON, made once for all events of the entry, in jsonb's key order. */
export type Address = { ip: string; ua: string; added: readonly (AddedMember & { text: string })[] };

export function addressFrom(ip: string, ua: string): Address {
  const added = [];
  if (ip !== "") added.push(addedMember("$ip", ip));
  if (ua !== "") added.push(addedMember("$ua", ua));
  return { ip, ua, added };
}

function addedMember(key: string, value: string) {
  const text = `${JSON.stringify(key)}:${JSON.stringify(value)}`;
  return { key, text, bytes: Buffer.from(text) };
}

/** client_ip and client_ua replace `$ip` and `$ua`; the caller's own address only fills them in. */
function addressOf(properties: JsonObject, body: Addressed, { ip, ua }: Address): JsonObject {
  return {
    ...(ip !== "" && (textOf(body.client_ip) !== "" || properties.$ip === undefined) && { $ip: ip }),
    ...(ua !== "" && (textOf(body.client_ua) !== "" || properties.$ua === undefined) && { $ua: ua }),
  };
}
