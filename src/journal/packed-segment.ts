import { type FileHandle, open, readFile, rename, rm, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { constants, crc32, deflateRaw, inflateRaw } from "node:zlib";
import { MIB } from "../limits.ts";
import { packedPath, type Segment, syncFolder } from "./segment.ts";

/*
 * A packed segment is a gzip file of several members, which any gzip tool unpacks to the plain segment. Each member holds
 * one block. Its header says the length of the member and the number of the block, with a checksum of both (RFC 1952, extra
 * field):
 *
 *   ┌──────────────────────┬────────────┬───────────┬───────────┬─────────┬───────────┬─────────────────┐
 *   │ gzip header, "TJ" 12 │ member u32 │ block u32 │ crc32 u32 │ deflate │ crc32 u32 │ plain bytes u32 │   little-endian
 *   └──────────────────────┴────────────┴───────────┴───────────┴─────────┴───────────┴─────────────────┘
 *
 * Damage to the file therefore costs one block, and not everything after it.
 */
export const BLOCK_BYTES = MIB;
const MEMBER_BEGIN = Buffer.from("1f8b08040000000000ff1000544a0c00", "hex");
const HEADER_BYTES = MEMBER_BEGIN.length + 12;
const TRAILER_BYTES = 8;
/** Unpacking wants at least so much room. */
const CHUNK_BYTES_MIN = 64;

const deflate = promisify(deflateRaw);
const inflate = promisify(inflateRaw);

/**
 * Replaces the file of a segment by a packed one; until that is durable, the plain one stays. False when it was told to
 * stop before.
 */
export async function packSegment(segment: Segment, signal?: AbortSignal): Promise<boolean> {
  const dir = dirname(segment.path);
  const draft = draftIn(dir);
  try {
    if (!(await writePacked(segment, draft, signal))) return false;
    await rename(draft, packedPath(dir, segment));
  } finally {
    await removeDraft(dir);
  }
  await syncFolder(dir);
  await unlink(segment.path);
  return true;
}

const draftIn = (dir: string) => join(dir, "packing.draft");

/** Removes what was packed when the process was killed; it holds what users have sent. */
export async function removeDraft(dir: string): Promise<void> {
  await rm(draftIn(dir), { force: true });
}

async function writePacked(segment: Segment, path: string, signal: AbortSignal | undefined): Promise<boolean> {
  const source = await open(segment.path, "r");
  try {
    const target = await open(path, "w", 0o600);
    try {
      for (let block = 0; block * BLOCK_BYTES < segment.bytes; block += 1) {
        if (signal?.aborted) return false;
        await target.appendFile(await packBlock(await readBlock(source, segment, block), block));
      }
      // Segments age from their last record on, not from their packing.
      const modified = segment.modifiedAtMs / 1000;
      await target.utimes(modified, modified);
      await target.sync();
      return true;
    } finally {
      await target.close();
    }
  } finally {
    await source.close();
  }
}

async function readBlock(source: FileHandle, segment: Segment, block: number): Promise<Buffer> {
  const plain = Buffer.allocUnsafe(plainBytesOf(segment, block));
  const { bytesRead } = await source.read(plain, 0, plain.length, block * BLOCK_BYTES);
  if (bytesRead < plain.length) throw new Error(`${segment.path} is shorter than it was.`);
  return plain;
}

async function packBlock(plain: Buffer, block: number): Promise<Buffer> {
  const packed = await deflate(plain, { level: constants.Z_BEST_SPEED });
  const member = Buffer.allocUnsafe(HEADER_BYTES + packed.length + TRAILER_BYTES);
  MEMBER_BEGIN.copy(member);
  member.writeUInt32LE(member.length, 16);
  member.writeUInt32LE(block, 20);
  member.writeUInt32LE(crc32(member.subarray(16, 24)), 24);
  packed.copy(member, HEADER_BYTES);
  member.writeUInt32LE(crc32(plain), member.length - 8);
  member.writeUInt32LE(plain.length, member.length - 4);
  // The plain file will be deleted, so the packed block is tried first.
  const unpacked = await unpackMember(member, plain.length);
  if (!unpacked?.equals(plain)) throw new Error("A block does not unpack to what it was.");
  return member;
}

/** The content of a packed segment. A damaged block reads as zeros, in which a reader finds no record. */
export class PackedSegment {
  readonly #segment: Segment;
  readonly #members: ReadonlyMap<number, Buffer>;
  #unpacked: { block: number; plain: Buffer } | undefined;

  private constructor(segment: Segment, members: ReadonlyMap<number, Buffer>) {
    this.#segment = segment;
    this.#members = members;
  }

  /** Keeps the whole file in memory, which is at most as long as the segment and usually a fifth of it. */
  static async open(segment: Segment): Promise<PackedSegment> {
    return new PackedSegment(segment, membersOf(await readFile(segment.path)));
  }

  async read(at: number, bytesMax: number): Promise<Buffer> {
    const until = Math.min(at + bytesMax, this.#segment.bytes);
    const parts: Buffer[] = [];
    for (let from = at; from < until; from += parts.at(-1)!.length) {
      const block = Math.floor(from / BLOCK_BYTES);
      const plain = await this.#plain(block);
      parts.push(plain.subarray(from - block * BLOCK_BYTES, until - block * BLOCK_BYTES));
    }
    return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
  }

  async close(): Promise<void> {}

  async #plain(block: number): Promise<Buffer> {
    if (this.#unpacked?.block !== block) this.#unpacked = { block, plain: await this.#unpack(block) };
    return this.#unpacked.plain;
  }

  async #unpack(block: number): Promise<Buffer> {
    const plainBytes = plainBytesOf(this.#segment, block);
    const member = this.#members.get(block);
    return (member && (await unpackMember(member, plainBytes))) ?? Buffer.alloc(plainBytes);
  }
}

/** The members by the number of their block. After damage, the next one is looked for by the beginning of its header. */
function membersOf(file: Buffer): Map<number, Buffer> {
  const members = new Map<number, Buffer>();
  for (let at = file.indexOf(MEMBER_BEGIN); at >= 0 && at + HEADER_BYTES <= file.length; ) {
    const isWhole = file.readUInt32LE(at + 24) === crc32(file.subarray(at + 16, at + 24));
    const until = at + (isWhole ? file.readUInt32LE(at + 16) : 1);
    if (isWhole) members.set(file.readUInt32LE(at + 20), file.subarray(at, until));
    at = file.indexOf(MEMBER_BEGIN, until);
  }
  return members;
}

/** The block of a member, or undefined when the member is damaged. */
async function unpackMember(member: Buffer, plainBytes: number): Promise<Buffer | undefined> {
  if (member.length < HEADER_BYTES + TRAILER_BYTES) return undefined;
  const packed = member.subarray(HEADER_BYTES, -TRAILER_BYTES);
  const room = Math.max(CHUNK_BYTES_MIN, plainBytes);
  const plain = await inflate(packed, { maxOutputLength: room, chunkSize: room }).catch(() => undefined);
  const isWhole = plain?.length === plainBytes && crc32(plain) === member.readUInt32LE(member.length - 8);
  return isWhole ? plain : undefined;
}

function plainBytesOf({ bytes }: Segment, block: number): number {
  return Math.min(BLOCK_BYTES, bytes - block * BLOCK_BYTES);
}
