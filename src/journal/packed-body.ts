import { constants, createGunzip, gunzipSync } from "node:zlib";
import { LIMITS } from "../limits.ts";
import type { Entry } from "./entry.ts";

/** A body as the journal keeps it: as it was sent where that is shorter, so that little sent never becomes much kept. */
export function journaledBody(plain: Buffer, packed: Buffer | undefined): { body: Buffer; gzip?: number } {
  return packed && packed.length < plain.length ? { body: packed, gzip: plain.length } : { body: plain };
}

/** The JSON text of an entry's body. */
export function plainBody({ head, body }: Entry): Buffer {
  if (head.gzip === undefined) return body;
  if (!(head.gzip <= LIMITS.bodyUnpackedBytes)) throw new Error("The entry says that its body unpacks to too much.");
  const plain = gunzipSync(body, { maxOutputLength: Math.max(1, head.gzip), chunkSize: Math.max(64, head.gzip + 1) });
  if (plain.length !== head.gzip) throw new Error("The body of the entry does not unpack to what it was.");
  return plain;
}

/** The first bytes of an entry's body, of which perhaps only the beginning is at hand. */
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
    // What came before the damage is all that there is to show.
  }
  return Buffer.concat(parts).subarray(0, bytesMax);
}
