import { LIMITS } from "../../limits.ts";

/**
 * How far a replica is behind the primary. Positions in the write-ahead log are compared, never the clocks of two
 * machines: what the primary had written at a moment is on the replica once it has replayed that position.
 */
export class ReplicaLag {
  /** Positions of the primary that the replica has not confirmed, oldest first. */
  #waiting: { position: number; atMs: number }[] = [];
  /** The replica has everything that was committed before this moment. */
  #wholeUntilMs: number | undefined;

  /** The primary's position, asked for at this moment or later. */
  notePrimary(position: number, atMs: number): void {
    this.#waiting = this.#waiting.filter((one) => one.atMs >= atMs - LIMITS.replicaLagMs);
    this.#waiting.push({ position, atMs });
  }

  noteReplica(position: number): void {
    const replayed = this.#waiting.filter((one) => one.position <= position);
    this.#wholeUntilMs = replayed.at(-1)?.atMs ?? this.#wholeUntilMs;
    this.#waiting = this.#waiting.filter((one) => one.position > position);
  }

  /** Anything committed in this last span of time may be missing. Undefined: too much, or not known. */
  lagMs(nowMs: number): number | undefined {
    if (this.#wholeUntilMs === undefined) return undefined;
    const lagMs = Math.max(0, nowMs - this.#wholeUntilMs);
    return lagMs <= LIMITS.replicaLagMs ? lagMs : undefined;
  }
}
