import type { EventKey } from "../../db/event.ts";
import type { MarkedDay } from "../../db/lake-mark.ts";

/** New events as far as the lake must know of them. */
export class LakeNews {
  readonly #readUntilMs: ReadonlyMap<number, number>;
  readonly #days = new Map<string, MarkedDay>();
  #last: MarkedDay | undefined;
  /** Those that come after others received later have been read. */
  readonly late: EventKey[] = [];

  /** `readUntilMs`: up to which receipt events are read, for the apps that have a lake. */
  constructor(readUntilMs: ReadonlyMap<number, number>) {
    this.#readUntilMs = readUntilMs;
  }

  get isWanted(): boolean {
    return this.#readUntilMs.size > 0;
  }

  add(event: EventKey & { receivedAtMs: number }): void {
    const untilMs = this.#readUntilMs.get(event.appId);
    if (untilMs === undefined) return;
    const { appId, clientId, day, atMs, fingerprint, receivedAtMs } = event;
    if (receivedAtMs < untilMs) this.late.push({ appId, clientId, day, atMs, fingerprint });
    const mark = this.#markOf(appId, day);
    if (mark.receivedMs < receivedAtMs) mark.receivedMs = receivedAtMs;
  }

  /** Most events are of the same app and day as the one before. */
  #markOf(appId: number, day: string): MarkedDay {
    if (this.#last?.day === day && this.#last.appId === appId) return this.#last;
    const key = `${appId} ${day}`;
    this.#last = this.#days.get(key) ?? { appId, kind: "events", day, again: false, receivedMs: 0 };
    this.#days.set(key, this.#last);
    return this.#last;
  }

  days(): MarkedDay[] {
    return [...this.#days.values()];
  }
}
