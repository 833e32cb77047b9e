import { gunzipSync } from "node:zlib";
import { ApiError } from "../../errors.ts";
import { LIMITS } from "../../limits.ts";

/** Only what the unpacking looks at; the Content-Type says nothing reliable about the rest. */
export type BodyHeaders = { contentType: string; contentEncoding: string; gravityCompress: string };

/** Nothing to undo: the bytes are the JSON text. */
export function isPlain(headers: BodyHeaders): boolean {
  return !isGzip(headers) && !isForm(headers);
}

/** Nothing but gzip: the bytes can be kept as they were sent. */
export function isPacked(headers: BodyHeaders): boolean {
  return isGzip(headers) && !isForm(headers);
}

/** Something is to be unpacked, a form or not. */
export function isGzip(headers: BodyHeaders): boolean {
  return headers.gravityCompress.toLowerCase() === "gzip" || headers.contentEncoding.toLowerCase() === "gzip";
}

function isForm(headers: BodyHeaders): boolean {
  return headers.contentType.startsWith("multipart/form-data");
}

/** The JSON text that a client meant to send: gzip undone (by either header), a beacon's form field taken out. */
export function unpackBody(bytes: Buffer, headers: BodyHeaders, unpackedBytesMax: number): Buffer {
  const plain = isGzip(headers) ? undoGzip(bytes, unpackedBytesMax) : bytes;
  if (plain.length > unpackedBytesMax) throw tooLarge(unpackedBytesMax);
  return isForm(headers) ? beaconField(plain, headers.contentType) : plain;
}

/** What a body is said to unpack to, where it is gzip; liars are found out while it is unpacked. */
export function saidBytes(bytes: Buffer, headers: BodyHeaders): number {
  return isGzip(headers) && bytes.length >= GZIP_BYTES_MIN ? bytes.readUInt32LE(bytes.length - 4) : bytes.length;
}

/** A header and a trailer, and nothing between them. */
const GZIP_BYTES_MIN = 18;

function undoGzip(bytes: Buffer, maxOutputLength: number): Buffer {
  try {
    // The limit holds while it unpacks: a bomb is stopped there, not after it has filled the memory.
    return gunzipSync(bytes, { maxOutputLength, chunkSize: chunkBytes(bytes, maxOutputLength) });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(maxOutputLength);
    throw new ApiError("badJson", "The body is said to be gzip but does not unpack.");
  }
}

/** Room for all that is said to come, so that it is not put together from thousands of pieces and held twice meanwhile. */
function chunkBytes(packed: Buffer, bytesMax: number): number {
  const said = packed.length >= GZIP_BYTES_MIN ? packed.readUInt32LE(packed.length - 4) : 0;
  return Math.max(CHUNK_BYTES_MIN, Math.min(said, bytesMax) + 1);
}

const CHUNK_BYTES_MIN = 16 * 1024;

const BOUNDARY = /;\s*boundary=(?:"([^"]{1,70})"|([^";\s]{1,70}))/i;
const NAMED_DATA = /;\s*name="?data"?\s*(?:;|\r|$)/i;
/** No part of a form says more of itself. */
const PART_HEAD_BYTES = 1_024;

/**
 * navigator.sendBeacon: a form whose field `data` is the base64 of the JSON. Read by hand, because the runtime's own
 * reader takes most of a second for a form of 2 MiB that has many parts.
 */
function beaconField(bytes: Buffer, contentType: string): Buffer {
  const [, quoted, plain] = BOUNDARY.exec(contentType) ?? [];
  const delimiter = `--${quoted ?? plain}`;
  let at = bytes.indexOf(delimiter);
  for (let parts = 0; parts < LIMITS.formParts && at >= 0; parts += 1) {
    const from = at + delimiter.length;
    if (bytes.toString("latin1", from, from + 2) === "--") throw unreadable("has no field `data`");
    const blank = bytes.indexOf("\r\n\r\n", from);
    const until = blank < 0 ? -1 : bytes.indexOf(`\r\n${delimiter}`, blank + 2);
    if (until < 0) break;
    const head = bytes.toString("latin1", from, Math.min(blank, from + PART_HEAD_BYTES));
    if (NAMED_DATA.test(head)) return Buffer.from(bytes.toString("latin1", blank + 4, until), "base64");
    at = until + 2;
  }
  throw unreadable("cannot be read");
}

function unreadable(why: string): ApiError {
  return new ApiError("badJson", `The multipart form ${why}.`);
}

function tooLarge(bytesMax: number): ApiError {
  return new ApiError("bodyTooLarge", `The unpacked body is larger than ${bytesMax} bytes.`);
}
