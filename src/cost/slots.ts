/** Runs a limited number of tasks at a time; the others wait for their turn. */
export class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** `first` puts the task before all waiting ones. */
  async run<T>(turn: "first" | "last", work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else {
      await new Promise<void>((start) => (turn === "first" ? this.#waiting.unshift(start) : this.#waiting.push(start)));
    }
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    }
  }
}
