import { jsonbOrder } from "../fingerprint.ts";
import { isOfOrigin } from "../origin.ts";
import { BACKSLASH, isAt, NINE, QUOTE, SPACE, ZERO } from "./plain-value.ts";

/** Longer keys are no names of properties. */
const KEY_BYTES_MAX = 100;

/** Different keys that may follow the same ones. Beyond that, the oldest is forgotten. */
const BRANCHES_MAX = 16;

/** A step takes some 400 bytes of memory, and a key of a shape 50. */
const STEP_WEIGHT = 8;
/** What is remembered. Beyond that all is forgotten: apps have few lists of keys, and somebody may make up any number. */
const WEIGHT_MAX = 64_000;

/** The keys of properties, in the order in which they were sent. */
export class KeyShape {
  readonly keys: readonly string[];
  #sorted: readonly ShapeKey[] | undefined;
  #origin: readonly ShapeKey[] | undefined;
  #rest: readonly ShapeKey[] | undefined;

  constructor(keys: readonly string[]) {
    this.keys = keys;
  }

  /** The same keys as the canonical text has them, each with its place among those that were sent. */
  get sorted(): readonly ShapeKey[] {
    this.#sorted ??= this.keys
      .map((key, place) => ({ key, place, opening: Buffer.from(`"${key}":`) }))
      .sort((left, right) => jsonbOrder(left.key, right.key));
    return this.#sorted;
  }

  /** Those of the origin. */
  get origin(): readonly ShapeKey[] {
    this.#origin ??= this.sorted.filter(({ key }) => isOfOrigin(key));
    return this.#origin;
  }

  /** All others. */
  get rest(): readonly ShapeKey[] {
    this.#rest ??= this.sorted.filter(({ key }) => !isOfOrigin(key));
    return this.#rest;
  }
}

/** `opening`: the key with its quotes and colon. */
export type ShapeKey = { readonly key: string; readonly place: number; readonly opening: Buffer };

/** A key after those before it. */
type Step = {
  readonly text: string;
  /** The key as it is sent, up to its closing quote. */
  readonly bytes: Uint8Array;
  readonly before: Step | undefined;
  /** The number of keys up to this one. */
  readonly count: number;
  next: Step[];
  /** The branch that makes room for the next one. */
  oldest: number;
  shape: KeyShape | undefined;
  /** How many of the next members were the same, byte for byte, in the event before. */
  sameNext: number;
};

/**
 * Knows the lists of keys that events come with. Nearly every event has the keys of an earlier one in the same order, so a key
 * is compared with the one that followed last time, and not read:
 *
 *   {"$os":…,"level":…}   start ─▶ "$os" ─┬─▶ "level"   (the shape of these two)
 *                                         └─▶ "$ecpm"
 */
export class KeyShapes {
  #start = newStep("", undefined);
  #weight = 0;

  get start(): Step {
    return this.#start;
  }

  /**
   * The step for the key that begins at `at`, after its quote. Undefined for a key that would have to be read with care: one
   * with escapes, one that repeats an earlier one, or one that an object would not keep in its place.
   */
  stepAt(before: Step, bytes: Uint8Array, at: number): Step | undefined {
    const { next } = before;
    for (let index = 0; index < next.length; index += 1) {
      const step = next[index]!;
      if (isAt(bytes, at, step.bytes)) return step;
    }
    return this.#add(before, bytes, at);
  }

  /** The shape of the keys up to a step. */
  shapeOf(last: Step): KeyShape {
    if (!last.shape) {
      last.shape = shapeUpTo(last);
      this.#weigh(last.count);
    }
    return last.shape;
  }

  #add(before: Step, bytes: Uint8Array, at: number): Step | undefined {
    const until = endOfKey(bytes, at);
    if (until < 0) return undefined;
    const text = Buffer.from(bytes.buffer, bytes.byteOffset + at, until - at).toString("utf8");
    if (text === "__proto__" || isNumbered(bytes[at]!)) return undefined;
    for (let step: Step | undefined = before; step; step = step.before) if (step.text === text) return undefined;
    this.#weigh(STEP_WEIGHT);
    const step = newStep(text, before);
    if (before.next.length < BRANCHES_MAX) before.next.push(step);
    else {
      before.next[before.oldest] = step;
      before.oldest = (before.oldest + 1) % BRANCHES_MAX;
    }
    return step;
  }

  #weigh(more: number): void {
    this.#weight += more;
    if (this.#weight <= WEIGHT_MAX) return;
    // The event that is being read keeps its steps, which nothing leads to any more.
    this.#start = newStep("", undefined);
    this.#weight = 0;
  }
}

export type { Step as KeyStep };

function newStep(text: string, before: Step | undefined): Step {
  const bytes = new Uint8Array(Buffer.from(`${text}"`));
  const count = before ? before.count + 1 : 0;
  return { text, bytes, before, count, next: [], oldest: 0, shape: undefined, sameNext: 0 };
}

/** Where a key ends; negative when it has escapes or is too long for a name. */
function endOfKey(bytes: Uint8Array, from: number): number {
  const until = Math.min(bytes.length, from + KEY_BYTES_MAX);
  for (let at = from; at < until; at += 1) {
    const byte = bytes[at]!;
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH || byte < SPACE) return -1;
  }
  return -1;
}

/** Objects put keys that look like numbers before all others. */
function isNumbered(byte: number): boolean {
  return byte >= ZERO && byte <= NINE;
}

function shapeUpTo(last: Step): KeyShape {
  const keys: string[] = new Array(last.count);
  // The start has no key of its own.
  for (let step = last; step.before; step = step.before) keys[step.count - 1] = step.text;
  return new KeyShape(keys);
}
