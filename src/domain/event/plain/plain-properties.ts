import { type KeyShape, KeyShapes, type KeyStep } from "./key-shape.ts";
import {
  afterColon,
  afterSpace,
  CLOSE_OBJECT,
  COMMA,
  endOfPlain,
  NOT_PLAIN,
  OPEN_OBJECT,
  QUOTE,
} from "./plain-value.ts";

/** An event with more properties is read as an object. */
const PROPERTIES_MAX = 200;

/** Room for the values of a body at first, and what is kept of it for the next one. */
const VALUES_MIN = 8_192;
const VALUES_KEPT_MAX = 65_536;

const NO_BYTES = Buffer.alloc(0);

/** Fewer members are not worth comparing as one. */
const SAME_MIN = 2;

/** Where a list of members stands: for each, where its key and its value begin, where the value ends, and its step. */
class Members {
  count = 0;
  readonly keys = new Int32Array(PROPERTIES_MAX);
  readonly steps: KeyStep[] = [];
  /** Where its values stand among those of the body. */
  valuesAt = 0;
}

/**
 * Reads the properties of one event after another, out of one body. Most of them say what those of the event before said, such as
 * the device: such members are compared as one, which takes a tenth of reading each of them.
 */
export class PlainProperties {
  readonly #shapes = new KeyShapes();
  /** From `values[2 * n]` up to `values[2 * n + 1]`: a value. */
  values = new Int32Array(VALUES_MIN);
  valuesAt = 0;
  shape: KeyShape = this.#shapes.shapeOf(this.#shapes.start);
  #bytes: Buffer = NO_BYTES;
  #last = new Members();
  #own = new Members();

  begin(bytes: Buffer): void {
    this.#bytes = bytes;
    this.valuesAt = 0;
    this.#last.count = 0;
  }

  /** Lets go of the body. */
  forget(): void {
    this.#bytes = NO_BYTES;
    if (this.values.length > VALUES_KEPT_MAX) this.values = new Int32Array(VALUES_MIN);
  }

  /** Returns where the properties end. Their values follow those of the event before. */
  read(from: number): number {
    const bytes = this.#bytes;
    if (bytes[from] !== OPEN_OBJECT) return NOT_PLAIN;
    this.#makeRoom();
    const own = this.#own;
    own.count = 0;
    own.valuesAt = this.valuesAt;
    let at = afterSpace(bytes, from + 1);
    let step = this.#shapes.start;
    if (bytes[at] !== CLOSE_OBJECT) {
      at = this.#members(at);
      if (at === NOT_PLAIN) return NOT_PLAIN;
      step = own.steps[own.count - 1]!;
    }
    this.shape = this.#shapes.shapeOf(step);
    this.valuesAt = own.valuesAt + 2 * own.count;
    this.#own = this.#last;
    this.#last = own;
    return at + 1;
  }

  /** Returns where the bracket stands that closes them. */
  #members(from: number): number {
    const bytes = this.#bytes;
    const [own, last] = [this.#own, this.#last];
    let [at, step, same] = [from, this.#shapes.start, this.#shapes.start];
    /** The place of the first member since which all are the same as those of the event before. */
    let sameFrom = 0;
    for (;;) {
      const place = own.count;
      const isAlong = place === 0 ? last.count > 0 : place < last.count && last.steps[place - 1] === step;
      if (isAlong && step.sameNext >= SAME_MIN && this.#isSame(at, step.sameNext)) {
        step = own.steps[own.count - 1]!;
        at = this.values[own.valuesAt + 2 * own.count - 1]!;
      } else {
        if (place === PROPERTIES_MAX) return NOT_PLAIN;
        const next = bytes[at] === QUOTE ? this.#shapes.stepAt(step, bytes, at + 1) : undefined;
        if (!next) return NOT_PLAIN;
        const valueAt = afterColon(bytes, at + 1 + next.bytes.length);
        const until = valueAt === NOT_PLAIN ? NOT_PLAIN : endOfPlain(bytes, valueAt);
        if (until === NOT_PLAIN) return NOT_PLAIN;
        own.keys[place] = at;
        own.steps[place] = next;
        this.values[own.valuesAt + 2 * place] = valueAt;
        this.values[own.valuesAt + 2 * place + 1] = until;
        own.count += 1;
        step = next;
        at = until;
        if (!isAlong || !this.#hasSameValue(place)) {
          same.sameNext = place - sameFrom;
          same = step;
          sameFrom = place + 1;
        }
      }
      at = afterSpace(bytes, at);
      if (bytes[at] !== COMMA) break;
      at = afterSpace(bytes, at + 1);
    }
    same.sameNext = own.count - sameFrom;
    return bytes[at] === CLOSE_OBJECT ? at : NOT_PLAIN;
  }

  /** Whether the next members, with the byte behind them, are those of the event before. Then they are taken over. */
  #isSame(at: number, wanted: number): boolean {
    const bytes = this.#bytes;
    const [own, last, values] = [this.#own, this.#last, this.values];
    const from = own.count;
    const count = Math.min(wanted, last.count - from);
    const lastAt = last.keys[from]!;
    const lastUntil = values[last.valuesAt + 2 * (from + count) - 1]! + 1;
    const until = at + lastUntil - lastAt;
    if (until > bytes.length || bytes.compare(bytes, lastAt, lastUntil, at, until) !== 0) return false;
    const shift = at - lastAt;
    for (let place = from; place < from + count; place += 1) {
      own.keys[place] = last.keys[place]! + shift;
      own.steps[place] = last.steps[place]!;
      values[own.valuesAt + 2 * place] = values[last.valuesAt + 2 * place]! + shift;
      values[own.valuesAt + 2 * place + 1] = values[last.valuesAt + 2 * place + 1]! + shift;
    }
    own.count = from + count;
    return true;
  }

  #hasSameValue(place: number): boolean {
    const bytes = this.#bytes;
    const [own, last, values] = [this.#own, this.#last, this.values];
    if (own.steps[place] !== last.steps[place]) return false;
    const at = values[own.valuesAt + 2 * place]!;
    const until = values[own.valuesAt + 2 * place + 1]!;
    const lastAt = values[last.valuesAt + 2 * place]!;
    if (values[last.valuesAt + 2 * place + 1]! - lastAt !== until - at) return false;
    for (let index = at; index < until; index += 1) if (bytes[index] !== bytes[lastAt + index - at]) return false;
    return true;
  }

  #makeRoom(): void {
    if (this.valuesAt + 2 * PROPERTIES_MAX <= this.values.length) return;
    const larger = new Int32Array(this.values.length * 2);
    larger.set(this.values);
    this.values = larger;
  }
}
