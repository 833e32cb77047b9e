import { gunzipSync } from "node:zlib";
import { ApiError } from "../../errors.ts";
import { LIMITS } from "../../limits.ts";

/** The headers that unpacking needs. The Content-Type says nothing else that is reliable. */
export type BodyHeaders = { contentType: string; contentEncoding: string; gravityCompress: string };

/** Whether the bytes are the JSON text itself. */
export function isPlain(headers: BodyHeaders): boolean {
  return !isGzip(headers) && !isForm(headers);
}

/** Whether the bytes are gzip and nothing else, so that they can be kept as sent. */
export function isPacked(headers: BodyHeaders): boolean {
  return isGzip(headers) && !isForm(headers);
}

/** Whether the body is gzip, as a form or not. */
export function isGzip(headers: BodyHeaders): boolean {
  return headers.gravityCompress.toLowerCase() === "gzip" || headers.contentEncoding.toLowerCase() === "gzip";
}

function isForm(headers: BodyHeaders): boolean {
  return headers.contentType.startsWith("multipart/form-data");
}

/** The JSON text of a body: unpacked if either header says gzip, and taken from a beacon's form field. */
export function unpackBody(bytes: Buffer, headers: BodyHeaders, unpackedBytesMax: number): Buffer {
  const plain = isGzip(headers) ? undoGzip(bytes, unpackedBytesMax) : bytes;
  if (plain.length > unpackedBytesMax) throw tooLarge(unpackedBytesMax);
  return isForm(headers) ? beaconField(plain, headers.contentType) : plain;
}

/** The size that a gzip body claims to unpack to. A false claim is detected while unpacking. */
export function saidBytes(bytes: Buffer, headers: BodyHeaders): number {
  return isGzip(headers) && bytes.length >= GZIP_BYTES_MIN ? bytes.readUInt32LE(bytes.length - 4) : bytes.length;
}

/** A gzip header and trailer with nothing between them. */
const GZIP_BYTES_MIN = 18;

/** The unpacked bytes of a gzip body. */
export function undoGzip(bytes: Buffer, maxOutputLength: number): Buffer {
  try {
    // The limit holds during unpacking, so that a bomb is stopped before it fills the memory.
    return gunzipSync(bytes, { maxOutputLength, chunkSize: chunkBytes(bytes, maxOutputLength) });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(maxOutputLength);
    throw new ApiError("badJson", "The headers say that the body is gzip, but it does not unpack.");
  }
}

/** Room for the claimed size, so that the result is not assembled from thousands of pieces and held twice. */
function chunkBytes(packed: Buffer, bytesMax: number): number {
  const said = packed.length >= GZIP_BYTES_MIN ? packed.readUInt32LE(packed.length - 4) : 0;
  return Math.max(CHUNK_BYTES_MIN, Math.min(said, bytesMax) + 1);
}

const CHUNK_BYTES_MIN = 16 * 1024;

const BOUNDARY = /;\s*boundary=(?:"([^"]{1,70})"|([^";\s]{1,70}))/i;
const NAMED_DATA = /;\s*name="?data"?\s*(?:;|\r|$)/i;
/** The longest head of a form part that is read. */
const PART_HEAD_BYTES = 1_024;

/**
 * The body of navigator.sendBeacon: a form whose field `data` is the JSON in base64. Parsed by hand, because the
 * runtime's own parser takes most of a second for a 2 MiB form with many parts.
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
