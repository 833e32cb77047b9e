/** Random choices that follow from a seed, so that a failure is repeated by its number. */
export class Luck {
  #state: number;

  constructor(seed: number) {
    this.#state = (seed * 0x9e3779b9) >>> 0;
  }

  /** From 0 until 1. */
  share(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** From 0 until `below`. */
  below(below: number): number {
    return Math.floor(this.share() * below);
  }

  between(from: number, to: number): number {
    return from + this.below(to - from + 1);
  }

  isTrue(share = 0.5): boolean {
    return this.share() < share;
  }

  of<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)]!;
  }

  /** So many items, each made anew. */
  some<T>(from: number, to: number, make: (index: number) => T): T[] {
    return Array.from({ length: this.between(from, to) }, (_, index) => make(index));
  }

  /** The value, or undefined. */
  maybe<T>(make: () => T, share = 0.5): T | undefined {
    return this.isTrue(share) ? make() : undefined;
  }
}

/** By bytes, as the database sorts texts. JavaScript compares UTF-16 units, which sorts some texts differently. */
export function byBytes(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other));
}

/** Seeds of so many markets. They are the same in every run; SEED=7 tries others, SEED=random new ones. */
export function seeds(count: number): number[] {
  const { SEED = "1" } = process.env;
  const first = SEED === "random" ? Math.floor(Math.random() * 1e6) : Number(SEED);
  return Array.from({ length: count }, (_, index) => first * 1_000 + index);
}
