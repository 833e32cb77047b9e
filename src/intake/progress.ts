/** How far apply has come, as the HTTP side knows it. */
export class Progress {
  #applied: number;
  #receivedAtMs = 0;
  #waiting: { position: number; resolve: () => void }[] = [];

  constructor(applied: number) {
    this.#applied = applied;
  }

  get applied(): number {
    return this.#applied;
  }

  /** Server time at which the newest applied entry was received. */
  get receivedAtMs(): number {
    return this.#receivedAtMs;
  }

  advance(position: number, receivedAtMs: number): void {
    this.#applied = position;
    this.#receivedAtMs = receivedAtMs;
    if (this.#waiting.length === 0) return;
    const due = this.#waiting.filter((waiting) => waiting.position <= position);
    this.#waiting = this.#waiting.filter((waiting) => waiting.position > position);
    for (const { resolve } of due) resolve();
  }

  /** Resolves with true once everything before `position` has been applied, or with false after `timeoutMs`. */
  async waitFor(position: number, timeoutMs: number): Promise<boolean> {
    if (this.#applied >= position) return true;
    return new Promise((done) => {
      const waiting = {
        position,
        resolve: () => {
          clearTimeout(timer);
          done(true);
        },
      };
      const timer = setTimeout(() => {
        this.#waiting = this.#waiting.filter((other) => other !== waiting);
        done(false);
      }, timeoutMs);
      this.#waiting.push(waiting);
    });
  }
}
