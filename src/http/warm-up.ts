import type { FastifyInstance } from "fastify";

const BEGIN_AFTER_MS = 30_000;
const PIECE_AFTER_MS = 100;

/**
 * Slow one-time work of up to a tenth of a second each: validators of large schemas, the description of all operations,
 * the files of the console. The first request that needs it would hold up all others, so the server does it beforehand,
 * one piece at a time, but not during the start, which would take half as long again.
 */
export class WarmUp {
  readonly #pieces: (() => unknown)[] = [];
  #timer: NodeJS.Timeout | undefined;

  add(piece: () => unknown): void {
    this.#pieces.push(piece);
  }

  /** Begins when the server has been listening for a while, and ends when it closes. */
  follow(server: FastifyInstance): void {
    server.addHook("onListen", async () => this.#wait(BEGIN_AFTER_MS));
    server.addHook("onClose", async () => clearTimeout(this.#timer));
  }

  #wait(ms: number): void {
    this.#timer = setTimeout(() => {
      this.#pieces.shift()?.();
      if (this.#pieces.length > 0) this.#wait(PIECE_AFTER_MS);
    }, ms).unref();
  }
}

/** Makes a value when it is first needed, and keeps it. */
export function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
