import type { FastifyInstance } from "fastify";

const BEGIN_AFTER_MS = 30_000;
const PIECE_AFTER_MS = 100;

/**
 * What is made once and takes long, up to a tenth of a second: validators of large schemas, the description of all operations.
 * The first request that needs such a thing would hold up all others, so the server makes it beforehand, a piece at a time.
 * It does not do so while it starts, which would take half as long again.
 */
export class WarmUp {
  readonly #pieces: (() => unknown)[] = [];
  #timer: NodeJS.Timeout | undefined;

  add(piece: () => unknown): void {
    this.#pieces.push(piece);
  }

  /** Begins when the server has listened for a while, and ends with it. */
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

/** Makes a thing when it is first asked for. */
export function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
