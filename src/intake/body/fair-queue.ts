/** A queue in which owners take turns: one that adds a hundred items delays the others by only one item at a time. */
export class FairQueue<Owner, Item> {
  /** The waiting items by owner, the owner whose turn is next first. */
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
