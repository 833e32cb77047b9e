import { EventTails } from "../../db/event-tails.ts";
import { type DecodedEvent, type EventShape, SentEvent, type Told } from "./sent-event.ts";

/** Events as numbers in a few arrays. They can change hands between threads as they are. */
export type EventColumns = {
  /** Of each event: its time, the index of its shape, and where its tail and its origin stand. */
  atMs: Float64Array;
  shapeIndexes: Uint32Array;
  froms: Uint32Array;
  untils: Uint32Array;
  originsAt: Int32Array;
  shapes: EventShape[];
  /** What an event tells, by its index. */
  told: Map<number, Told>;
};

/** Bytes of an entry by event, as a first guess at the number of events. */
const BYTES_PER_EVENT = 300;
const EVENTS_MIN = 16;

/**
 * The events of entries that are decoded together: thousands, which live as long as a transaction. As an object each, they
 * were half of what V8 had to move and mark when it collected garbage.
 */
export class SentEvents {
  readonly tails: EventTails;
  #columns: EventColumns;
  #count = 0;
  /** The days in the app's time zone, once the settings of the app are known (see batch.ts). */
  #days: string[] | undefined;
  /** Indexes of shapes, by their list of names, which is the same object for most events that have the same names. */
  readonly #shapes = new Map<readonly string[], Map<string, number[]>>();

  private constructor(tails: EventTails, columns: EventColumns) {
    this.tails = tails;
    this.#columns = columns;
  }

  /** `bytes`: a first guess at what the events need, such as the bytes of their entries. */
  static empty(bytes: number): SentEvents {
    const room = Math.max(EVENTS_MIN, Math.ceil(bytes / BYTES_PER_EVENT));
    return new SentEvents(EventTails.empty(bytes), emptyColumns(room));
  }

  /** Events that another thread has decoded. No more are added to them. */
  static given(tails: EventTails, columns: EventColumns): SentEvents {
    return new SentEvents(tails, columns);
  }

  get columns(): EventColumns {
    return this.#columns;
  }

  /** The number of events so far. */
  get count(): number {
    return this.#count;
  }

  add(event: DecodedEvent): void {
    const index = this.#count;
    if (index === this.#columns.atMs.length) this.#columns = grown(this.#columns);
    const { atMs, shapeIndexes, froms, untils, originsAt, told } = this.#columns;
    const { from, until, originAt } = this.tails.add(event);
    atMs[index] = event.atMs;
    shapeIndexes[index] = this.#shapeOf(event);
    froms[index] = from;
    untils[index] = until;
    originsAt[index] = originAt;
    if (event.told) told.set(index, event.told);
    this.#count += 1;
  }

  /** The events from this index on. */
  since(first: number): EventList {
    return new EventList(this, { first, length: this.#count - first });
  }

  at(index: number): SentEvent {
    const { shapes, shapeIndexes, froms, untils, originsAt } = this.#columns;
    return new SentEvent({
      shape: shapes[shapeIndexes[index]!]!,
      atMs: this.atMsOf(index),
      day: this.dayOf(index),
      told: this.toldBy(index),
      tails: this.tails,
      from: froms[index]!,
      until: untils[index]!,
      originAt: originsAt[index]!,
    });
  }

  atMsOf(index: number): number {
    return this.#columns.atMs[index]!;
  }

  toldBy(index: number): Told | undefined {
    return this.#columns.told.get(index);
  }

  dayOf(index: number): string {
    return this.#days?.[index] ?? "";
  }

  setDay(index: number, day: string): void {
    this.#days ??= new Array(this.#columns.atMs.length);
    this.#days[index] = day;
  }

  #shapeOf({ appId, type, event, names }: EventShape): number {
    let byEvent = this.#shapes.get(names);
    if (!byEvent) {
      byEvent = new Map();
      this.#shapes.set(names, byEvent);
    }
    let known = byEvent.get(event);
    if (!known) {
      known = [];
      byEvent.set(event, known);
    }
    const { shapes } = this.#columns;
    for (const index of known) if (shapes[index]!.appId === appId && shapes[index]!.type === type) return index;
    const index = shapes.push({ appId, type, event, names }) - 1;
    known.push(index);
    return index;
  }
}

/** The events of one entry, in the order sent. Each is made anew whenever it is asked for. */
export class EventList implements Iterable<SentEvent> {
  readonly #of: SentEvents;
  /** Where they begin among all that were decoded together. */
  readonly first: number;
  readonly length: number;

  constructor(of: SentEvents, { first, length }: { first: number; length: number }) {
    this.#of = of;
    this.first = first;
    this.length = length;
  }

  at(index: number): SentEvent {
    return this.#of.at(this.first + index);
  }

  *[Symbol.iterator](): Generator<SentEvent> {
    for (let index = 0; index < this.length; index += 1) yield this.at(index);
  }

  atMsOf(index: number): number {
    return this.#of.atMsOf(this.first + index);
  }

  toldBy(index: number): Told | undefined {
    return this.#of.toldBy(this.first + index);
  }

  dayOf(index: number): string {
    return this.#of.dayOf(this.first + index);
  }

  setDays(dayOf: (atMs: number) => string): void {
    for (let index = 0; index < this.length; index += 1) this.#of.setDay(this.first + index, dayOf(this.atMsOf(index)));
  }
}

function emptyColumns(room: number): EventColumns {
  return {
    atMs: new Float64Array(room),
    shapeIndexes: new Uint32Array(room),
    froms: new Uint32Array(room),
    untils: new Uint32Array(room),
    originsAt: new Int32Array(room),
    shapes: [],
    told: new Map(),
  };
}

function grown({ atMs, shapeIndexes, froms, untils, originsAt, shapes, told }: EventColumns): EventColumns {
  const larger = { ...emptyColumns(atMs.length * 2), shapes, told };
  larger.atMs.set(atMs);
  larger.shapeIndexes.set(shapeIndexes);
  larger.froms.set(froms);
  larger.untils.set(untils);
  larger.originsAt.set(originsAt);
  return larger;
}
