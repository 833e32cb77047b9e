import type { LiveCall } from "../../contract/live.ts";
import { isObject } from "../../domain/json.ts";
import { LIMITS } from "../../limits.ts";
import { AppTraffic } from "./app-traffic.ts";
import { type AnsweredCall, Told } from "./told.ts";
import { type Watched, type Watcher, Watching } from "./watching.ts";

export type Watch = {
  stop(): void;
  /** The number of calls left out since the last call of this function. */
  takeMissed(): number;
};

/**
 * A copy of the traffic for watchers, and a memory of the latest calls: all of debug mode, a sample of the rest. The
 * durable path does not depend on it: it may forget, but never delay. Calls are handed over after they are answered,
 * and processed in a later turn of the event loop. While nobody watches, a call costs only `isQuiet`: one look-up and
 * one comparison. Measured: 15 ns, over ten million calls of twenty apps.
 */
export class Live {
  readonly #traffic = new Map<number, AppTraffic>();
  readonly #waiting: AnsweredCall[] = [];
  #waitingBytes = 0;
  #hasTurn = false;
  #watchers = 0;
  #lastId: number;

  /** Ids start from the time, so that they keep growing across restarts: a reconnecting watcher names its last one. */
  constructor(startedAtMs: number) {
    this.#lastId = startedAtMs * 1_000;
  }

  get watchers(): number {
    return this.#watchers;
  }

  /** Whether an ordinary call can be dropped: nobody watches the app, and its next sample is not due. */
  isQuiet(appId: number, nowMs: number): boolean {
    return nowMs < (this.#traffic.get(appId)?.quietUntilMs ?? 0);
  }

  publish(call: AnsweredCall): void {
    if (this.#waitingBytes > LIMITS.liveWaitingBytes) {
      this.#trafficOf(call.appId).missed();
      return;
    }
    this.#waiting.push(call);
    this.#waitingBytes += call.bytes;
    this.#takeTurn();
  }

  /**
   * Tells the watcher the remembered calls after `afterId`, then new ones. Returns undefined when there are too many
   * watchers. All calls of debug mode are told; of the others, only as many a second as a person can follow.
   */
  watch(watched: Watched, watcher: Watcher, afterId = 0): Watch | undefined {
    if (this.#watchers >= LIMITS.liveWatchers) return undefined;
    this.#watchers += 1;
    const traffic = this.#trafficOf(watched.appId);
    for (const told of traffic.newest(watched, afterId)) watcher.tell(told);
    const watching = new Watching(watched, watcher);
    traffic.add(watching);
    return {
      takeMissed: () => watching.takeMissed(),
      stop: () => {
        if (traffic.remove(watching)) this.#watchers -= 1;
      },
    };
  }

  /** Watches for somebody at another process, who is told new calls only. */
  watchFor(watched: Watched, watcher: Watcher): Watch {
    const traffic = this.#trafficOf(watched.appId);
    const watching = new Watching(watched, watcher, "elsewhere");
    traffic.add(watching);
    return { takeMissed: () => watching.takeMissed(), stop: () => void traffic.remove(watching) };
  }

  /** What is watched at this process. */
  watched(): Watched[] {
    const all = [...this.#traffic.values()].flatMap((traffic) => [...traffic.watching]);
    return all.flatMap(({ place, watched }) => (place === "here" ? [watched] : []));
  }

  /** Tells the watchers at this process a call that another process has answered. */
  showFromElsewhere(appId: number, answered: LiveCall): void {
    this.#lastId += 1;
    const call = { ...answered, id: this.#lastId };
    const watching = [...(this.#traffic.get(appId)?.watching ?? [])];
    const takers = watching.filter((one) => one.place === "here" && one.takes(call));
    if (takers.length === 0) return;
    const told = toldOf(call);
    for (const { watcher } of takers) watcher.tell(told);
  }

  /** The remembered calls of an app, oldest first: the newest ones that fit into `bytesMax`. */
  recent(appId: number, bytesMax: number): LiveCall[] {
    const calls: LiveCall[] = [];
    let bytes = 0;
    for (const { text } of [...(this.#traffic.get(appId)?.remembered ?? [])].reverse()) {
      bytes += text.length;
      if (bytes > bytesMax) break;
      calls.push(JSON.parse(text) as LiveCall);
    }
    return calls.reverse();
  }

  /** Forgets the calls of an erased client, and all other calls that name it. */
  forget(appId: number, clientId: string): void {
    this.#tell(Number.POSITIVE_INFINITY);
    this.#traffic.get(appId)?.forget(JSON.stringify(clientId));
  }

  /** Ends all streams, which have no end of their own. */
  close(): void {
    for (const traffic of this.#traffic.values()) for (const { watcher } of traffic.watching) watcher.end();
  }

  /** Tells a few calls per turn of the event loop: a hundred watchers make a hundred copies of each. */
  #takeTurn(): void {
    if (this.#hasTurn) return;
    this.#hasTurn = true;
    setImmediate(() => {
      this.#hasTurn = false;
      this.#tell(LIMITS.liveTurnBytes);
      if (this.#waiting.length > 0) this.#takeTurn();
    });
  }

  #tell(bytesMax: number): void {
    for (let bytes = 0; bytes < bytesMax; ) {
      const call = this.#waiting.shift();
      if (!call) return;
      this.#waitingBytes -= call.bytes;
      bytes += call.bytes;
      this.#tellOne(call);
    }
  }

  #tellOne(answered: AnsweredCall): void {
    const traffic = this.#trafficOf(answered.appId);
    const isRemembered = traffic.takesSample(answered);
    if (!isRemembered && traffic.watching.size === 0) return;
    const call = this.#shown(answered);
    const takers = [...traffic.watching].filter((watching) => watching.takes(call));
    if (!isRemembered && takers.length === 0) return;
    const told = toldOf(call);
    if (isRemembered) this.#remember(traffic, told);
    for (const { watcher } of takers) watcher.tell(told);
  }

  #shown({ appId: _appId, bytes, body: open, ...rest }: AnsweredCall): LiveCall {
    this.#lastId += 1;
    const body = bytes > LIMITS.liveCallBytes ? null : open();
    return { ...rest, id: this.#lastId, client_id: rest.client_id || clientOf(body), body };
  }

  #remember(traffic: AppTraffic, call: Told): void {
    traffic.remember(call);
    let bytes = [...this.#traffic.values()].reduce((sum, one) => sum + one.bytes, 0);
    while (bytes > LIMITS.liveBytes) {
      const largest = [...this.#traffic.values()].reduce((left, right) => (right.bytes > left.bytes ? right : left));
      bytes -= largest.dropOldest();
    }
  }

  #trafficOf(appId: number): AppTraffic {
    let traffic = this.#traffic.get(appId);
    if (!traffic) {
      traffic = new AppTraffic();
      this.#traffic.set(appId, traffic);
    }
    return traffic;
  }
}

function toldOf(call: LiveCall): Told {
  const { id, at_ms, client_id, endpoint, debug } = call;
  return new Told({ id, at_ms, client_id, endpoint, debug }, textOf(call), call);
}

/** The client named in the body of a call that was refused before its client was read. */
function clientOf(body: unknown): string {
  const id = isObject(body) ? body.client_id : undefined;
  return typeof id === "string" || typeof id === "number" ? String(id).slice(0, LIMITS.clientIdLength) : "";
}

/**
 * The call as JSON, without its body when that is nested too deeply to serialize: watching must never cause an error.
 */
function textOf(call: LiveCall): string {
  try {
    return JSON.stringify(call);
  } catch {
    return JSON.stringify({ ...call, body: null });
  }
}
