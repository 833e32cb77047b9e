import type { Place, Position } from "../journal/entry-log.ts";
import { LIMITS } from "../limits.ts";

type Mark = { until: Position; byApp: Map<number, number> };

/** The half-life of bytes in `lately`. */
const HALF_LIFE_MS = 3_600_000;

/**
 * The bytes that each app has waiting in the journal, and the bytes that each has written lately. Counted per flush,
 * not per entry. Bytes left by an earlier process belong to no app.
 */
export class AppBacklog {
  /** The flushes that wait, by partition. */
  readonly #marks = new Map<number, Mark[]>();
  #cells = 0;
  readonly #waiting = new Totals();
  readonly #written = new Totals();
  #halvedAtMs = 0;

  /** Counts a flush that has made a partition durable up to a position. */
  written({ partition, position }: Place, byApp: Map<number, number>, nowMs: number): void {
    const mark = { until: position, byApp };
    const marks = this.#marks.get(partition);
    if (marks) marks.push(mark);
    else this.#marks.set(partition, [mark]);
    this.#cells += byApp.size;
    if (this.#cells > LIMITS.backlogCells) this.#merge();
    if (nowMs - this.#halvedAtMs >= HALF_LIFE_MS) this.#halve(nowMs);
    for (const [appId, bytes] of byApp) {
      this.#waiting.add(appId, bytes);
      this.#written.add(appId, bytes);
    }
  }

  /** Removes the flushes that are applied. A partly applied flush still counts whole. */
  applied({ partition, position }: Place): void {
    const marks = this.#marks.get(partition) ?? [];
    const first = marks.findIndex(({ until }) => until > position);
    for (const { byApp } of marks.splice(0, first < 0 ? marks.length : first)) {
      this.#cells -= byApp.size;
      for (const [appId, bytes] of byApp) this.#waiting.add(appId, -bytes);
    }
  }

  get waiting(): Totals {
    return this.#waiting;
  }

  get lately(): Totals {
    return this.#written;
  }

  /**
   * Merges marks in pairs to save memory. Each app's waiting bytes stay exact; the position at which they count as
   * applied becomes coarser.
   */
  #merge(): void {
    this.#cells = 0;
    for (const [partition, marks] of this.#marks) {
      const merged = pairs(marks);
      this.#marks.set(partition, merged);
      this.#cells += merged.reduce((sum, { byApp }) => sum + byApp.size, 0);
    }
  }

  #halve(nowMs: number): void {
    this.#halvedAtMs = nowMs;
    for (const appId of [...this.#written.apps()]) this.#written.add(appId, -Math.ceil(this.#written.of(appId) / 2));
  }
}

function pairs(marks: readonly Mark[]): Mark[] {
  const merged: Mark[] = [];
  for (let index = 0; index < marks.length; index += 2) {
    const [one, next] = [marks[index]!, marks[index + 1]];
    for (const [appId, bytes] of next?.byApp ?? []) one.byApp.set(appId, (one.byApp.get(appId) ?? 0) + bytes);
    merged.push({ until: next?.until ?? one.until, byApp: one.byApp });
  }
  return merged;
}

/** Bytes by app. */
export class Totals {
  readonly #byApp = new Map<number, number>();
  #all = 0;

  get all(): number {
    return this.#all;
  }

  of(appId: number): number {
    return this.#byApp.get(appId) ?? 0;
  }

  apps(): Iterable<number> {
    return this.#byApp.keys();
  }

  get count(): number {
    return this.#byApp.size;
  }

  add(appId: number, bytes: number): void {
    const after = this.of(appId) + bytes;
    this.#all += bytes;
    if (after > 0) this.#byApp.set(appId, after);
    else this.#byApp.delete(appId);
  }
}
