import { LIMITS } from "../../limits.ts";
import type { JsonObject, JsonValue } from "../json.ts";
import { cutList, isTooLarge, jsonBytes } from "./property-size.ts";

export const PROFILE_OPERATIONS = [
  "profile_set",
  "profile_set_once",
  "profile_increment",
  "profile_number_max",
  "profile_number_min",
  "profile_append",
  "profile_uniq_append",
  "profile_unset",
  "profile_delete",
] as const;
export type ProfileOperation = (typeof PROFILE_OPERATIONS)[number];

const OPERATIONS: ReadonlySet<string> = new Set(PROFILE_OPERATIONS);

export function isProfileOperation(event: string): event is ProfileOperation {
  return OPERATIONS.has(event);
}

/** `leftOut`: the number of properties that did not get their whole new value for lack of room. */
export type ChangedProfile = { profile: JsonObject; leftOut: number };

/**
 * The profile after one operation. Never throws: a value that does not fit its operation is skipped, because SDKs put
 * texts such as `$lib` beside an increment. A full profile accepts nothing that would make it larger.
 *
 * The caller's `own` profile is changed in place, because copying 1,000 properties costs more than the operation
 * itself.
 */
export function changeProfile(
  profile: JsonObject,
  operation: ProfileOperation,
  properties: JsonObject,
  whose: "own" | "shared" = "shared",
): ChangedProfile {
  if (operation === "profile_delete") return { profile: {}, leftOut: 0 };
  const changed = whose === "own" ? profile : { ...profile };
  let { count, bytes } = sizeOf(profile);
  let leftOut = 0;
  for (const [name, value] of Object.entries(properties)) {
    // Assigning to this one key would set the prototype; as a property name it never passes admission.
    if (name === "__proto__") continue;
    const old = Object.hasOwn(changed, name) ? changed[name] : undefined;
    const wanted = changeOf(operation, old, value);
    if (Object.is(wanted, old)) continue;
    const next = Array.isArray(wanted) ? cutList(wanted) : wanted;
    const oldBytes = old === undefined ? 0 : entryBytes(name, old);
    const addedCount = (next === undefined ? 0 : 1) - (old === undefined ? 0 : 1);
    const addedBytes = (next === undefined ? 0 : entryBytes(name, next)) - oldBytes;
    const isFull =
      (addedCount > 0 && count >= LIMITS.profileProperties) ||
      (addedBytes > 0 && bytes + addedBytes > LIMITS.profileBytes);
    if (isFull || (next !== undefined && isTooLarge(next))) {
      leftOut += 1;
      continue;
    }
    if (Array.isArray(wanted) && Array.isArray(next) && next.length < wanted.length) leftOut += 1;
    if (next === undefined) delete changed[name];
    else changed[name] = next;
    count += addedCount;
    bytes += addedBytes;
  }
  sizes.set(changed, { count, bytes });
  return { profile: changed, leftOut };
}

/** Sizes of profiles, each measured once. Else 1,000 small operations would serialise a full profile 1,000 times. */
const sizes = new WeakMap<JsonObject, { count: number; bytes: number }>();

function sizeOf(profile: JsonObject): { count: number; bytes: number } {
  const known = sizes.get(profile);
  if (known) return known;
  const entries = Object.entries(profile);
  // Two braces, minus the one comma too many.
  return { count: entries.length, bytes: entries.reduce((sum, [name, value]) => sum + entryBytes(name, value), 1) };
}

/** The bytes that a property adds to its profile: name, colon, value and comma. */
export function entryBytes(name: string, value: JsonValue): number {
  return jsonBytes(name) + jsonBytes(value) + 2;
}

/** The new value of one property; undefined removes it. */
function changeOf(
  operation: Exclude<ProfileOperation, "profile_delete">,
  old: JsonValue | undefined,
  value: JsonValue,
): JsonValue | undefined {
  switch (operation) {
    case "profile_unset":
      return undefined;
    case "profile_set":
      return value ?? old;
    case "profile_set_once":
      return old ?? value ?? undefined;
    case "profile_increment":
      return typeof value === "number" ? add(numberOr(old, 0), value) : old;
    case "profile_number_max":
      return typeof value === "number" ? Math.max(numberOr(old, value), value) : old;
    case "profile_number_min":
      return typeof value === "number" ? Math.min(numberOr(old, value), value) : old;
    case "profile_append":
      return listValues(value) ? [...asList(old), ...listValues(value)!] : old;
    case "profile_uniq_append":
      return listValues(value) ? [...new Set([...asList(old), ...listValues(value)!])] : old;
  }
}

function numberOr(value: JsonValue | undefined, fallback: number): number {
  return typeof value === "number" ? value : fallback;
}

/**
 * Values have at most three decimals by the interface's own rule; adding in doubles would leave 0.1 + 0.2 visible, so
 * fractions are added as whole millionths, and as thousandths where millionths would no longer be exact.
 */
function add(a: number, b: number): number {
  const scale = Math.max(Math.abs(a), Math.abs(b)) < 1e9 ? 1e6 : 1e3;
  const isWhole = Number.isInteger(a) && Number.isInteger(b);
  const exact = isWhole ? a + b : (Math.round(a * scale) + Math.round(b * scale)) / scale;
  // Two tiny losses round to -0, which is 0 once it is stored; adding 0 makes it 0 at once.
  return Math.max(-LIMITS.propertyNumber, Math.min(LIMITS.propertyNumber, exact)) + 0;
}

/** An array, or a single text or number, which JS clients send unwrapped. */
function listValues(value: JsonValue): JsonValue[] | undefined {
  if (Array.isArray(value)) return value;
  return typeof value === "string" || typeof value === "number" ? [value] : undefined;
}

function asList(old: JsonValue | undefined): JsonValue[] {
  if (old === undefined || old === null) return [];
  return Array.isArray(old) ? old : [old];
}
