import type { EventKey, EventSender } from "../../db/event.ts";
import type { MarkedDay } from "../../db/lake-mark.ts";
import type { EventParts } from "../../domain/event/event-part.ts";

/** New events as far as the lake must know of them. */
export class LakeNews {
  readonly #readUntilMs: ReadonlyMap<number, number>;
  readonly #days = new Map<string, MarkedDay>();
  #last: MarkedDay | undefined;
  /** Those that come after others received later have been read. */
  readonly late: EventKey[] = [];

  readonly #parts: EventParts;

  /** `readUntilMs`: up to which receipt events are read, for the apps that have a lake. */
  constructor(readUntilMs: ReadonlyMap<number, number>, parts: EventParts) {
    this.#readUntilMs = readUntilMs;
    this.#parts = parts;
  }

  get isWanted(): boolean {
    return this.#readUntilMs.size > 0;
  }

  add({ appId, clientId, receivedAtMs }: EventSender, event: Pick<EventKey, "day" | "atMs" | "fingerprint">): void {
    const untilMs = this.#readUntilMs.get(appId);
    if (untilMs === undefined) return;
    const { day } = event;
    const mark = this.#markOf(appId, day);
    // A cold day is written as a whole, with everything that its partition holds.
    if (mark.again) return;
    if (receivedAtMs < untilMs) {
      const { atMs, fingerprint } = event;
      this.late.push({ appId, clientId, day, atMs, fingerprint });
    }
    if (mark.receivedMs < receivedAtMs) mark.receivedMs = receivedAtMs;
  }

  /** Most events are of the same app and day as the one before. */
  #markOf(appId: number, day: string): MarkedDay {
    if (this.#last?.day === day && this.#last.appId === appId) return this.#last;
    const key = `${appId} ${day}`;
    const again = this.#parts.stateOf(day) === "cold";
    this.#last = this.#days.get(key) ?? { appId, kind: "events", day, again, receivedMs: 0 };
    this.#days.set(key, this.#last);
    return this.#last;
  }

  days(): MarkedDay[] {
    return [...this.#days.values()];
  }
}
