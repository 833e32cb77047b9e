import { Worker } from "node:worker_threads";
import type { FastifyInstance } from "fastify";
import { messageOf } from "../errors.ts";
import type { Log } from "../log.ts";

const BEGIN_AFTER_MS = 30_000;
const PIECE_AFTER_MS = 100;

/**
 * Slow one-time work of up to a tenth of a second each: validators of large schemas, the description of all operations,
 * the files of the console. The first request that needs it would hold up all others, so the server does it beforehand,
 * one piece at a time, but not during the start, which would take half as long again.
 */
export class WarmUp {
  readonly #log: Pick<Log, "warn">;
  readonly #pieces: (() => unknown)[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(log: Pick<Log, "warn">) {
    this.#log = log;
  }

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
      this.#next();
      if (this.#pieces.length > 0) this.#wait(PIECE_AFTER_MS);
    }, ms).unref();
  }

  /** Whoever needs a piece that fails now meets the same failure then, and only then is it worth an error. */
  #next(): void {
    try {
      this.#pieces.shift()?.();
    } catch (error) {
      this.#log.warn({ reason: messageOf(error) }, "Something could not be prepared before it is needed.");
    }
  }
}

/**
 * Reads the certificates of all authorities, which the first connection to a platform would otherwise do. That takes
 * 40 ms in one go, so another thread does it: what it has read is the whole process's.
 */
export function readAuthorities(): void {
  const thread = new Worker('require("node:tls").createSecureContext()', { eval: true });
  // Without the thread, the first connection reads them after all.
  thread.on("error", () => {}).unref();
}

/** Makes a value when it is first needed, and keeps it. */
export function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
