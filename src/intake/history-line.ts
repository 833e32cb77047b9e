import { isUtf8 } from "node:buffer";
import { isObject, type JsonObject, type JsonValue, parseJson, parseJsonWithIds } from "../domain/json.ts";
import { assertWithin } from "../domain/json-bounds.ts";
import { isClientId } from "../domain/user/identity.ts";
import { ApiError } from "../errors.ts";
import { LIMITS } from "../limits.ts";

/** An event of the past and its client, or what keeps the line from being one. `fault` completes "Line 3 …". */
export type HistoryLine = { kind: "event"; clientId: string; event: JsonObject } | { kind: "faulty"; fault: string };

/** Reads a line of a file of past events. Whether the event itself can be stored is judged later, as for every event. */
export function readHistoryLine(line: Buffer): HistoryLine {
  const parsed = parseLine(line);
  if (typeof parsed === "string") return { kind: "faulty", fault: parsed };
  const clientId = isObject(parsed.value) ? exactId(parsed.value.client_id, line) : undefined;
  if (!isObject(parsed.value) || (typeof clientId !== "string" && typeof clientId !== "number")) {
    return { kind: "faulty", fault: "has no client_id" };
  }
  if (!isClientId(String(clientId))) return { kind: "faulty", fault: "has an invalid client_id" };
  return { kind: "event", clientId: String(clientId), event: parsed.value };
}

/** The value, or what is wrong with the line. */
function parseLine(line: Buffer): { value: JsonValue } | string {
  if (line.length > LIMITS.historyLineBytes) return `is longer than ${LIMITS.historyLineBytes} bytes`;
  try {
    if (line.length > LIMITS.bodyBytesAtOnce)
      assertWithin(line, { values: LIMITS.bodyValues, depth: LIMITS.bodyDepthAtOnce });
    return { value: parseJson(line) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (error.reason !== "badJson") return "is nested too deeply, or holds too many values";
    return isUtf8(line) ? "is not JSON" : "is not valid UTF-8";
  }
}

/** The exact id. A number too long for a double has lost digits, so it is read again from the text. */
function exactId(value: JsonValue | undefined, line: Buffer): JsonValue | undefined {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
  return (parseJsonWithIds(line) as JsonObject).client_id;
}

const NEWLINE = 0x0a;

/** The lines of some bytes, without their line ends. The last one may lack its own. */
export function* linesOf(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(NEWLINE, at);
    yield bytes.subarray(at, end < 0 ? bytes.length : end);
    at = end < 0 ? bytes.length : end + 1;
  }
}

/** Where the bytes continue after this many lines. */
export function offsetAfter(bytes: Buffer, lines: number): number {
  let at = 0;
  for (let left = lines; left > 0 && at < bytes.length; left -= 1) {
    const end = bytes.indexOf(NEWLINE, at);
    at = end < 0 ? bytes.length : end + 1;
  }
  return at;
}

export function countLines(bytes: Buffer): number {
  let count = 0;
  for (const _ of linesOf(bytes)) count += 1;
  return count;
}

/** Whether a line holds nothing but white space. Such a line is passed over. */
export function isBlank(line: Buffer): boolean {
  for (const byte of line) if (byte !== 0x20 && (byte < 0x09 || byte > 0x0d)) return false;
  return true;
}
