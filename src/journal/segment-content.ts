import { open } from "node:fs/promises";
import { MIB } from "../limits.ts";
import { PackedSegment } from "./packed-segment.ts";
import type { Segment } from "./segment.ts";

/** The bytes of a segment, whether its file is packed or not. */
export type SegmentContent = {
  /** Bytes from an offset on: at least one and at most `bytesMax`; none at the end. */
  read(at: number, bytesMax: number): Promise<Buffer>;
  close(): Promise<void>;
};

export async function openSegment(segment: Segment): Promise<SegmentContent> {
  if (segment.isPacked) return PackedSegment.open(segment);
  const file = await open(segment.path, "r");
  return {
    async read(at, bytesMax) {
      const chunk = Buffer.allocUnsafe(bytesMax);
      const { bytesRead } = await file.read(chunk, 0, bytesMax, at);
      return chunk.subarray(0, bytesRead);
    },
    close: () => file.close(),
  };
}

const READ_BYTES = 4 * MIB;

/** All bytes of a segment. */
export async function readSegment(segment: Segment): Promise<Buffer> {
  const content = await openSegment(segment);
  try {
    const parts: Buffer[] = [];
    for (let at = 0; ; ) {
      const part = await content.read(at, READ_BYTES);
      if (part.length === 0) return Buffer.concat(parts);
      parts.push(part);
      at += part.length;
    }
  } finally {
    await content.close();
  }
}
