/** A generator that gives the same numbers for the same seeds, on every machine. */
export class Random {
  #a: number;
  #b: number;
  #c: number;
  #count = 1;

  /** Each part of the market has its own generator, so that one more draw in one part does not change the others. */
  constructor(...seeds: readonly (string | number)[]) {
    const hash = hashes(seeds.join("\n"));
    [this.#a, this.#b, this.#c] = [hash(), hash(), hash()];
    for (let round = 0; round < 12; round += 1) this.#word();
  }

  /** A number in [0, 1). */
  next(): number {
    return this.#word() / 0x1_0000_0000;
  }

  /** A whole number, both ends included. */
  whole(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1));
  }

  between(min: number, max: number): number {
    return min + this.next() * (max - min);
  }

  chance(share: number): boolean {
    return this.next() < share;
  }

  pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.next() * list.length)]!;
  }

  weighted<T>(list: readonly T[], weightOf: (item: T) => number): T {
    let left = this.next() * list.reduce((sum, item) => sum + weightOf(item), 0);
    for (const item of list) {
      left -= weightOf(item);
      if (left < 0) return item;
    }
    return list.at(-1)!;
  }

  /** Delays of people: most are short, a few are very long. */
  skewed(median: number, spread: number): number {
    const normal = Math.sqrt(-2 * Math.log(1 - this.next())) * Math.cos(2 * Math.PI * this.next());
    return median * Math.exp(spread * normal);
  }

  digits(length: number): string {
    return Array.from({ length }, (_, index) => this.whole(index === 0 ? 1 : 0, 9)).join("");
  }

  hex(length: number): string {
    return Array.from({ length }, () => this.whole(0, 15).toString(16)).join("");
  }

  #word(): number {
    const sum = (this.#a + this.#b + this.#count) | 0;
    this.#count = (this.#count + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = (((this.#c << 21) | (this.#c >>> 11)) + sum) | 0;
    return sum >>> 0;
  }
}

function hashes(text: string): () => number {
  let state = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) state = Math.imul(state ^ text.charCodeAt(at), 0x01000193);
  return () => {
    state = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
    state = Math.imul(state ^ (state >>> 13), 0xc2b2ae35);
    state ^= state >>> 16;
    return state >>> 0;
  };
}
