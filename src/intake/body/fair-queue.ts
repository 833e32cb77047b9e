/** A queue in which each owner takes turns: one who adds a hundred things delays the others by one of them. */
export class FairQueue<Owner, Item> {
  /** Each with something waiting, whoever's turn is next first. */
  readonly #waiting = new Map<Owner, Item[]>();

  add(owner: Owner, item: Item): void {
    const items = this.#waiting.get(owner);
    if (items) items.push(item);
    else this.#waiting.set(owner, [item]);
  }

  take(): Item | undefined {
    for (const [owner, items] of this.#waiting) {
      this.#waiting.delete(owner);
      const item = items.shift();
      if (items.length > 0) this.#waiting.set(owner, items);
      return item;
    }
    return undefined;
  }
}
