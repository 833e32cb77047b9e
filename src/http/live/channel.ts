import { LIMITS } from "../../limits.ts";
import type { AnsweredCall, Told } from "./told.ts";
import { hasWantedEvent, isWantedBy, type Watched, type Watching } from "./watching.ts";

/** One call in so long is remembered; of those with something wrong, one in the shorter time. */
const SAMPLE_MS = { usual: 250, faulty: 50 } as const;
/** So many together, where there were none for a while: of an app with little traffic everything is remembered. */
const SAMPLES_AT_ONCE = 50;

/** The traffic of one app. */
export class Channel {
  readonly watching = new Set<Watching>();
  bytes = 0;
  quietUntilMs = 0;
  remembered: Told[] = [];
  readonly #dueMs = { usual: 0, faulty: 0 };

  /**
   * Of what is wanted of the calls after an id, the newest, in their order: as much as a stream holds. Texts are parsed to
   * find the names of events in them, but not without end.
   */
  newest(watched: Watched, afterId: number): Told[] {
    const newest: Told[] = [];
    let [toldBytes, parsedBytes] = [0, 0];
    for (const told of this.remembered.toReversed()) {
      const { head, text } = told;
      if (head.id <= afterId || parsedBytes > LIMITS.liveParsedBytes) break;
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
    const kind = code === 0 && errors.length === 0 ? "usual" : "faulty";
    if (debug) return true;
    const isDue = at_ms >= this.#dueMs[kind];
    const aheadMs = (SAMPLES_AT_ONCE - 1) * SAMPLE_MS[kind];
    // Each takes its time from an account that is never fuller than so many at once.
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
