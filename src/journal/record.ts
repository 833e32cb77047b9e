import { crc32 } from "node:zlib";

/**
 * One record of a segment file:
 *
 *   ┌───────────┬──────────────┬────────────┬─────────────────┐
 *   │ magic u32 │ length u32   │ crc32 u32  │ payload         │   little-endian
 *   └───────────┴──────────────┴────────────┴─────────────────┘
 *
 * The checksum covers the record's own position in the journal, then its payload. A record is therefore valid at one
 * position only: bytes left over from an older file, or a payload that happens to contain a record, are never taken
 * for one, and after damage the next true record can be found by looking for the magic.
 */
export const RECORD_HEADER_BYTES = 12;
const MAGIC = 0x314a5054; // "TPJ1"
const MAGIC_BYTES = Buffer.from("TPJ1", "latin1");

export type Scan = { kind: "record"; payload: Buffer; bytes: number } | { kind: "incomplete" } | { kind: "corrupt" };

/** Fills in the header of a record whose payload is there. */
export function sealRecord(record: Buffer, position: number): void {
  record.writeUInt32LE(MAGIC, 0);
  record.writeUInt32LE(record.length - RECORD_HEADER_BYTES, 4);
  record.writeUInt32LE(checksum(record.subarray(RECORD_HEADER_BYTES), position), 8);
}

/** Reads the record that begins at `offset` of `bytes`, where that offset is `position` in the journal. */
export function scanRecord(bytes: Buffer, offset: number, position: number): Scan {
  const available = bytes.length - offset;
  if (available < RECORD_HEADER_BYTES) return { kind: "incomplete" };
  if (bytes.readUInt32LE(offset) !== MAGIC) return { kind: "corrupt" };
  const length = bytes.readUInt32LE(offset + 4);
  if (available < RECORD_HEADER_BYTES + length) return { kind: "incomplete" };
  const payload = bytes.subarray(offset + RECORD_HEADER_BYTES, offset + RECORD_HEADER_BYTES + length);
  if (bytes.readUInt32LE(offset + 8) !== checksum(payload, position)) return { kind: "corrupt" };
  return { kind: "record", payload, bytes: RECORD_HEADER_BYTES + length };
}

/** The offset of the next valid record after `offset`, or undefined when the rest holds none. */
export function findRecord(bytes: Buffer, offset: number, basePosition: number): number | undefined {
  for (let at = bytes.indexOf(MAGIC_BYTES, offset); at >= 0; at = bytes.indexOf(MAGIC_BYTES, at + 1)) {
    if (scanRecord(bytes, at, basePosition + at).kind === "record") return at;
  }
  return undefined;
}

const positionBytes = Buffer.alloc(8);

function checksum(payload: Buffer, position: number): number {
  positionBytes.writeDoubleLE(position);
  return crc32(payload, crc32(positionBytes));
}
