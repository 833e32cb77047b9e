import { jsonbOrder } from "../fingerprint.ts";
import { isKeptApart, type StoredProperties } from "../origin.ts";
import type { ShapeKey } from "./key-shape.ts";
import type { PlainBody, PlainEvent } from "./plain-body.ts";
import { CLOSE_OBJECT, COMMA, OPEN_OBJECT } from "./plain-value.ts";

/** A member that is stored with the properties, and its text as JSON. It belongs to the origin. */
export type AddedMember = { key: string; bytes: Buffer };

/** A UTF-16 unit has at most three bytes. */
const BYTES_PER_UNIT_MAX = 3;
const TIME_BYTES_MAX = 40;
const BYTES_MIN = 4_096;
/** What is kept for the next event. */
const BYTES_KEPT_MAX = 65_536;

const NONE_ADDED: readonly AddedMember[] = [];

/** Which members of an event are written, and what is added among them. */
type Members = { keys: readonly ShapeKey[]; added: readonly AddedMember[] };

/**
 * Puts together the texts of plain events out of their bytes: the same as `canonicalTexts` and `fingerprintOf` make of the event
 * as an object. It holds those of one event at a time, in the same bytes.
 */
export class PlainText implements StoredProperties {
  /** The stored properties, from 0 on. */
  bytes = Buffer.allocUnsafe(BYTES_MIN);
  originUntil = 0;
  until = 0;
  /** What the fingerprint is made of stands behind them. */
  printUntil = 0;
  #at = 0;

  /** Lets go of the memory that a very large event has taken. */
  forget(): void {
    if (this.bytes.length > BYTES_KEPT_MAX) this.bytes = Buffer.allocUnsafe(BYTES_MIN);
  }

  /** `added`: in the order of the canonical text. The event has none of their keys. */
  write(body: PlainBody, event: PlainEvent, added: readonly AddedMember[]): void {
    this.#makeRoom(event, added);
    this.#at = 0;
    this.#store(body, event, added);
    this.until = this.#at;
    this.#print(body, event);
    this.printUntil = this.#at;
  }

  #store(body: PlainBody, event: PlainEvent, added: readonly AddedMember[]): void {
    const { sorted, origin, rest } = event.shape;
    if (isKeptApart(originBytes(body, event, added))) {
      this.#members(body, event, { keys: origin, added });
      this.originUntil = this.#at;
      this.#members(body, event, { keys: rest, added: NONE_ADDED });
    } else {
      this.originUntil = 0;
      this.#members(body, event, { keys: sorted, added });
    }
    this.#enclose(0);
  }

  #print(body: PlainBody, event: PlainEvent): void {
    this.#at += this.bytes.write(`${event.timeMs}\ntrack\n${event.name}\n`, this.#at);
    const from = this.#at;
    this.#members(body, event, { keys: event.shape.sorted, added: NONE_ADDED });
    this.#enclose(from);
  }

  /** Each with a comma before it. */
  #members({ bytes, values }: PlainBody, { valuesAt }: PlainEvent, { keys, added }: Members): void {
    let next = 0;
    for (let index = 0; index < keys.length; index += 1) {
      const { key, opening, place } = keys[index]!;
      while (next < added.length && jsonbOrder(added[next]!.key, key) < 0) this.#add(added[next++]!.bytes);
      this.bytes[this.#at++] = COMMA;
      this.#write(opening, 0, opening.length);
      this.#write(bytes, values[valuesAt + 2 * place]!, values[valuesAt + 2 * place + 1]!);
    }
    while (next < added.length) this.#add(added[next++]!.bytes);
  }

  #add(member: Buffer): void {
    this.bytes[this.#at++] = COMMA;
    this.#write(member, 0, member.length);
  }

  /** Puts brackets around members of which each has a comma before it. */
  #enclose(from: number): void {
    this.bytes[from] = OPEN_OBJECT;
    this.#at = Math.max(this.#at, from + 1);
    this.bytes[this.#at++] = CLOSE_OBJECT;
  }

  /** Byte by byte: most pieces are so short that calls would take longer. */
  #write(piece: Buffer, from: number, until: number): void {
    const { bytes } = this;
    let to = this.#at;
    for (let at = from; at < until; at += 1) bytes[to++] = piece[at]!;
    this.#at = to;
  }

  /** Neither text is longer than the event with what is added: each member stands in it as a whole. */
  #makeRoom({ name, from, until }: PlainEvent, added: readonly AddedMember[]): void {
    let bytesMax = until - from + name.length * BYTES_PER_UNIT_MAX + TIME_BYTES_MAX;
    for (const { bytes } of added) bytesMax += bytes.length + 1;
    if (this.bytes.length < 2 * bytesMax) this.bytes = Buffer.allocUnsafe(4 * bytesMax);
  }
}

/** What the members of the origin take, each with a comma before it. */
function originBytes({ values }: PlainBody, { shape, valuesAt }: PlainEvent, added: readonly AddedMember[]): number {
  let sum = 0;
  for (const { bytes } of added) sum += 1 + bytes.length;
  for (const { opening, place } of shape.origin)
    sum += 1 + opening.length + values[valuesAt + 2 * place + 1]! - values[valuesAt + 2 * place]!;
  return sum;
}
