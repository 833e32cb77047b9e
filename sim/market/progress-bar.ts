import { elapsedMs } from "../../src/clock.ts";

const WIDTH = 30;

/** One line that grows on a terminal; in a file, one line for each step begun. */
export class ProgressBar {
  readonly #startedMs = elapsedMs();
  #what = "";

  step(what: string, share: number): void {
    if (process.stderr.isTTY) {
      const filled = Math.round(Math.min(1, Math.max(0, share)) * WIDTH);
      const bar = "█".repeat(filled) + "░".repeat(WIDTH - filled);
      process.stderr.write(
        `\r${what.padEnd(20)} ${bar} ${(share * 100).toFixed(0).padStart(3)} %  ${this.#seconds()} s `,
      );
    } else if (what !== this.#what) {
      process.stderr.write(`${what} …\n`);
    }
    this.#what = what;
  }

  end(): void {
    if (process.stderr.isTTY) process.stderr.write(`\r${" ".repeat(WIDTH + 42)}\r`);
  }

  #seconds(): string {
    return ((elapsedMs() - this.#startedMs) / 1000).toFixed(0);
  }
}
