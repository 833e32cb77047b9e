import { BinaryValues } from "./binary-values.ts";

/** Beyond this size the rows should be sent. */
export const CHUNK_BYTES = 256 * 1024;
/** Room for what follows the last row that was begun before a chunk was full. */
const ROOM_BYTES = 64 * 1024;

const HEADER = Buffer.from("PGCOPY\n\u00ff\r\n\0\0\0\0\0\0\0\0\0", "latin1");
/** Says that no more rows follow. */
export const TRAILER = Buffer.from([0xff, 0xff]);

/**
 * Rows in COPY's binary form, which the database reads with less work than texts: numbers, days and fingerprints are
 * stored as they come. A row is written column by column, in the order of the statement.
 */
export class BinaryRows extends BinaryValues {
  /** Two chunks take turns. */
  #other: Buffer | undefined;

  constructor() {
    super(chunk());
    this.copied(HEADER, { from: 0, until: HEADER.length });
  }

  /** Whether enough rows have gathered to be sent. */
  get isFull(): boolean {
    return this.position >= CHUNK_BYTES;
  }

  /** The rows since the last call. Their memory is used again by rows that are added after the next call. */
  take(): Buffer {
    const { bytes } = this;
    const rows = this.exchange(this.#other ?? chunk());
    this.#other = bytes;
    return rows;
  }

  row(columns: number): this {
    return this.short(columns);
  }
}

function chunk(): Buffer {
  return Buffer.allocUnsafe(CHUNK_BYTES + ROOM_BYTES);
}
