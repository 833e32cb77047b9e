/** Whether one holder has more than an even share of the upper half of a shared room. */
export function isOverShare(room: { used: number; max: number; held: number; holders: number }): boolean {
  return room.used > room.max / 2 && room.held > room.max / 2 / room.holders;
}

/**
 * A room that many holders share: bytes in memory, a queue, a disk. Half of it is first come, first served. Beyond that,
 * only holders with less than an even share of the other half get more, so that a greedy holder takes nothing from the
 * others.
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
    // Who holds nothing is no holder.
    if (amount === 0) return "taken";
    const held = this.#held.get(key);
    const after = this.#used + amount;
    if (after > this.max) return "full";
    const holders = this.#held.size + (held === undefined ? 1 : 0);
    if (isOverShare({ used: after, max: this.max, held: (held ?? 0) + amount, holders })) return "over_share";
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

  /** Gives back everything of all holders. */
  giveAll(): void {
    this.#used = 0;
    this.#held.clear();
  }
}
