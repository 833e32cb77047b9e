import { elapsedMs } from "../clock.ts";
import type { EntryLog, Place, Position } from "../journal/entry-log.ts";

/** How long apply may be silent while somebody waits for it. Longer than any batch that is merely slow. */
const HANG_MS = 5_000;

/** How far apply has come, as the HTTP side knows it. */
export class Progress {
  readonly #applied: Position[];
  readonly #partitionOf: EntryLog["partitionOf"];
  /** Of each partition. */
  readonly #receivedAtMs: number[];
  #waiting: (Place & { end: (isApplied: boolean) => void })[] = [];
  #isStalled = false;
  /** Since when somebody has been waiting while nothing was applied. */
  #quietSinceMs: number | undefined;
  readonly #now: () => number;

  /** `applied`: the cursors of all partitions. */
  constructor(
    { applied, partitionOf }: { applied: readonly Position[]; partitionOf: EntryLog["partitionOf"] },
    now: () => number = elapsedMs,
  ) {
    this.#applied = [...applied];
    this.#receivedAtMs = applied.map(() => 0);
    this.#partitionOf = partitionOf;
    this.#now = now;
  }

  /** The position of each partition. */
  get applied(): readonly Position[] {
    return this.#applied;
  }

  /** Server time at which the newest applied entry of a partition was received. */
  receivedAtMs(partition: number): number {
    return this.#receivedAtMs[partition]!;
  }

  /** Whether somebody waits. */
  get isAwaited(): boolean {
    return this.#waiting.length > 0;
  }

  advance({ partition, position }: Place, receivedAtMs: number): void {
    this.#applied[partition] = position;
    this.#receivedAtMs[partition] = receivedAtMs;
    this.#isStalled = false;
    this.#quietSinceMs = undefined;
    if (this.#waiting.length === 0) return;
    const due = this.#waiting.filter((waiting) => this.#isPast(waiting));
    this.#waiting = this.#waiting.filter((waiting) => !this.#isPast(waiting));
    for (const { end } of due) end(true);
  }

  /** Notes that apply is stuck, or goes on. Nobody waits for it meanwhile. */
  stall(isStalled: boolean): void {
    this.#isStalled = isStalled;
    if (isStalled) for (const { end } of this.#waiting.splice(0)) end(false);
  }

  /**
   * Resolves with true once everything before `position` in the partition of an app has been applied, or with false after
   * `timeoutMs`.
   */
  waitFor({ appId, position }: { appId: number; position: Position }, timeoutMs: number): Promise<boolean> {
    return this.waitForPlace({ partition: this.#partitionOf(appId), position }, timeoutMs);
  }

  /** The same for all partitions, each up to its own position. */
  async waitForAll(positions: readonly Position[], timeoutMs: number): Promise<boolean> {
    const waiting = positions.map((position, partition) => this.waitForPlace({ partition, position }, timeoutMs));
    return (await Promise.all(waiting)).every((isApplied) => isApplied);
  }

  /** The same for a place. */
  async waitForPlace({ partition, position }: Place, timeoutMs: number): Promise<boolean> {
    if (this.#isPast({ partition, position })) return true;
    if (this.#isStalled || this.#hangs()) return false;
    return new Promise((done) => {
      const end = (isApplied: boolean) => {
        clearTimeout(timer);
        done(isApplied);
      };
      const timer = setTimeout(() => {
        this.#waiting = this.#waiting.filter((other) => other.end !== end);
        done(false);
      }, timeoutMs);
      this.#waiting.push({ partition, position, end });
    });
  }

  #isPast({ partition, position }: Place): boolean {
    return this.#applied[partition]! >= position;
  }

  /** Whether callers have waited for long without anything being applied: apply hangs without being able to say so. */
  #hangs(): boolean {
    this.#quietSinceMs ??= this.#now();
    return this.#now() - this.#quietSinceMs > HANG_MS;
  }
}
