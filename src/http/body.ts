import { promisify } from "node:util";
import { gunzip, gunzipSync } from "node:zlib";
import { ApiError } from "../errors.ts";

const gunzipInBackground = promisify(gunzip);
/** Below this size a round trip through the thread pool costs more than the work. */
const GUNZIP_AT_ONCE_BYTES = 8 * 1024;

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

function isGzip(headers: BodyHeaders): boolean {
  return headers.gravityCompress.toLowerCase() === "gzip" || headers.contentEncoding.toLowerCase() === "gzip";
}

function isForm(headers: BodyHeaders): boolean {
  return headers.contentType.startsWith("multipart/form-data");
}

/** The JSON text that a client meant to send: gzip undone (by either header), a beacon's form field taken out. */
export async function unpackBody(bytes: Buffer, headers: BodyHeaders, unpackedBytesMax: number): Promise<Buffer> {
  const plain = isGzip(headers) ? await undoGzip(bytes, unpackedBytesMax) : bytes;
  if (plain.length > unpackedBytesMax) throw tooLarge(unpackedBytesMax);
  return isForm(headers) ? await beaconField(plain, headers.contentType) : plain;
}

async function undoGzip(bytes: Buffer, maxOutputLength: number): Promise<Buffer> {
  try {
    // The limit holds while it unpacks: a bomb is stopped there, not after it has filled the memory.
    if (bytes.length <= GUNZIP_AT_ONCE_BYTES) return gunzipSync(bytes, { maxOutputLength });
    return await gunzipInBackground(bytes, { maxOutputLength });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ERR_BUFFER_TOO_LARGE") throw tooLarge(maxOutputLength);
    throw new ApiError("badJson", "The body is said to be gzip but does not unpack.");
  }
}

/** navigator.sendBeacon: a form whose field `data` is the base64 of the JSON. */
async function beaconField(bytes: Buffer, contentType: string): Promise<Buffer> {
  let field: unknown;
  try {
    const form = await new Response(bytes, { headers: { "content-type": contentType } }).formData();
    field = form.get("data");
  } catch {
    throw new ApiError("badJson", "The multipart form cannot be read.");
  }
  if (typeof field !== "string") throw new ApiError("badJson", "The multipart form has no field `data`.");
  return Buffer.from(field, "base64");
}

function tooLarge(bytesMax: number): ApiError {
  return new ApiError("bodyTooLarge", `The unpacked body is larger than ${bytesMax} bytes.`);
}
