/**
 * How long a server leads a stream before its word counts. What was acknowledged under the leader before is safe with it,
 * but at first it may not have taken it in yet, and then tells an end from before it.
 */
const NEW_MS = 500;

/** The server that leads a stream, as far as its answers say. A server without a cluster has no name and is never new. */
export class Leader {
  #name: string;
  #sinceMs: number;

  constructor(name: string | undefined, nowMs: number) {
    this.#name = name ?? "";
    this.#sinceMs = nowMs;
  }

  /** Takes note of who has answered. */
  heard(name: string | undefined, nowMs: number): void {
    if ((name ?? "") === this.#name) return;
    this.#name = name ?? "";
    this.#sinceMs = nowMs;
  }

  /** The time until its word counts; 0 when it does. */
  newForMs(nowMs: number): number {
    return this.#name === "" ? 0 : Math.max(0, this.#sinceMs + NEW_MS - nowMs);
  }
}
