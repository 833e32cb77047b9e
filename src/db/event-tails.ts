import { originIdOf, type StoredProperties } from "../domain/event/origin.ts";
import { BinaryValues } from "./engine/binary-values.ts";

/** Where the tail of an event stands, and its origin: the id and then the text of it, NO_ORIGIN if it has none. */
export type TailPlace = { from: number; until: number; originAt: number };

export const NO_ORIGIN = -1;

type Tail = { atMs: number; fingerprint: string; event: string; properties: StoredProperties };

// Each value stands after its length, which has four bytes and is negative for one that is missing.
const LENGTH = 4;
const FINGERPRINT_FROM = 16;
const FINGERPRINT_UNTIL = 32;
const ORIGIN_ID = 12;
const TWO_TO_32 = 2 ** 32;

/**
 * The last columns of event rows (at_ms, fingerprint, event, properties_text, origin_id, properties_rest) in COPY's binary form.
 * The event alone decides them, so they are made where it is decoded, and copied into its row once it is known to be new. In
 * between they are bytes outside the heap, which no collection of garbage looks at. An origin stands before the first event
 * that has it.
 */
export class EventTails {
  readonly #values: BinaryValues;
  /** The origin of the event before. */
  #originAt = NO_ORIGIN;

  constructor(values: BinaryValues) {
    this.#values = values;
  }

  /** `bytes`: a first guess at their size. The memory is their own, so that it can be given to another thread. */
  static empty(bytes: number): EventTails {
    return new EventTails(new BinaryValues(Buffer.allocUnsafeSlow(bytes)));
  }

  /** Those that another thread has given. */
  static given(bytes: Buffer): EventTails {
    return new EventTails(new BinaryValues(bytes, bytes.length));
  }

  add({ atMs, fingerprint, event, properties }: Tail): TailPlace {
    const values = this.#values;
    const { bytes, originUntil, until } = properties;
    if (originUntil > 0) this.#toOrigin(properties);
    const from = values.position;
    values.bigint(atMs).uuid(fingerprint).text(event);
    if (originUntil === 0) {
      values.textIn(bytes, { from: 0, until }).missing().missing();
      return { from, until: values.position, originAt: NO_ORIGIN };
    }
    const originAt = this.#originAt;
    values.missing().repeat({ from: originAt, until: originAt + ORIGIN_ID });
    values.textIn(bytes, { from: originUntil, until });
    return { from, until: values.position, originAt };
  }

  /** Finds the place of an origin, or makes one. Most events of a body have the origin of the one before. */
  #toOrigin({ bytes, originUntil }: StoredProperties): void {
    if (this.#originAt !== NO_ORIGIN) {
      const { from, until } = this.#textAt(this.#originAt + ORIGIN_ID);
      if (this.bytes.compare(bytes, 0, originUntil, from, until) === 0) return;
    }
    const values = this.#values;
    this.#originAt = values.position;
    values.bigint(originIdOf(bytes.subarray(0, originUntil))).textIn(bytes, { from: 0, until: originUntil });
  }

  get bytes(): Buffer {
    return this.#values.bytes;
  }

  /** Where the sixteen bytes of the fingerprint begin. */
  fingerprintFrom(from: number): number {
    return from + FINGERPRINT_FROM;
  }

  fingerprintAt(from: number): string {
    return this.bytes.toString("hex", from + FINGERPRINT_FROM, from + FINGERPRINT_UNTIL);
  }

  /** The text of the properties with that of the origin. */
  propertiesTextAt(place: TailPlace): string {
    if (place.originAt !== NO_ORIGIN) return this.originTextAt(place.originAt) + this.restTextAt(place);
    return this.#read(this.#propertiesOf(place));
  }

  /** What an event with an origin has itself. */
  restTextAt(place: TailPlace): string {
    return this.#read(this.#textAt(this.#propertiesOf(place).until + ORIGIN_ID));
  }

  originIdAt(at: number): number {
    return this.bytes.readUInt32BE(at + LENGTH) * TWO_TO_32 + this.bytes.readUInt32BE(at + 2 * LENGTH);
  }

  originTextAt(at: number): string {
    return this.#read(this.#textAt(at + ORIGIN_ID));
  }

  /** The first of the three columns that hold properties, behind the name of the event. */
  #propertiesOf({ from }: TailPlace): { from: number; until: number } {
    return this.#textAt(this.#textAt(from + FINGERPRINT_UNTIL).until);
  }

  /** The text whose length stands there. A missing one is empty. */
  #textAt(at: number): { from: number; until: number } {
    const from = at + LENGTH;
    return { from, until: from + Math.max(0, this.bytes.readInt32BE(at)) };
  }

  #read({ from, until }: { from: number; until: number }): string {
    return this.bytes.toString("utf8", from, until);
  }
}
