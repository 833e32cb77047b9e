import { INSERTED_BYTES } from "./placed-rows.ts";

/** Room for what follows the last row that was begun before the rows were full. */
const ROOM_BYTES = 64 * 1024;
/** A UTF-16 unit has at most three bytes. */
const BYTES_PER_UNIT_MAX = 3;
const LINE_BREAK = 0x0a;

/** Rows in COPY's text form, written piece by piece. */
export class TextRows {
  #bytes = Buffer.allocUnsafe(INSERTED_BYTES + ROOM_BYTES);
  #at = 0;

  /** Whether enough rows have gathered to be sent. */
  get isFull(): boolean {
    return this.#at >= INSERTED_BYTES;
  }

  /** Where the next piece will stand, until the rows are taken. */
  get position(): number {
    return this.#at;
  }

  /** The rows since the last call. The bytes are the caller's from then on. */
  take(): Buffer {
    const taken = this.#bytes.subarray(0, this.#at);
    this.#bytes = Buffer.allocUnsafe(INSERTED_BYTES + ROOM_BYTES);
    this.#at = 0;
    return taken;
  }

  /** Writes once more what stands in [from, until). */
  repeat({ from, until }: { from: number; until: number }): this {
    this.#reserve(until - from);
    this.#bytes.copyWithin(this.#at, from, until);
    this.#at += until - from;
    return this;
  }

  add(piece: string): this {
    this.#reserve(piece.length * BYTES_PER_UNIT_MAX);
    this.#at += this.#bytes.write(piece, this.#at);
    return this;
  }

  /** Ends a row. */
  end(): void {
    this.#reserve(1);
    this.#at = this.#bytes.writeUInt8(LINE_BREAK, this.#at);
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#bytes.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, this.#at + bytes));
    this.#bytes.copy(larger, 0, 0, this.#at);
    this.#bytes = larger;
  }
}
