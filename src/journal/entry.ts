import { RECORD_HEADER_BYTES } from "./record.ts";

export const ENTRY_KINDS = [
  "collect",
  "register",
  "initialize",
  "attributed",
  "device_info",
  "consumer_event",
  "handle_event",
  "update_data",
  "reset_client_id",
  "click",
  "impression",
  "apple_attribution",
  "erase",
  "refunds",
] as const;
export type EntryKind = (typeof ENTRY_KINDS)[number];

/** Admission's verdicts on single events; absent when every event was accepted whole. */
export type Verdicts = {
  /** [index in event_list, reason]: not stored. */
  rejected?: [number, string][];
  /** [index, property]: stored without that property. */
  omitted?: [number, string][];
  /** [index, property]: stored with that text cut to the longest allowed. */
  cut?: [number, string][];
};

/**
 * What the server knew when it acknowledged the entry. It holds everything that a later replay could not know (the
 * time, the address, the judgement by the settings of that moment); the rest is in the body.
 */
export type EntryHead = Verdicts & {
  kind: EntryKind;
  app: number;
  client: string;
  /** Server time of receipt, ms. */
  at: number;
  ip: string;
  ua: string;
  /** Whether the client was known to be registered. "unknown": the database was away, and apply decides. */
  registered: "yes" | "unknown" | "not_required";
  /** The unpacked size of a body that is kept as gzip. */
  gzip?: number;
};

/** `body` is the JSON text that was received, after multipart or AES decoding; packed when the head says `gzip`. */
export type Entry = { head: EntryHead; body: Buffer };

/** An entry to write. Verdicts may come as text: members of the head, each preceded by a comma. */
export type NewEntry = Entry & { verdicts?: string | undefined };

/** An entry whose size is known, to be written where there is room for it. */
export type MeasuredEntry = { head: string; headBytes: number; body: Buffer; recordBytes: number };

export function measureEntry({ head: known, verdicts = "", body }: NewEntry): MeasuredEntry {
  const head = headText(known, verdicts);
  const headBytes = Buffer.byteLength(head);
  return { head, headBytes, body, recordBytes: RECORD_HEADER_BYTES + 4 + headBytes + body.length };
}

/** Writes an entry as a record whose header is still open: payload = head length u32, head JSON, body. */
export function writeEntry({ head, headBytes, body }: MeasuredEntry, record: Buffer): void {
  record.writeUInt32LE(headBytes, RECORD_HEADER_BYTES);
  record.write(head, RECORD_HEADER_BYTES + 4);
  body.copy(record, RECORD_HEADER_BYTES + 4 + headBytes);
}

/** The payload of an entry alone, for a log that frames its messages itself. */
export function payloadOf(entry: NewEntry): Buffer {
  const measured = measureEntry(entry);
  const record = Buffer.allocUnsafe(measured.recordBytes);
  writeEntry(measured, record);
  return record.subarray(RECORD_HEADER_BYTES);
}

/** The head as JSON, built by hand for ordinary entries because this runs for every request. */
function headText(head: EntryHead, verdicts: string): string {
  if (head.rejected || head.omitted || head.cut) return JSON.stringify(head);
  const { kind, app, client, at, ip, ua, registered, gzip } = head;
  const packed = gzip === undefined ? "" : `,"gzip":${gzip}`;
  return `{"kind":"${kind}","app":${app},"client":${JSON.stringify(client)},"at":${at},"ip":${JSON.stringify(ip)},"ua":${JSON.stringify(ua)},"registered":"${registered}"${packed}${verdicts}}`;
}

export function decodeEntry(payload: Buffer): Entry {
  const headBytes = payload.readUInt32LE(0);
  const head = JSON.parse(payload.toString("utf8", 4, 4 + headBytes)) as EntryHead;
  if (!ENTRY_KINDS.includes(head.kind)) throw new Error(`The entry is of unknown kind ${JSON.stringify(head.kind)}.`);
  const isWhole = isWithin(head.app, APP_MAX) && isWithin(head.at, AT_MAX) && typeof head.client === "string";
  if (!isWhole) throw new Error("The head of the entry does not name its app, client and time.");
  return { head, body: payload.subarray(4 + headBytes) };
}

/** The largest app id that the tables hold, and the latest time whose day can be written. */
const APP_MAX = 2 ** 31 - 1;
const AT_MAX = Date.UTC(9999, 11, 31);

function isWithin(value: unknown, max: number): boolean {
  return typeof value === "number" && value >= 0 && value <= max;
}
