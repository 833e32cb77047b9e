import type { ServerResponse } from "node:http";
import { KIB } from "../../limits.ts";

/** How long messages gather before they are written together. Nobody sees the delay. */
const GATHER_MS = 50;
/** Bytes of one write, which is all that is copied for a watcher who reads nothing. */
const WRITE_BYTES = 64 * KIB;

/**
 * The messages that wait for one watcher. They wait here, where all watchers share the same copy, and not in the
 * connection, which makes several objects of each: a hundred watchers who read nothing left half a million of them to
 * the garbage collector, which then held the event loop for up to 64 ms.
 */
export class Unsent {
  readonly #connection: ServerResponse;
  #waiting: Buffer[] = [];
  #bytes = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(connection: ServerResponse) {
    this.#connection = connection;
    connection.on("drain", () => this.#write());
    connection.on("close", () => clearTimeout(this.#timer));
  }

  get bytes(): number {
    return this.#bytes;
  }

  add(message: Buffer): void {
    this.#waiting.push(message);
    this.#bytes += message.length;
    this.#timer ??= setTimeout(() => this.#write(), GATHER_MS);
  }

  /** Ends the connection after what waits. Who has not read what was written before gets no more. */
  end(): void {
    if (this.#connection.writableEnded) return;
    if (this.#connection.writableNeedDrain) this.#connection.end();
    else this.#connection.end(this.#take(Number.POSITIVE_INFINITY));
  }

  #write(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const { writableEnded, destroyed } = this.#connection;
    if (writableEnded || destroyed) return;
    while (this.#bytes > 0 && !this.#connection.writableNeedDrain) this.#connection.write(this.#take(WRITE_BYTES));
  }

  /** The oldest messages: at least one, and as many as fit into `bytesMax`. */
  #take(bytesMax: number): Buffer {
    let [count, bytes] = [0, 0];
    for (const { length } of this.#waiting) {
      if (count > 0 && bytes + length > bytesMax) break;
      count += 1;
      bytes += length;
    }
    this.#bytes -= bytes;
    const taken = this.#waiting.splice(0, count);
    // One message is written as it is, so that a large one stays shared.
    return taken.length === 1 && taken[0] ? taken[0] : Buffer.concat(taken, bytes);
  }
}
