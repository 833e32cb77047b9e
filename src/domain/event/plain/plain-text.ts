import { jsonbOrder } from "../fingerprint.ts";
import type { PlainBody, PlainEvent } from "./plain-body.ts";
import { CLOSE_OBJECT, COMMA, OPEN_OBJECT } from "./plain-value.ts";

/** A member that is stored with the properties, and its text as JSON. */
export type AddedMember = { key: string; bytes: Buffer };

/** A UTF-16 unit has at most three bytes. */
const BYTES_PER_UNIT_MAX = 3;
const TIME_BYTES_MAX = 40;
const BYTES_MIN = 4_096;
/** What is kept for the next event. */
const BYTES_KEPT_MAX = 65_536;

/**
 * Puts together the texts of plain events out of their bytes: the same as `canonicalTexts` and `fingerprintOf` make of the event
 * as an object. It holds those of one event at a time, in the same bytes.
 */
export class PlainText {
  bytes = Buffer.allocUnsafe(BYTES_MIN);
  /** The stored properties, from 0 on. */
  storedUntil = 0;
  /** What the fingerprint is made of stands behind them. */
  printUntil = 0;
  /** Where members that were added begin and end among the stored ones. */
  readonly #added: number[] = [];

  /** Lets go of the memory that a very large event has taken. */
  forget(): void {
    if (this.bytes.length > BYTES_KEPT_MAX) this.bytes = Buffer.allocUnsafe(BYTES_MIN);
  }

  /** `added`: in the order of the canonical text. The event has none of their keys. */
  write(body: PlainBody, event: PlainEvent, added: readonly AddedMember[]): void {
    this.#makeRoom(event, added);
    this.#store(body, event, added);
    this.#print(event);
  }

  #store({ bytes, values }: PlainBody, { shape, valuesAt }: PlainEvent, added: readonly AddedMember[]): void {
    this.storedUntil = 0;
    this.#added.length = 0;
    const { sorted } = shape;
    let next = 0;
    for (let index = 0; index < sorted.length; index += 1) {
      const { key, opening, place } = sorted[index]!;
      while (next < added.length && jsonbOrder(added[next]!.key, key) < 0) this.#add(added[next++]!.bytes);
      this.bytes[this.storedUntil++] = COMMA;
      this.#write(opening, 0, opening.length);
      this.#write(bytes, values[valuesAt + 2 * place]!, values[valuesAt + 2 * place + 1]!);
    }
    while (next < added.length) this.#add(added[next++]!.bytes);
    this.storedUntil = this.#enclosed(0, this.storedUntil);
  }

  #add(member: Buffer): void {
    this.#added.push(this.storedUntil);
    this.bytes[this.storedUntil++] = COMMA;
    this.#write(member, 0, member.length);
    this.#added.push(this.storedUntil);
  }

  /** Copies the members between those that were added. */
  #print({ name, timeMs }: PlainEvent): void {
    const { bytes, storedUntil } = this;
    const from = storedUntil + bytes.write(`${timeMs}\ntrack\n${name}\n`, storedUntil);
    let [at, copied] = [from, 0];
    const copy = (until: number) => {
      bytes.copyWithin(at, copied, until);
      at += until - copied;
    };
    for (let index = 0; index < this.#added.length; index += 2) {
      copy(this.#added[index]!);
      copied = this.#added[index + 1]!;
    }
    copy(storedUntil - 1);
    this.printUntil = this.#enclosed(from, at);
  }

  /** Puts brackets around members of which each has a comma before it. Returns where the object ends. */
  #enclosed(from: number, until: number): number {
    this.bytes[from] = OPEN_OBJECT;
    const end = Math.max(until, from + 1);
    this.bytes[end] = CLOSE_OBJECT;
    return end + 1;
  }

  /** Byte by byte: most pieces are so short that calls would take longer. */
  #write(piece: Buffer, from: number, until: number): void {
    const { bytes } = this;
    let to = this.storedUntil;
    for (let at = from; at < until; at += 1) bytes[to++] = piece[at]!;
    this.storedUntil = to;
  }

  /** Neither text is longer than the event with what is added: each member stands in it as a whole. */
  #makeRoom({ name, from, until }: PlainEvent, added: readonly AddedMember[]): void {
    let bytesMax = until - from + name.length * BYTES_PER_UNIT_MAX + TIME_BYTES_MAX;
    for (const { bytes } of added) bytesMax += bytes.length + 1;
    if (this.bytes.length < 2 * bytesMax) this.bytes = Buffer.allocUnsafe(4 * bytesMax);
  }
}
