import { LIMITS } from "../../../limits.ts";
import type { JsonValue } from "../../json.ts";
import { type AdmissionContext, refusalOf } from "../admission.ts";
import { type AppMetadata, type ExpectedType, propertyTypes } from "../metadata.ts";
import type { KeyShape } from "./key-shape.ts";
import type { PlainBody, PlainEvent } from "./plain-body.ts";
import { FALSE_BYTE, NULL_BYTE, QUOTE, TRUE_BYTE } from "./plain-value.ts";

/**
 * Whether a plain event is stored just as it was sent, which holds for nearly every one. Whatever else there is to say of an event
 * is found by judging it as an object. `sharedType`: the `type` beside the list.
 */
export function isStoredAsSent(
  body: PlainBody,
  event: PlainEvent,
  sharedType: JsonValue | undefined,
  context: AdmissionContext,
): boolean {
  if (!event.hasType && sharedType !== "track") return false;
  const { name, timeMs, isFree, shape, valuesAt } = event;
  const told = { type: "track", event: name, time: timeMs, time_free: isFree, properties: NO_PROPERTIES };
  if (refusalOf(told, undefined, context)) return false;
  const types = typesOf(shape, context.metadata);
  const { bytes, values } = body;
  for (let place = 0; place < types.length; place += 1) {
    const at = values[valuesAt + 2 * place]!;
    const length = values[valuesAt + 2 * place + 1]! - at;
    if (!fits(bytes[at]!, length, types[place])) return false;
  }
  return true;
}

const NO_PROPERTIES = {};

/** The quotes of a text. */
const QUOTES_BYTES = 2;

/** `first`: the first byte of the value, which tells its type. A plain number is never out of range. */
function fits(first: number, length: number, declared: ExpectedType | undefined): boolean {
  switch (first) {
    case QUOTE:
      return (
        (declared === "any" || declared === "string" || declared === "id") &&
        length - QUOTES_BYTES <= LIMITS.propertyTextBytes
      );
    case TRUE_BYTE:
    case FALSE_BYTE:
      return declared === "any" || declared === "bool";
    case NULL_BYTE:
      return declared !== undefined;
    default:
      return declared === "any" || declared === "number" || declared === "id";
  }
}

type Types = { metadata: AppMetadata; types: readonly (ExpectedType | undefined)[] };

/** The declared types of the keys of a shape, for the app that was the last to send it. */
const known = new WeakMap<KeyShape, Types>();

function typesOf(shape: KeyShape, metadata: AppMetadata): Types["types"] {
  const last = known.get(shape);
  if (last?.metadata === metadata) return last.types;
  const types = shape.keys.map(propertyTypes(metadata, "event"));
  known.set(shape, { metadata, types });
  return types;
}
