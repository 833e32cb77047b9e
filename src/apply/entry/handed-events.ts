import { EventTails } from "../../db/event-tails.ts";
import type { EventsEntry, OpenedItem } from "./decode.ts";
import { type EventColumns, EventList, SentEvents } from "./sent-events.ts";

/** Entries on their way to the thread that decodes them, one after the other. */
export type HandedEntries = { bytes: Uint8Array; lengths: Uint32Array };

/** The events of entries on their way back: a few arrays instead of an object for each. */
export type HandedEvents = {
  /** How many events each entry was sent with, where its own begin, and how many they are. */
  received: Int32Array;
  firsts: Int32Array;
  counts: Int32Array;
  columns: EventColumns;
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
export function handEvents(entries: readonly (EventsEntry | undefined)[], events: SentEvents): HandedEvents {
  return {
    received: Int32Array.from(entries, (entry) => entry?.received ?? 0),
    firsts: Int32Array.from(entries, (entry) => entry?.events.first ?? 0),
    counts: Int32Array.from(entries, (entry) => entry?.events.length ?? NOT_HANDED),
    columns: events.columns,
    tails: events.tails.bytes,
  };
}

/** The memory that changes hands with them, instead of being copied. */
export function memoryOf({ received, firsts, counts, columns, tails }: HandedEvents): ArrayBuffer[] {
  const { atMs, shapeIndexes, froms, untils, originsAt } = columns;
  const arrays = [received, firsts, counts, atMs, shapeIndexes, froms, untils, originsAt, tails];
  return arrays.map(({ buffer }) => buffer as ArrayBuffer);
}

/** Events that another thread has decoded, given out entry by entry, in order. */
export class TakenEvents {
  readonly #handed: HandedEvents;
  readonly #events: SentEvents;
  #entry = 0;

  constructor(handed: HandedEvents) {
    this.#handed = handed;
    const { buffer, byteOffset, length } = handed.tails;
    const tails = EventTails.given(Buffer.from(buffer as ArrayBuffer, byteOffset, length));
    this.#events = SentEvents.given(tails, handed.columns);
  }

  /** The next entry; undefined when it has to be decoded. */
  next({ from, until, payload, entry }: OpenedItem): EventsEntry | undefined {
    const number = this.#entry;
    this.#entry += 1;
    const { received, firsts, counts } = this.#handed;
    const length = counts[number]!;
    if (length === NOT_HANDED || !entry) return undefined;
    const { head } = entry;
    return {
      kind: "events",
      from,
      until,
      payload,
      head,
      user: { appId: head.app, clientId: head.client },
      received: received[number]!,
      rejected: head.rejected ?? [],
      events: new EventList(this.#events, { first: firsts[number]!, length }),
    };
  }
}
