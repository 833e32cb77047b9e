import { LIMITS } from "../limits.ts";
import type { JsonObject, JsonValue } from "./json.ts";

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

/**
 * The profile after one operation. Never throws: a value that does not fit its operation is passed over, because SDKs
 * put texts such as `$lib` beside an increment. A full profile takes no new names.
 */
export function applyProfileOperation(
  profile: JsonObject,
  operation: ProfileOperation,
  properties: JsonObject,
): JsonObject {
  if (operation === "profile_delete") return {};
  const changed = { ...profile };
  let room = LIMITS.userProperties - Object.keys(profile).length;
  for (const [name, value] of Object.entries(properties)) {
    // Assigning to this one key would set the prototype; as a property name it never passes admission.
    if (name === "__proto__") continue;
    const isNew = !Object.hasOwn(changed, name);
    const next = changeOf(operation, isNew ? undefined : changed[name], value);
    if (next === undefined) {
      delete changed[name];
    } else if (!isNew || room > 0) {
      changed[name] = next;
      room -= isNew ? 1 : 0;
    }
  }
  return changed;
}

/** The new value of one property; undefined takes it away. */
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
      return listValues(value) ? bounded([...asList(old), ...listValues(value)!]) : old;
    case "profile_uniq_append":
      return listValues(value) ? bounded([...new Set([...asList(old), ...listValues(value)!])]) : old;
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
  return Math.max(-LIMITS.propertyNumber, Math.min(LIMITS.propertyNumber, exact));
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

/** A list keeps its first elements when it is full, as a list that is sent too long does. */
function bounded(list: JsonValue[]): JsonValue[] {
  return list.slice(0, LIMITS.propertyListLength);
}
