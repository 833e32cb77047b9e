import { BinaryValues } from "./engine/binary-values.ts";

/** Where the tail of an event stands. */
export type TailPlace = { from: number; until: number };

/** JSON, as text or as its bytes. */
export type TailProperties = string | { bytes: Buffer; from: number; until: number };

type Tail = { atMs: number; fingerprint: string; event: string; properties: TailProperties };

// Each value stands after its length, which has four bytes.
const FINGERPRINT_FROM = 16;
const FINGERPRINT_UNTIL = 32;
const EVENT_FROM = 36;
/** The length of the properties. */
const BEFORE_PROPERTIES = 4;

/**
 * The last columns of event rows (at_ms, fingerprint, event, properties) in COPY's binary form. The event alone decides
 * them, so they are made where it is decoded, and copied into its row once it is known to be new. In between they are
 * bytes outside the heap, which no collection of garbage looks at.
 */
export class EventTails {
  readonly #values: BinaryValues;

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
    const from = values.position;
    values.bigint(atMs).uuid(fingerprint).text(event);
    if (typeof properties === "string") values.text(properties);
    else values.textIn(properties.bytes, properties);
    return { from, until: values.position };
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

  propertiesTextAt({ from, until }: TailPlace): string {
    const { bytes } = this;
    const eventBytes = bytes.readInt32BE(from + FINGERPRINT_UNTIL);
    return bytes.toString("utf8", from + EVENT_FROM + eventBytes + BEFORE_PROPERTIES, until);
  }
}
