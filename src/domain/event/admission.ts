import type { Rejection } from "../../errors.ts";
import { KIB, LIMITS } from "../../limits.ts";
import { cutToBytes, deeperThan, isObject, type JsonObject, type JsonValue } from "../json.ts";
import {
  type AppMetadata,
  type ExpectedType,
  NAME,
  PRESET_EVENTS,
  type PropertyScope,
  propertyTypes,
} from "./metadata.ts";
import { entryBytes, isProfileOperation } from "./profile.ts";
import { cutList, isTooLarge } from "./property-size.ts";

export type EventError = { index: number; event: string; reason: Rejection | "bad_property"; message: string };

/** The verdicts on a list of events. Sparse: for an ordinary list all of it is empty. */
export type Admission = {
  rejected: [number, Rejection][];
  omitted: [number, string][];
  cut: [number, string][];
  errors: EventError[];
};

export type AdmissionContext = { nowMs: number; metadata: AppMetadata };

const DAY_MS = 86_400_000;
export const OLDEST_MS = 10 * DAY_MS;
export const NEWEST_MS = 3_600_000;
/** The range of a history import. A time outside has the wrong unit (seconds, microseconds) or is garbage. */
const TIME_FROM_MS = Date.UTC(2000, 0, 1);
const TIME_UNTIL_MS = Date.UTC(2100, 0, 1);

/** Judges each event by itself; a bad one never affects the others. `sharedType` is the `type` beside `event_list`. */
export function admitEvents(
  eventList: readonly JsonValue[],
  sharedType: JsonValue | undefined,
  context: AdmissionContext,
): Admission {
  const admission = noVerdicts();
  for (let index = 0; index < eventList.length; index += 1)
    admitEvent(eventList[index]!, index, sharedType, context, admission);
  return admission;
}

export function noVerdicts(): Admission {
  return { rejected: [], omitted: [], cut: [], errors: [] };
}

/** Adds the verdicts on one event. */
export function admitEvent(
  event: JsonValue,
  index: number,
  sharedType: JsonValue | undefined,
  context: AdmissionContext,
  admission: Admission,
): void {
  const refusal = refusalOf(event, sharedType, context);
  if (refusal) {
    admission.rejected.push([index, refusal.reason]);
    admission.errors.push({ index, event: nameOf(event), reason: refusal.reason, message: refusal.message });
    return;
  }
  const sent = event as JsonObject;
  admitProperties(sent, index, typeOfEvent(sent, sharedType), context.metadata, admission);
}

type Refusal = { reason: Rejection; message: string };

/** Why the event is not stored; undefined when it is. */
export function refusalOf(
  event: JsonValue,
  sharedType: JsonValue | undefined,
  { nowMs, metadata }: AdmissionContext,
): Refusal | undefined {
  if (!isObject(event)) return { reason: "bad_type", message: "The event is not an object." };
  const type = typeOfEvent(event, sharedType);
  const name = event.event;
  if (type !== "track" && type !== "profile") {
    const hint = "ekey" in event ? " Encrypted events are not accepted: switch encryption off in the SDK." : "";
    return { reason: "bad_type", message: `\`type\` must be track or profile.${hint}` };
  }
  if (typeof name !== "string") return { reason: "bad_name", message: "`event` must be a text." };
  if (type === "profile" ? !isProfileOperation(name) : !isEventName(name)) {
    return type === "profile"
      ? { reason: "bad_type", message: `${quote(name)} is not a profile operation.` }
      : {
          reason: "bad_name",
          message: `${quote(name)} is not an event name: letters, digits and _, at most 50, $ only for presets.`,
        };
  }
  if (!hasProperties(event, name)) return { reason: "bad_properties", message: "`properties` must be an object." };
  if (type === "track") {
    const state = metadata.events.get(name);
    if (state === "disabled") return { reason: "disabled", message: `${quote(name)} is switched off for this app.` };
    if (metadata.mode === "strict" && state !== "declared" && !PRESET_EVENTS.has(name)) {
      return { reason: "undeclared", message: `${quote(name)} is not declared in this app's metadata.` };
    }
  }
  return refusalOfTime(event, nowMs);
}

function refusalOfTime(event: JsonObject, nowMs: number): Refusal | undefined {
  const { time } = event;
  if (typeof time !== "number" || !(time >= TIME_FROM_MS && time < TIME_UNTIL_MS)) {
    return { reason: "bad_time", message: "`time` must be a timestamp in milliseconds." };
  }
  if (event.time_free === true) return undefined;
  if (time < nowMs - OLDEST_MS)
    return { reason: "too_old", message: "`time` is more than 10 days before server time." };
  if (time > nowMs + NEWEST_MS) return { reason: "too_new", message: "`time` is more than 1 hour after server time." };
  return undefined;
}

export function typeOfEvent(event: JsonObject, sharedType: JsonValue | undefined): JsonValue | undefined {
  return event.type ?? sharedType;
}

function isEventName(name: string): boolean {
  return name.startsWith("$") ? PRESET_EVENTS.has(name) : NAME.test(name);
}

/** Whether `properties` is usable. PHP writes an empty object as [], Ruby leaves it null on unset: both mean none. */
function hasProperties(event: JsonObject, name: string): boolean {
  const { properties } = event;
  if (isObject(properties)) return true;
  if (Array.isArray(properties)) return properties.length === 0;
  return (properties === null || properties === undefined) && (name === "profile_unset" || name === "profile_delete");
}

export function propertiesOf(event: JsonObject): JsonObject {
  return isObject(event.properties) ? event.properties : {};
}

function admitProperties(
  event: JsonObject,
  index: number,
  type: JsonValue | undefined,
  metadata: AppMetadata,
  admission: Admission,
): void {
  const name = event.event as string;
  if (name === "profile_delete") return;
  const scope: PropertyScope = type === "profile" ? "user" : "event";
  const properties = propertiesOf(event);
  const typeOf = propertyTypes(metadata, scope);
  const room = scope === "user" && name !== "profile_unset" ? roomFor(properties) : undefined;
  for (const key in properties) {
    const declared = typeOf(key);
    let fit =
      declared === undefined ? "unknown" : name === "profile_unset" ? "fits" : fitOf(properties[key]!, declared);
    if (room && (fit === "fits" || fit === "too_long") && !room.takes(key, properties[key]!)) fit = "no_room";
    if (fit === "fits") continue;
    if (fit === "too_long") admission.cut.push([index, key]);
    else admission.omitted.push([index, key]);
    admission.errors.push({ index, event: name, reason: "bad_property", message: messageOfMisfit(key, fit, declared) });
  }
}

type Room = { takes: (name: string, value: JsonValue) => boolean };

/** The number of properties that fit into any profile, however large each of them is. */
const FEW_PROPERTIES = Math.floor(LIMITS.profileBytes / LIMITS.propertyBytes) - 1;

/** The room that one event has in an empty profile; what cannot fit is reported at once. Undefined when all fits. */
function roomFor(properties: JsonObject): Room | undefined {
  if (Object.keys(properties).length <= FEW_PROPERTIES) return undefined;
  let count = 0;
  let bytes = 0;
  return {
    takes(name, value) {
      const more = entryBytes(name, cutValue(value));
      if (count >= LIMITS.profileProperties || bytes + more >= LIMITS.profileBytes) return false;
      count += 1;
      bytes += more;
      return true;
    },
  };
}

type Misfit = "unknown" | "wrong_type" | "out_of_range" | "too_long" | "too_large" | "no_room";

export function fitOf(value: JsonValue, declared: ExpectedType): "fits" | Misfit {
  switch (typeof value) {
    case "string":
      if (declared === "datetime") return DATE_TIME.test(value) ? "fits" : "wrong_type";
      if (declared !== "any" && declared !== "string" && declared !== "id") return "wrong_type";
      return isTooLong(value) ? "too_long" : "fits";
    case "number":
      if (declared === "id") return "fits";
      if (declared !== "any" && declared !== "number") return "wrong_type";
      return Math.abs(value) <= LIMITS.propertyNumber ? "fits" : "out_of_range";
    case "boolean":
      return declared === "any" || declared === "bool" ? "fits" : "wrong_type";
    default:
      return value === null ? "fits" : Array.isArray(value) ? fitOfList(value, declared) : fitOfObject(value, declared);
  }
}

function fitOfList(list: JsonValue[], declared: ExpectedType): "fits" | Misfit {
  // PHP writes an empty object as [].
  if (declared !== "any" && declared !== "list")
    return list.length === 0 && declared === "object" ? "fits" : "wrong_type";
  for (const item of list) if (typeof item !== "string") return "wrong_type";
  const isLong = list.length > LIMITS.propertyListLength || (list as string[]).some(isTooLong) || isTooLarge(list);
  return isLong ? "too_long" : "fits";
}

function fitOfObject(object: JsonObject, declared: ExpectedType): "fits" | Misfit {
  if (declared !== "any" && declared !== "object") return "wrong_type";
  if (deeperThan(object, LIMITS.nestingDepth)) return "too_large";
  return isTooLarge(object) ? "too_large" : "fits";
}

const DATE_TIME = /^\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?$/;

/** Counts bytes only when the number of characters does not settle it. */
function isTooLong(text: string): boolean {
  const max = LIMITS.propertyTextBytes;
  return text.length * 3 > max && (text.length > max || Buffer.byteLength(text) > max);
}

/** A value cut to the allowed size. */
export function cutValue(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return cutList(value.slice(0, LIMITS.propertyListLength).map(cutValue));
  return typeof value === "string" ? cutToBytes(value, LIMITS.propertyTextBytes) : value;
}

function messageOfMisfit(key: string, fit: Misfit, declared: ExpectedType | undefined): string {
  switch (fit) {
    case "unknown":
      return `${quote(key)} is not a property of this app; it was left out.`;
    case "wrong_type":
      return `${quote(key)} is not of type ${declared === "any" ? "string, number, bool, list of strings or object" : declared}; it was left out.`;
    case "out_of_range":
      return `${quote(key)} is out of range; it was left out.`;
    case "too_long":
      return `${quote(key)} is too long; it was cut.`;
    case "too_large":
      return `${quote(key)} is too large or nested too deep; it was left out.`;
    case "no_room":
      return `${quote(key)} has no room in a profile of ${LIMITS.profileProperties} properties and ${LIMITS.profileBytes / KIB} KiB; it was left out.`;
  }
}

function nameOf(event: JsonValue): string {
  return isObject(event) && typeof event.event === "string" ? event.event.slice(0, 100) : "";
}

function quote(text: string): string {
  return JSON.stringify(text.slice(0, 60));
}
