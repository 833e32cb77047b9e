import { CODES } from "../../errors.ts";
import { LIMITS, MIB } from "../../limits.ts";
import type { AnsweredCall, Told } from "./told.ts";
import { hasWantedEvent, isWantedBy, type Watched, type Watching } from "./watching.ts";

/** Bytes of remembered calls that are parsed to find those that a new watcher wants. */
const PARSED_BYTES_MAX = 1 * MIB;

/** One call per interval is remembered; faulty calls have a shorter interval. */
const SAMPLE_MS = { usual: 250, faulty: 50 } as const;
/** Samples that may follow each other at once after a quiet time, so that all calls of a small app are remembered. */
const SAMPLES_AT_ONCE = 50;

/** The traffic of one app. */
export class AppTraffic {
  readonly watching = new Set<Watching>();
  bytes = 0;
  quietUntilMs = 0;
  remembered: Told[] = [];
  readonly #dueMs = { usual: 0, faulty: 0 };

  /**
   * The newest wanted calls after an id, oldest first, up to the size of a stream's buffer. Texts are parsed to find
   * event names in them, up to a limit.
   */
  newest(watched: Watched, afterId: number): Told[] {
    const newest: Told[] = [];
    let [toldBytes, parsedBytes] = [0, 0];
    for (const told of this.remembered.toReversed()) {
      const { head, text } = told;
      if (head.id <= afterId || parsedBytes > PARSED_BYTES_MAX) break;
      if (!isWantedBy(watched, head)) continue;
      if (watched.event !== "") parsedBytes += text.length;
      if (!hasWantedEvent(watched, told)) continue;
      toldBytes += text.length;
      if (toldBytes > LIMITS.liveStreamBytes) break;
      newest.push(told);
    }
    return newest.reverse();
  }

  takesSample({ at_ms, debug, code, errors }: AnsweredCall): boolean {
    const kind = code === CODES.ok.code && errors.length === 0 ? "usual" : "faulty";
    if (debug) return true;
    const isDue = at_ms >= this.#dueMs[kind];
    const aheadMs = (SAMPLES_AT_ONCE - 1) * SAMPLE_MS[kind];
    // A token bucket: each sample takes one interval, and at most SAMPLES_AT_ONCE intervals are saved up.
    if (isDue) this.#dueMs[kind] = Math.max(this.#dueMs[kind], at_ms - aheadMs) + SAMPLE_MS[kind];
    this.#quieten();
    return isDue;
  }

  remember(call: Told): void {
    this.remembered.push(call);
    this.bytes += call.text.length;
    if (this.remembered.length > LIMITS.liveCalls) this.dropOldest();
  }

  dropOldest(): number {
    const length = this.remembered.shift()?.text.length ?? 0;
    this.bytes -= length;
    return length;
  }

  forget(quoted: string): void {
    this.remembered = this.remembered.filter(({ text }) => !text.includes(quoted));
    this.bytes = this.remembered.reduce((sum, { text }) => sum + text.length, 0);
  }

  add(watching: Watching): void {
    this.watching.add(watching);
    this.#quieten();
  }

  remove(watching: Watching): boolean {
    const wasThere = this.watching.delete(watching);
    this.#quieten();
    return wasThere;
  }

  missed(): void {
    for (const watching of this.watching) watching.miss();
  }

  #quieten(): void {
    this.quietUntilMs = this.watching.size > 0 ? 0 : this.#dueMs.usual;
  }
}
