/**
 * Room that many share: bytes in memory, a queue, a disk. Up to half of it is for whoever comes first. Beyond that, only
 * who holds less than an even share of the other half gets more, so that one who takes all that he can get never takes
 * it from the others.
 *
 *   0 ──────────── first come ──────────── max / 2 ──── up to (max / 2) / holders each ──── max: full
 */
export class SharedRoom<Key> {
  readonly max: number;
  #used = 0;
  readonly #held = new Map<Key, number>();

  constructor(max: number) {
    this.max = max;
  }

  get used(): number {
    return this.#used;
  }

  take(key: Key, amount: number): "taken" | "over_share" | "full" {
    const held = this.#held.get(key);
    const after = this.#used + amount;
    if (after > this.max / 2) {
      if (after > this.max) return "full";
      const holders = this.#held.size + (held === undefined ? 1 : 0);
      if ((held ?? 0) + amount > this.max / 2 / holders) return "over_share";
    }
    this.#used = after;
    this.#held.set(key, (held ?? 0) + amount);
    return "taken";
  }

  give(key: Key, amount: number): void {
    const left = (this.#held.get(key) ?? 0) - amount;
    this.#used -= amount;
    if (left > 0) this.#held.set(key, left);
    else this.#held.delete(key);
  }
}
