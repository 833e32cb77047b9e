import { write, writeSync } from "node:fs";

/** How long a reader that is behind gets before the next attempt, and how many attempts at the end of the process. */
const BUSY_MS = 100;
const LAST_ATTEMPTS = 20;
const LINE_END = 0x0a;
/** The text that may wait for a reader that is behind. Further lines are dropped. */
const WAITING_LENGTH_MAX = 1_048_576;
const NOTHING = Buffer.alloc(0);

/**
 * The log's way into a file or a pipe, one write at a time. Lines that cannot be written, as on a full disk or for a
 * reader that is far behind, are dropped, and the next ones are tried again. pino's own destination would end the process over them instead, or wait
 * for space for ever when the process ends.
 */
export class LogOutput {
  readonly #fd: number;
  /** Lines that came during the write under way. */
  #waiting = "";
  #isWriting = false;
  /** Whether the last bytes written are the beginning of a line whose rest was dropped. */
  #isTorn = false;

  constructor(fd: number) {
    this.#fd = fd;
  }

  write(line: string): void {
    if (this.#waiting.length < WAITING_LENGTH_MAX) this.#waiting += line;
    if (!this.#isWriting) this.#put(this.#take());
  }

  /** Writes what waits before the process ends. pino calls it after a fatal line. */
  flushSync(): void {
    let rest = this.#take();
    for (let attempt = 0; attempt < LAST_ATTEMPTS && rest.length > 0; attempt++) {
      try {
        rest = this.#after(rest, writeSync(this.#fd, rest));
      } catch (error) {
        if (!isBusy(error)) return;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_MS);
      }
    }
  }

  #put(bytes: Buffer): void {
    this.#isWriting = true;
    write(this.#fd, bytes, (error, written) => {
      if (isBusy(error)) {
        setTimeout(() => this.#put(bytes), BUSY_MS);
        return;
      }
      const rest = error ? NOTHING : this.#after(bytes, written);
      const next = rest.length > 0 ? rest : this.#take();
      if (next.length > 0) this.#put(next);
      else this.#isWriting = false;
    });
  }

  /** What waits, on a line of its own. */
  #take(): Buffer {
    const bytes = Buffer.from(this.#isTorn && this.#waiting !== "" ? `\n${this.#waiting}` : this.#waiting);
    this.#waiting = "";
    return bytes;
  }

  /** What is left when so many bytes are written. */
  #after(bytes: Buffer, written: number): Buffer {
    if (written > 0) this.#isTorn = bytes[written - 1] !== LINE_END;
    return bytes.subarray(written);
  }
}

function isBusy(error: unknown): boolean {
  return ["EAGAIN", "EBUSY"].includes((error as NodeJS.ErrnoException | null)?.code ?? "");
}
