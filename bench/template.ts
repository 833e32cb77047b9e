/**
 * Digits that change from request to request: `offset + floor((request × perRequest + index) / divide) % modulo`. Their
 * number is fixed, so that every request has the same length.
 */
export type Slot = {
  digits: number;
  perRequest: number;
  index: number;
  divide: number;
  modulo: number;
  offset: number;
};

/** A text with slots: one piece before each slot, and one after the last. */
export type Template = { pieces: readonly string[]; slots: readonly Slot[] };

/** Slots count requests, unless told otherwise. */
export function slot(digits: number, counting: Partial<Omit<Slot, "digits">> = {}): Slot {
  return { digits, perRequest: 1, index: 0, divide: 1, modulo: 10 ** digits, offset: 0, ...counting };
}

/** Makes a template of a text, in which slots and other templates stand. */
export function template(texts: TemplateStringsArray, ...parts: (string | number | Slot | Template)[]): Template {
  return joined(texts.flatMap((text, index) => [text, ...parts.slice(index, index + 1)]));
}

/** Parts one after the other, with a text between them. */
export function joined(parts: readonly (string | number | Slot | Template)[], between = ""): Template {
  const pieces = [""];
  const slots: Slot[] = [];
  const add = (text: string) => {
    pieces[pieces.length - 1] += text;
  };
  const addSlot = (one: Slot) => {
    slots.push(one);
    pieces.push("");
  };
  for (const [index, part] of parts.entries()) {
    if (index > 0) add(between);
    if (typeof part !== "object") add(String(part));
    else if ("digits" in part) addSlot(part);
    else {
      for (const [at, piece] of part.pieces.entries()) {
        add(piece);
        const next = part.slots[at];
        if (next) addSlot(next);
      }
    }
  }
  return { pieces, slots };
}

export function bytesOf({ pieces, slots }: Template): number {
  return Buffer.byteLength(pieces.join("")) + slots.reduce((sum, { digits }) => sum + digits, 0);
}

/** The texts made from a template, one after the other, for whoever sends them. */
export class Requests {
  readonly template: Template;
  readonly #bytes: Buffer;
  readonly #places: readonly { slot: Slot; at: number }[];
  #number = 0;

  constructor(made: Template) {
    this.template = made;
    this.#bytes = Buffer.alloc(bytesOf(made));
    const places: { slot: Slot; at: number }[] = [];
    let at = 0;
    for (const [index, piece] of made.pieces.entries()) {
      at += this.#bytes.write(piece, at);
      const next = made.slots[index];
      if (!next) continue;
      places.push({ slot: next, at });
      at += next.digits;
    }
    this.#places = places;
  }

  /** The next text: patched in place and copied, which costs next to nothing. */
  next(): Buffer {
    const request = this.take(1);
    for (const { slot: one, at } of this.#places) {
      this.#bytes.write(String(numberIn(one, request)).padStart(one.digits, "0"), at, "latin1");
    }
    return Buffer.from(this.#bytes);
  }

  /** Leaves the next texts to somebody else, and returns the number of the first. */
  take(count: number): number {
    const first = this.#number;
    this.#number += count;
    return first;
  }
}

function numberIn({ perRequest, index, divide, modulo, offset }: Slot, request: number): number {
  return offset + (Math.floor((request * perRequest + index) / divide) % modulo);
}
