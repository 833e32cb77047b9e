import { elapsedMs } from "./clock.ts";
import { messageOf } from "./errors.ts";
import type { Log } from "./log.ts";
import { within } from "./within.ts";

/** `stop` is told how long it may take. */
type Part = { name: string; stop: (ms: number) => Promise<void> | void };
type Stage = { ms: number; parts: readonly Part[] };

/**
 * What has been started, in the order of its start. It stops in reverse, the parts of a stage at the same time. Each stage
 * has its time, and what the stages before it have left over. A part that hangs (a silent database, a slow platform) is
 * left behind: the process is about to end, and an end at any instant loses nothing that was acknowledged.
 */
export class Stages {
  readonly #log: Log;
  readonly #stages: Stage[] = [];

  constructor(log: Log) {
    this.#log = log;
  }

  add(ms: number, ...parts: Part[]): void {
    this.#stages.push({ ms, parts });
  }

  async stop(): Promise<void> {
    let allowedMs = 0;
    for (const { ms, parts } of this.#stages.splice(0).reverse()) {
      allowedMs += ms;
      const startedMs = elapsedMs();
      await Promise.all(parts.map((part) => this.#stopPart(part, allowedMs)));
      allowedMs = Math.max(0, Math.round(allowedMs - (elapsedMs() - startedMs)));
    }
  }

  async #stopPart({ name, stop }: Part, ms: number): Promise<void> {
    try {
      await within(ms, Promise.resolve(stop(ms)));
    } catch (error) {
      this.#log.warn({ part: name, reason: messageOf(error) }, "A part of the server did not stop; it is left behind.");
    }
  }
}
