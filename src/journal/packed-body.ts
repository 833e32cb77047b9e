import { constants, createGunzip, gunzipSync } from "node:zlib";
import { LIMITS } from "../limits.ts";
import type { Entry } from "./entry.ts";

/** The body for the journal: packed as sent when that is shorter, so that a small call never becomes a large entry. */
export function journaledBody(plain: Buffer, packed: Buffer | undefined): { body: Buffer; gzip?: number } {
  return packed && packed.length < plain.length ? { body: packed, gzip: plain.length } : { body: plain };
}

/** The JSON text of an entry's body. */
export function plainBody({ head, body }: Entry): Buffer {
  if (head.gzip === undefined) return body;
  if (!(head.gzip <= LIMITS.bodyUnpackedBytes))
    throw new Error("The entry claims that its body unpacks to more than the limit.");
  const plain = gunzipSync(body, { maxOutputLength: Math.max(1, head.gzip), chunkSize: Math.max(64, head.gzip + 1) });
  if (plain.length !== head.gzip) throw new Error("The body of the entry does not unpack to its original size.");
  return plain;
}

/** The first bytes of an entry's body, which may itself be truncated. */
export async function beginningOf({ head, body }: Entry, bytesMax: number): Promise<Buffer> {
  if (head.gzip === undefined) return body.subarray(0, bytesMax);
  const unpacking = createGunzip({ finishFlush: constants.Z_SYNC_FLUSH });
  unpacking.end(body);
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of unpacking as AsyncIterable<Buffer>) {
      parts.push(part);
      bytes += part.length;
      if (bytes >= bytesMax) break;
    }
  } catch {
    // Only what came before the damage can be shown.
  }
  return Buffer.concat(parts).subarray(0, bytesMax);
}
