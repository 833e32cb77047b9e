/** Texts that are remembered; a power of two. */
const PLACES = 2_048;
const BYTES_MAX = 64;

type Remembered = { bytes: Uint8Array; text: string };

/** Short texts that come again and again, such as names of events: each is made of its bytes once. */
export class TextMemory {
  readonly #places: (Remembered | undefined)[] = new Array(PLACES).fill(undefined);

  /** The text that stands in [from, until). */
  textAt(bytes: Buffer, from: number, until: number): string {
    if (until - from > BYTES_MAX) return bytes.toString("utf8", from, until);
    let hash = 0;
    for (let at = from; at < until; at += 1) hash = (hash * 31 + bytes[at]!) | 0;
    const place = hash & (PLACES - 1);
    const known = this.#places[place];
    if (known && isSame(known.bytes, bytes, from, until)) return known.text;
    const text = bytes.toString("utf8", from, until);
    this.#places[place] = { bytes: new Uint8Array(bytes.subarray(from, until)), text };
    return text;
  }
}

function isSame(known: Uint8Array, bytes: Uint8Array, from: number, until: number): boolean {
  if (known.length !== until - from) return false;
  for (let index = 0; index < known.length; index += 1) if (bytes[from + index] !== known[index]) return false;
  return true;
}
