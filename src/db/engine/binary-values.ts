const TWO_TO_32 = 2 ** 32;
const DAY_MS = 86_400_000;
/** PostgreSQL counts days from here. */
const FIRST_DAY_MS = Date.UTC(2000, 0, 1);
/** A UTF-16 unit has at most three bytes. */
const BYTES_PER_UNIT_MAX = 3;

type Stretch = { from: number; until: number };

/** Values as COPY's binary form has them, each after its length. */
export class BinaryValues {
  #bytes: Buffer;
  #at: number;
  #lastDay = { text: "2000-01-01", number: 0 };

  /** Writes into `bytes` from `at` on, and goes on in a larger copy when they are full. */
  constructor(bytes: Buffer, at = 0) {
    this.#bytes = bytes;
    this.#at = at;
  }

  /** Where the next value will stand, until the values are taken. */
  get position(): number {
    return this.#at;
  }

  /** What the values stand in, until the next one is written. */
  get bytes(): Buffer {
    return this.#bytes;
  }

  /** The values since the last call. The bytes are the caller's from then on, and the next values go into others. */
  exchange(others: Buffer): Buffer {
    const taken = this.#bytes.subarray(0, this.#at);
    this.#bytes = others;
    this.#at = 0;
    return taken;
  }

  /** Writes once more what stands in [from, until). */
  repeat({ from, until }: Stretch): this {
    this.#reserve(until - from);
    this.#bytes.copyWithin(this.#at, from, until);
    this.#at += until - from;
    return this;
  }

  /** Values that have been written elsewhere. */
  copied(bytes: Buffer, { from, until }: Stretch): this {
    this.#reserve(until - from);
    this.#at += bytes.copy(this.#bytes, this.#at, from, until);
    return this;
  }

  /** A number without its length before it. */
  short(value: number): this {
    this.#reserve(2);
    this.#at = this.#bytes.writeInt16BE(value, this.#at);
    return this;
  }

  missing(): this {
    this.#reserve(4);
    this.#at = this.#bytes.writeInt32BE(-1, this.#at);
    return this;
  }

  int(value: number): this {
    this.#reserve(8);
    this.#at = this.#bytes.writeInt32BE(4, this.#at);
    this.#at = this.#bytes.writeInt32BE(value, this.#at);
    return this;
  }

  bigint(value: number): this {
    this.#reserve(12);
    const high = Math.floor(value / TWO_TO_32);
    this.#at = this.#bytes.writeInt32BE(8, this.#at);
    this.#at = this.#bytes.writeInt32BE(high, this.#at);
    this.#at = this.#bytes.writeUInt32BE(value - high * TWO_TO_32, this.#at);
    return this;
  }

  /** A day as YYYY-MM-DD. Most rows are of the same day as the one before. */
  day(text: string): this {
    if (text !== this.#lastDay.text) this.#lastDay = { text, number: numberOfDay(text) };
    return this.int(this.#lastDay.number);
  }

  /** 32 hexadecimal digits. */
  uuid(digits: string): this {
    this.#reserve(20);
    this.#at = this.#bytes.writeInt32BE(16, this.#at);
    this.#at += this.#bytes.write(digits, this.#at, 16, "hex");
    return this;
  }

  text(value: string): this {
    this.#reserve(4 + value.length * BYTES_PER_UNIT_MAX);
    const length = this.#bytes.write(value, this.#at + 4);
    this.#at = this.#bytes.writeInt32BE(length, this.#at) + length;
    return this;
  }

  /** A text that stands in some bytes. */
  textIn(bytes: Buffer, { from, until }: Stretch): this {
    this.#reserve(4 + until - from);
    this.#at = this.#bytes.writeInt32BE(until - from, this.#at);
    this.#at += bytes.copy(this.#bytes, this.#at, from, until);
    return this;
  }

  #reserve(bytes: number): void {
    if (this.#at + bytes <= this.#bytes.length) return;
    // Not from the pool that buffers share: it could not be given to another thread.
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#bytes.length * 2, this.#at + bytes));
    this.#bytes.copy(larger, 0, 0, this.#at);
    this.#bytes = larger;
  }
}

function numberOfDay(text: string): number {
  const number = (Date.parse(text) - FIRST_DAY_MS) / DAY_MS;
  if (!Number.isInteger(number)) throw new Error(`${JSON.stringify(text)} is not a day.`);
  return number;
}
