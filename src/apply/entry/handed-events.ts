import { EventTails } from "../../db/event-tails.ts";
import type { Entry } from "../../journal/entry.ts";
import type { EventsEntry, OpenedItem } from "./decode.ts";
import { type EventShape, SentEvent, type SentEvents, type Told } from "./sent-event.ts";

/** Entries on their way to the thread that decodes them, one after the other. */
export type HandedEntries = { bytes: Uint8Array; lengths: Uint32Array };

/** The events of entries on their way back: a few arrays instead of an object for each. */
export type HandedEvents = {
  /** How many events each entry was sent with, and how many follow here. */
  received: Int32Array;
  counts: Int32Array;
  /** Of each event: its time, the index of its shape, and where its tail stands. */
  atMs: Float64Array;
  shapeIndexes: Uint32Array;
  froms: Uint32Array;
  untils: Uint32Array;
  /** What an event tells, by its index. */
  told: Map<number, Told>;
  shapes: EventShape[];
  tails: Uint8Array;
};

/** The count of an entry whose events do not follow: it has to be decoded where it is applied. */
const NOT_HANDED = -1;

/** Only calls of collect have their bytes here. Other entries are few, and are decoded where they are applied. */
export function handEntries(items: readonly OpenedItem[]): HandedEntries {
  const payloads = items.map(({ entry, payload }) => (entry?.head.kind === "collect" ? payload : NOTHING));
  const lengths = Uint32Array.from(payloads, ({ length }) => length);
  const bytes = new Uint8Array(lengths.reduce((sum, length) => sum + length, 0));
  let at = 0;
  for (const payload of payloads) {
    bytes.set(payload, at);
    at += payload.length;
  }
  return { bytes, lengths };
}

const NOTHING = Buffer.alloc(0);

/** The payloads of entries that were handed over. */
export function* payloadsOf({ bytes, lengths }: HandedEntries): Iterable<Buffer> {
  let at = 0;
  for (const length of lengths) {
    yield Buffer.from(bytes.buffer, bytes.byteOffset + at, length);
    at += length;
  }
}

/** `entries`: undefined for those that are not handed over. */
export function handEvents(entries: readonly (EventsEntry | undefined)[], { tails }: SentEvents): HandedEvents {
  const counts = Int32Array.from(entries, (entry) => entry?.events.length ?? NOT_HANDED);
  const events = entries.flatMap((entry) => entry?.events ?? []);
  const indexes = new Map<EventShape, number>();
  const handed: HandedEvents = {
    received: Int32Array.from(entries, (entry) => entry?.received ?? 0),
    counts,
    atMs: new Float64Array(events.length),
    shapeIndexes: new Uint32Array(events.length),
    froms: new Uint32Array(events.length),
    untils: new Uint32Array(events.length),
    told: new Map(),
    shapes: [],
    tails: tails.bytes,
  };
  for (const [index, { shape, atMs, from, until, told }] of events.entries()) {
    let shapeIndex = indexes.get(shape);
    if (shapeIndex === undefined) {
      shapeIndex = handed.shapes.push(shape) - 1;
      indexes.set(shape, shapeIndex);
    }
    handed.atMs[index] = atMs;
    handed.shapeIndexes[index] = shapeIndex;
    handed.froms[index] = from;
    handed.untils[index] = until;
    if (told) handed.told.set(index, told);
  }
  return handed;
}

/** The memory that changes hands with them, instead of being copied. */
export function memoryOf({ told: _told, shapes: _shapes, ...arrays }: HandedEvents): ArrayBuffer[] {
  return Object.values(arrays).map(({ buffer }) => buffer as ArrayBuffer);
}

/** Events that another thread has decoded, given out entry by entry, in order. */
export class TakenEvents {
  readonly #handed: HandedEvents;
  readonly #tails: EventTails;
  #entry = 0;
  #event = 0;

  constructor(handed: HandedEvents) {
    this.#handed = handed;
    const { buffer, byteOffset, length } = handed.tails;
    this.#tails = EventTails.given(Buffer.from(buffer as ArrayBuffer, byteOffset, length));
  }

  /** The next entry; undefined when it has to be decoded. */
  next({ from, until, payload, entry }: OpenedItem): EventsEntry | undefined {
    const number = this.#entry;
    this.#entry += 1;
    const count = this.#handed.counts[number]!;
    if (count === NOT_HANDED || !entry) return undefined;
    return { kind: "events", from, until, payload, ...this.#entryOf(entry, { number, count }) };
  }

  #entryOf({ head }: Entry, { number, count }: { number: number; count: number }) {
    const events: SentEvent[] = [];
    for (const last = this.#event + count; this.#event < last; this.#event += 1)
      events.push(this.#eventAt(this.#event));
    const user = { appId: head.app, clientId: head.client };
    return { head, user, received: this.#handed.received[number]!, rejected: head.rejected ?? [], events };
  }

  #eventAt(index: number): SentEvent {
    const { atMs, shapes, shapeIndexes, froms, untils, told } = this.#handed;
    const from = froms[index]!;
    return new SentEvent({
      shape: shapes[shapeIndexes[index]!]!,
      atMs: atMs[index]!,
      fingerprint: this.#tails.fingerprintAt(from),
      told: told.get(index),
      tails: this.#tails,
      from,
      until: untils[index]!,
    });
  }
}
