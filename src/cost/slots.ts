/** Runs a limited number of tasks at a time; the others wait for their turn. */
export class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** `first` puts the task before all waiting ones. */
  async run<T>(place: "first" | "last", work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else {
      await new Promise<void>((turn) => (place === "first" ? this.#waiting.unshift(turn) : this.#waiting.push(turn)));
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
