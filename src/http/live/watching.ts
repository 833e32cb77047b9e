import type { LiveCall } from "../../contract/live.ts";
import { isObject } from "../../domain/json.ts";
import { LIMITS } from "../../limits.ts";
import type { Head, Told } from "./told.ts";

/** Which calls a watcher wants to see. An empty text matches any. */
export type Watched = { appId: number; clientId: string; event: string; scope: "all" | "debug" };

export type Watcher = {
  tell: (told: Told) => void;
  /** The server stops. */
  end: () => void;
};

/** A watcher, and the number of calls told in the current second. */
export class Watching {
  readonly watcher: Watcher;
  readonly watched: Watched;
  /** Where the watcher is: at this process, or at another one that it shows the calls to. */
  readonly place: "here" | "elsewhere";
  #secondMs = 0;
  #told = 0;
  #missed = 0;

  constructor(watched: Watched, watcher: Watcher, place: "here" | "elsewhere" = "here") {
    this.watched = watched;
    this.watcher = watcher;
    this.place = place;
  }

  takes(call: LiveCall): boolean {
    if (!isWantedBy(this.watched, call) || !hasWantedEvent(this.watched, { head: call, call })) return false;
    if (call.debug) return true;
    if (call.at_ms - this.#secondMs >= 1_000 || call.at_ms < this.#secondMs) {
      this.#secondMs = call.at_ms;
      this.#told = 0;
    }
    this.#told += 1;
    if (this.#told <= LIMITS.liveCallsPerS) return true;
    this.#missed += 1;
    return false;
  }

  miss(): void {
    this.#missed += 1;
  }

  takeMissed(): number {
    const missed = this.#missed;
    this.#missed = 0;
    return missed;
  }
}

export function isWantedBy({ clientId, scope }: Watched, head: Head): boolean {
  return (scope === "all" || head.debug) && (clientId === "" || head.client_id === clientId);
}

export function hasWantedEvent({ event }: Watched, told: Pick<Told, "head" | "call">): boolean {
  return event === "" || told.head.endpoint.endsWith(`/${event}`) || hasEvent(told.call.body, event);
}

function hasEvent(body: unknown, name: string): boolean {
  if (!isObject(body)) return false;
  if (body.event_type === name) return true;
  return Array.isArray(body.event_list) && body.event_list.some((one) => isObject(one) && one.event === name);
}
