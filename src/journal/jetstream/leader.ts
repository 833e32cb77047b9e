/**
 * How long a server leads a stream before its word counts. What was acknowledged under the leader before is safe with it,
 * but at first it may not have taken it in yet, and then reports an earlier end. Half a second is an estimate: taking in
 * is a matter of milliseconds.
 */
const NEW_MS = 500;

/**
 * The server that leads a stream, as far as its answers say: empty while there is none, undefined where a single server
 * holds the stream. One that lost the lead and has it again between two answers is not recognised as new.
 */
export class Leader {
  #name: string | undefined;
  #sinceMs: number;

  constructor(name: string | undefined, nowMs: number) {
    this.#name = name;
    this.#sinceMs = nowMs;
  }

  /** Takes note of who has answered. */
  heard(name: string | undefined, nowMs: number): void {
    if (name === this.#name && name !== "") return;
    this.#name = name;
    this.#sinceMs = nowMs;
  }

  /** Whoever answers next counts as new: nobody knows what happened meanwhile. */
  forget(): void {
    if (this.#name !== undefined) this.#name = "";
  }

  /** The time until its word counts; 0 when it does. */
  newForMs(nowMs: number): number {
    return this.#name === undefined ? 0 : Math.max(0, this.#sinceMs + NEW_MS - nowMs);
  }
}
