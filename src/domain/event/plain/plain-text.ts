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
 * as an object. It holds those of one event at a time.
 */
export class PlainText {
  /** What the fingerprint is made of, up to `printUntil`. */
  print = Buffer.allocUnsafe(BYTES_MIN);
  printUntil = 0;
  /** The stored properties, up to `storedUntil`. */
  stored = Buffer.allocUnsafe(BYTES_MIN);
  storedUntil = 0;

  /** Lets go of the memory that a very large event has taken. */
  forget(): void {
    if (this.print.length > BYTES_KEPT_MAX) this.#take(BYTES_MIN);
  }

  /** `added`: in the order of the canonical text. The event has none of their keys. */
  write(body: PlainBody, event: PlainEvent, added: readonly AddedMember[]): void {
    const { name, timeMs, shape, valuesAt } = event;
    this.#makeRoom(event, added);
    this.printUntil = this.print.write(`${timeMs}\ntrack\n${name}\n`);
    this.storedUntil = 0;
    const { bytes, values } = body;
    const { sorted } = shape;
    let next = 0;
    for (let index = 0; index < sorted.length; index += 1) {
      const { key, opening, place } = sorted[index]!;
      while (next < added.length && jsonbOrder(added[next]!.key, key) < 0) this.#store(added[next++]!.bytes);
      const opened = index === 0 ? OPEN_OBJECT : COMMA;
      this.print[this.printUntil++] = opened;
      this.stored[this.storedUntil] = this.storedUntil === 0 ? OPEN_OBJECT : COMMA;
      this.storedUntil += 1;
      this.#write(opening, 0, opening.length);
      this.#write(bytes, values[valuesAt + 2 * place]!, values[valuesAt + 2 * place + 1]!);
    }
    while (next < added.length) this.#store(added[next++]!.bytes);
    this.#close(sorted.length);
  }

  /** Without members, the opening bracket is missing, too. */
  #close(members: number): void {
    if (members === 0) this.print[this.printUntil++] = OPEN_OBJECT;
    if (this.storedUntil === 0) this.stored[this.storedUntil++] = OPEN_OBJECT;
    this.print[this.printUntil++] = CLOSE_OBJECT;
    this.stored[this.storedUntil++] = CLOSE_OBJECT;
  }

  /** Into both texts, byte by byte: most pieces are so short that calls would take longer. */
  #write(bytes: Buffer, from: number, until: number): void {
    const { print, stored } = this;
    let [printAt, storedAt] = [this.printUntil, this.storedUntil];
    for (let at = from; at < until; at += 1) {
      const byte = bytes[at]!;
      print[printAt++] = byte;
      stored[storedAt++] = byte;
    }
    this.printUntil = printAt;
    this.storedUntil = storedAt;
  }

  #store(member: Buffer): void {
    const { stored } = this;
    stored[this.storedUntil] = this.storedUntil === 0 ? OPEN_OBJECT : COMMA;
    let at = this.storedUntil + 1;
    for (let index = 0; index < member.length; index += 1) stored[at++] = member[index]!;
    this.storedUntil = at;
  }

  /** The texts are no longer than the event with what is added: each member stands in it as a whole. */
  #makeRoom({ name, from, until }: PlainEvent, added: readonly AddedMember[]): void {
    let bytesMax = until - from + name.length * BYTES_PER_UNIT_MAX + TIME_BYTES_MAX;
    for (const { bytes } of added) bytesMax += bytes.length + 1;
    if (this.print.length < bytesMax) this.#take(2 * bytesMax);
  }

  #take(bytes: number): void {
    this.print = Buffer.allocUnsafe(bytes);
    this.stored = Buffer.allocUnsafe(bytes);
  }
}
