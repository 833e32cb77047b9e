import { isUtf8 } from "node:buffer";
import { LIMITS } from "../../../limits.ts";
import { isObject, type JsonObject, type JsonValue, readJson } from "../../json.ts";
import { MEMBER, memberAt, noFrame, noteInFrame, WHOLE } from "./event-frame.ts";
import { KeyShape } from "./key-shape.ts";
import { PlainProperties } from "./plain-properties.ts";
import {
  afterColon,
  afterSpace,
  bytesOf,
  CLOSE_LIST,
  CLOSE_OBJECT,
  COMMA,
  endOfNested,
  endOfPlain,
  isAt,
  NOT_PLAIN,
  OPEN_LIST,
  OPEN_OBJECT,
  QUOTE,
  wholeNumber,
  ZERO,
} from "./plain-value.ts";
import { TextMemory } from "./text-memory.ts";

/**
 * A track event of which each member is plain (see plain-value.ts). Its values stand in the bytes of the body, that of the
 * property n of its shape from `values[valuesAt + 2 * n]` up to the number behind it.
 */
export type PlainEvent = {
  shape: KeyShape;
  name: string;
  timeMs: number;
  isFree: boolean;
  /** Whether it says itself that it is a track event. Otherwise the body says what it is. */
  hasType: boolean;
  valuesAt: number;
  /** Where its text stands. */
  from: number;
  until: number;
  /** The event as an object, if it is not plain. Then nothing else here says anything. */
  sent: JsonObject | undefined;
};

/** What a body says beside its events. */
export type PlainMembers = {
  client_id?: JsonValue;
  client_ip?: JsonValue;
  client_ua?: JsonValue;
  type?: JsonValue;
};

const NO_BYTES = Buffer.alloc(0);

/**
 * Reads the body of event collect from its bytes, without making objects of the events, as long as they are plain. What it reads
 * is what JSON.parse would have read; a body that it cannot be sure of is left to that. It holds one body at a time: what it
 * has read counts until the next one.
 */
export class PlainBody {
  bytes: Buffer = NO_BYTES;
  members: PlainMembers = {};
  /** The number of events. Later ones in `events` are of earlier bodies. */
  count = 0;
  readonly events: PlainEvent[] = [];
  readonly #read = new PlainProperties();
  readonly #names = new TextMemory();
  readonly #frame = noFrame();
  /** Where the name stands that was read last. */
  #nameFrom = 0;
  #nameUntil = 0;

  /** False when the body has to be read by JSON.parse. */
  read(bytes: Buffer): boolean {
    if (!isUtf8(bytes)) return false;
    this.bytes = bytes;
    this.members = {};
    this.count = 0;
    this.#read.begin(bytes);
    this.#frame.isKnown = false;
    const end = this.#body(afterSpace(bytes, 0));
    return end !== NOT_PLAIN && afterSpace(bytes, end) >= bytes.length;
  }

  /** Where the values stand. */
  get values(): Int32Array {
    return this.#read.values;
  }

  /** Lets go of the body. */
  forget(): void {
    for (let index = 0; index < this.count; index += 1) Object.assign(this.events[index]!, NONE);
    this.events.length = Math.min(this.events.length, LIMITS.eventsPerRequest);
    this.bytes = NO_BYTES;
    this.members = {};
    this.count = 0;
    this.#read.forget();
  }

  /** The event as JSON.parse reads it. */
  objectOf({ sent, from, until }: PlainEvent): JsonObject {
    return sent ?? (readJson(this.bytes.toString("utf8", from, until)) as JsonObject);
  }

  /** The value of a property of a plain event; undefined when it does not have it. */
  valueOf({ shape, valuesAt }: PlainEvent, key: string): JsonValue | undefined {
    const place = shape.keys.indexOf(key);
    if (place < 0) return undefined;
    const at = valuesAt + 2 * place;
    return this.#plainValue(this.values[at]!, this.values[at + 1]!);
  }

  /** A text without escapes is the value itself. */
  #plainValue(from: number, until: number): JsonValue | undefined {
    const { bytes } = this;
    return bytes[from] === QUOTE
      ? bytes.toString("utf8", from + 1, until - 1)
      : readJson(bytes.toString("utf8", from, until));
  }

  /** Reads the name of a member. Returns where its value begins. */
  #afterName(from: number): number {
    const { bytes } = this;
    const at = afterSpace(bytes, from);
    const until = bytes[at] === QUOTE ? endOfPlain(bytes, at) : NOT_PLAIN;
    if (until === NOT_PLAIN) return NOT_PLAIN;
    this.#nameFrom = at + 1;
    this.#nameUntil = until - 1;
    return afterColon(bytes, until);
  }

  /** Each of these returns where it ends, or that it is not plain. */
  #body(from: number): number {
    const { bytes } = this;
    let [at, hasList] = [from, false];
    if (bytes[at] !== OPEN_OBJECT) return NOT_PLAIN;
    do {
      at = this.#afterName(at + 1);
      if (at === NOT_PLAIN) return NOT_PLAIN;
      const name = this.#names.textAt(bytes, this.#nameFrom, this.#nameUntil);
      if (name === "event_list") {
        if (hasList) return NOT_PLAIN;
        hasList = true;
        at = this.#list(at);
      } else at = this.#member(name, { at, hasList });
      if (at === NOT_PLAIN) return NOT_PLAIN;
      at = afterSpace(bytes, at);
    } while (bytes[at] === COMMA);
    return hasList && bytes[at] === CLOSE_OBJECT ? at + 1 : NOT_PLAIN;
  }

  /** A member beside the list. A `type` behind it would have to be known before. */
  #member(name: string, { at, hasList }: { at: number; hasList: boolean }): number {
    const { bytes, members } = this;
    const isRead = name === "client_id" || name === "client_ip" || name === "client_ua" || name === "type";
    const isNested = bytes[at] === OPEN_OBJECT || bytes[at] === OPEN_LIST;
    const until = isNested ? endOfNested(bytes, at) : endOfPlain(bytes, at);
    if (until === NOT_PLAIN || (isRead && members[name] !== undefined) || (hasList && name === "type"))
      return NOT_PLAIN;
    if (!isRead && !isNested) return until;
    const value = isNested ? readJson(bytes.toString("utf8", at, until)) : this.#plainValue(at, until);
    if (value === undefined) return NOT_PLAIN;
    if (isRead) members[name] = value;
    return until;
  }

  #list(from: number): number {
    const { bytes } = this;
    if (bytes[from] !== OPEN_LIST) return NOT_PLAIN;
    let at = from;
    do {
      at = afterSpace(bytes, at + 1);
      // Also the end of an empty list, which is refused anyway.
      if (bytes[at] !== OPEN_OBJECT) return NOT_PLAIN;
      const event = this.#next();
      event.from = at;
      let until = this.#frame.isKnown ? this.#eventAsBefore(event, at) : NOT_PLAIN;
      if (until === NOT_PLAIN) until = this.#event(event, at);
      at = until === NOT_PLAIN ? this.#other(event, at) : until;
      if (at === NOT_PLAIN) return NOT_PLAIN;
      event.until = at;
      at = afterSpace(bytes, at);
    } while (bytes[at] === COMMA);
    return bytes[at] === CLOSE_LIST ? at + 1 : NOT_PLAIN;
  }

  #next(): PlainEvent {
    const known = this.events[this.count];
    const event = known ?? { ...NONE };
    if (!known) this.events.push(event);
    this.count += 1;
    event.sent = undefined;
    event.valuesAt = this.#read.valuesAt;
    return event;
  }

  /** An event that is not plain, as JSON.parse reads it. */
  #other(event: PlainEvent, from: number): number {
    const until = endOfNested(this.bytes, from);
    const sent = until === NOT_PLAIN ? undefined : readJson(this.bytes.toString("utf8", from, until));
    if (sent === undefined || !isObject(sent)) return NOT_PLAIN;
    event.sent = sent;
    return until;
  }

  /** An event whose members stand as in the one before, and say the same but for its name, its time and its properties. */
  #eventAsBefore(event: PlainEvent, from: number): number {
    const bytes = this.bytes;
    const frame = this.#frame;
    const shift = from - frame.from;
    const nameAt = frame.nameAt + shift;
    if (!isSame(bytes, from, nameAt + 1, shift)) return NOT_PLAIN;
    const nameUntil = endOfPlain(bytes, nameAt);
    if (nameUntil === NOT_PLAIN) return NOT_PLAIN;
    const timeAt = nameUntil + frame.timeAt - frame.nameUntil;
    if (!isSame(bytes, nameUntil, timeAt, nameUntil - frame.nameUntil)) return NOT_PLAIN;
    const timeUntil = timeAt + frame.timeUntil - frame.timeAt;
    const propertiesAt = timeUntil + frame.propertiesAt - frame.timeUntil;
    if (!isSame(bytes, timeUntil, propertiesAt, timeUntil - frame.timeUntil)) return NOT_PLAIN;
    // The byte behind it is that of the frame, so it has no more digits.
    event.timeMs = wholeNumber(bytes, timeAt, timeUntil);
    if (Number.isNaN(event.timeMs) || bytes[timeAt] === ZERO) return NOT_PLAIN;
    event.name = this.#names.textAt(bytes, nameAt + 1, nameUntil - 1);
    event.isFree = frame.isFree;
    event.hasType = frame.hasType;
    const until = this.#properties(event, propertiesAt);
    if (until === NOT_PLAIN || bytes[until] !== CLOSE_OBJECT) return NOT_PLAIN;
    return until + 1;
  }

  #event(event: PlainEvent, from: number): number {
    const { bytes } = this;
    const frame = this.#frame;
    frame.isKnown = false;
    frame.from = from;
    event.isFree = false;
    event.hasType = false;
    let [at, seen, member] = [from, 0, 0];
    do {
      at = this.#afterName(at + 1);
      if (at === NOT_PLAIN) return NOT_PLAIN;
      member = memberAt(bytes, this.#nameFrom, this.#nameUntil);
      if ((seen & member) !== 0) return NOT_PLAIN;
      seen |= member;
      const until = member === MEMBER.properties ? this.#properties(event, at) : this.#memberOf(event, member, at);
      if (until === NOT_PLAIN) return NOT_PLAIN;
      noteInFrame(frame, member, { at, until });
      at = afterSpace(bytes, until);
    } while (bytes[at] === COMMA);
    if ((seen & WHOLE) !== WHOLE || bytes[at] !== CLOSE_OBJECT) return NOT_PLAIN;
    const isInOrder = frame.nameUntil <= frame.timeAt && frame.timeUntil <= frame.propertiesAt;
    frame.isKnown = isInOrder && member === MEMBER.properties;
    frame.isFree = event.isFree;
    frame.hasType = event.hasType;
    return at + 1;
  }

  #memberOf(event: PlainEvent, member: number, at: number): number {
    const { bytes } = this;
    const until = endOfPlain(bytes, at);
    if (until === NOT_PLAIN) return NOT_PLAIN;
    const isText = bytes[at] === QUOTE;
    switch (member) {
      case MEMBER.type:
        event.hasType = true;
        return isAt(bytes, at, TRACK) ? until : NOT_PLAIN;
      case MEMBER.event:
        if (!isText) return NOT_PLAIN;
        event.name = this.#names.textAt(bytes, at + 1, until - 1);
        return until;
      case MEMBER.time:
        event.timeMs = wholeNumber(bytes, at, until);
        return Number.isNaN(event.timeMs) ? NOT_PLAIN : until;
      case MEMBER.time_free:
        event.isFree = isAt(bytes, at, TRUE);
        return until;
      default:
        return until;
    }
  }

  #properties(event: PlainEvent, from: number): number {
    event.valuesAt = this.#read.valuesAt;
    const until = this.#read.read(from);
    event.shape = this.#read.shape;
    return until;
  }
}

const NONE: PlainEvent = {
  shape: new KeyShape([]),
  name: "",
  timeMs: 0,
  isFree: false,
  hasType: false,
  valuesAt: 0,
  from: 0,
  until: 0,
  sent: undefined,
};

const [TRACK, TRUE] = [bytesOf('"track"'), bytesOf("true")];

/** Whether the bytes in [from, until) are also those that stand before them by `shift`. */
function isSame(bytes: Uint8Array, from: number, until: number, shift: number): boolean {
  for (let at = from; at < until; at += 1) if (bytes[at] !== bytes[at - shift]) return false;
  return true;
}
