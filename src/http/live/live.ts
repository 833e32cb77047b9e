import type { LiveCall } from "../../contract/live.ts";
import { isObject } from "../../domain/json.ts";
import { LIMITS } from "../../limits.ts";

/** A call that was answered a moment ago. What it holds is only looked at where somebody is going to see it. */
export type AnsweredCall = Omit<LiveCall, "id" | "body"> & {
  appId: number;
  /** Called once at most. */
  body: () => unknown;
  /** Size of the body as it was sent. */
  bytes: number;
};

/** Which calls somebody wants to see; the empty text: any. */
export type Watched = { appId: number; clientId: string; event: string; scope: "all" | "debug" };

/** What can be asked of a call without parsing its text. */
type Head = Pick<LiveCall, "id" | "at_ms" | "client_id" | "endpoint" | "debug">;

/** A call as it is told. Everything about it is made once at most, however many watch. */
export class Told {
  readonly head: Head;
  /** The call as JSON. */
  readonly text: string;
  #call: LiveCall | undefined;
  #message: Buffer | undefined;

  constructor(head: Head, text: string, call?: LiveCall) {
    this.head = head;
    this.text = text;
    this.#call = call;
  }

  get call(): LiveCall {
    this.#call ??= JSON.parse(this.text) as LiveCall;
    return this.#call;
  }

  /** The call as a server-sent event. */
  get message(): Buffer {
    this.#message ??= Buffer.from(`id: ${this.head.id}\ndata: ${this.text}\n\n`);
    return this.#message;
  }
}

export type Watcher = {
  tell: (told: Told) => void;
  /** The server stops. */
  end: () => void;
};

export type Watch = {
  stop(): void;
  /** How many calls were left out since this was last asked. */
  takeMissed(): number;
};

/** One call in so long is remembered; of those with something wrong, one in the shorter time. */
const SAMPLE_MS = { usual: 250, faulty: 50 } as const;
/** So many together, where there were none for a while: of an app with little traffic everything is remembered. */
const SAMPLES_AT_ONCE = 50;

/**
 * A copy of the traffic for whoever watches, and a memory of the last of it: all of debug mode, a sample of the rest. The
 * durable path does not depend on it: it may forget, never delay. Calls are handed over after they were answered, and
 * looked at in a later turn of the event loop. While nobody watches, a call costs `isQuiet`: one look-up and one
 * comparison. Measured: 15 ns, over ten million calls of twenty apps.
 */
export class Live {
  readonly #channels = new Map<number, Channel>();
  readonly #waiting: AnsweredCall[] = [];
  #waitingBytes = 0;
  #hasTurn = false;
  #watchers = 0;
  #lastId: number;

  /** Ids begin with the time, so that they grow over restarts: who comes back says which one was the last. */
  constructor(startedAtMs: number) {
    this.#lastId = startedAtMs * 1_000;
  }

  get watchers(): number {
    return this.#watchers;
  }

  /** Nobody watches the app, and its sample is not due: an ordinary call need not be handed over. */
  isQuiet(appId: number, nowMs: number): boolean {
    return nowMs < (this.#channels.get(appId)?.quietUntilMs ?? 0);
  }

  publish(call: AnsweredCall): void {
    if (this.#waitingBytes > LIMITS.liveWaitingBytes) {
      this.#channelOf(call.appId).missed();
      return;
    }
    this.#waiting.push(call);
    this.#waitingBytes += call.bytes;
    this.#takeTurn();
  }

  /**
   * Tells what is remembered of the calls after `afterId`, then what arrives. Undefined: too many watch already.
   * Calls of debug mode are all told; of the others so many a second as a person could follow.
   */
  watch(watched: Watched, watcher: Watcher, afterId = 0): Watch | undefined {
    if (this.#watchers >= LIMITS.liveWatchers) return undefined;
    this.#watchers += 1;
    const channel = this.#channelOf(watched.appId);
    for (const told of channel.newest(watched, afterId)) watcher.tell(told);
    const watching = new Watching(watched, watcher);
    channel.add(watching);
    return {
      takeMissed: () => watching.takeMissed(),
      stop: () => {
        if (channel.remove(watching)) this.#watchers -= 1;
      },
    };
  }

  /** What is remembered of an app, the oldest first; of much only the newest part. */
  recent(appId: number, bytesMax: number): LiveCall[] {
    const calls: LiveCall[] = [];
    let bytes = 0;
    for (const { text } of [...(this.#channels.get(appId)?.remembered ?? [])].reverse()) {
      bytes += text.length;
      if (bytes > bytesMax) break;
      calls.push(JSON.parse(text) as LiveCall);
    }
    return calls.reverse();
  }

  /** What is remembered of a client who was erased goes too, also where another call names the client. */
  forget(appId: number, clientId: string): void {
    this.#tell(Number.POSITIVE_INFINITY);
    this.#channels.get(appId)?.forget(JSON.stringify(clientId));
  }

  /** Sends everybody home: a stream has no end of its own. */
  close(): void {
    for (const channel of this.#channels.values()) for (const { watcher } of channel.watching) watcher.end();
  }

  /** Few at a time: a hundred who watch make as many copies of each. */
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
    const channel = this.#channelOf(answered.appId);
    const isRemembered = channel.takesSample(answered);
    if (!isRemembered && channel.watching.size === 0) return;
    const call = this.#shown(answered);
    const takers = [...channel.watching].filter((watching) => watching.takes(call));
    if (!isRemembered && takers.length === 0) return;
    const { id, at_ms, client_id, endpoint, debug } = call;
    const head = { id, at_ms, client_id, endpoint, debug };
    const told = new Told(head, textOf(call), call);
    if (isRemembered) this.#remember(channel, { head, text: told.text });
    for (const { watcher } of takers) watcher.tell(told);
  }

  #shown({ appId: _appId, bytes, body: open, ...rest }: AnsweredCall): LiveCall {
    this.#lastId += 1;
    const body = bytes > LIMITS.liveCallBytes ? null : open();
    return { ...rest, id: this.#lastId, client_id: rest.client_id || clientOf(body), body };
  }

  #remember(channel: Channel, call: Remembered): void {
    channel.remember(call);
    let bytes = [...this.#channels.values()].reduce((sum, one) => sum + one.bytes, 0);
    while (bytes > LIMITS.liveBytes) {
      const largest = [...this.#channels.values()].reduce((left, right) => (right.bytes > left.bytes ? right : left));
      bytes -= largest.dropOldest();
    }
  }

  #channelOf(appId: number): Channel {
    let channel = this.#channels.get(appId);
    if (!channel) {
      channel = new Channel();
      this.#channels.set(appId, channel);
    }
    return channel;
  }
}

/** Remembered calls are texts: their size is known, and they are no work for the collector. */
type Remembered = { head: Head; text: string };

/** The traffic of one app. */
class Channel {
  readonly watching = new Set<Watching>();
  bytes = 0;
  quietUntilMs = 0;
  remembered: Remembered[] = [];
  readonly #dueMs = { usual: 0, faulty: 0 };

  /**
   * Of what is wanted of the calls after an id, the newest, in their order: as much as a stream holds. Texts are parsed to
   * find the names of events in them, but not without end.
   */
  newest(watched: Watched, afterId: number): Told[] {
    const newest: Told[] = [];
    let [toldBytes, parsedBytes] = [0, 0];
    for (const { head, text } of this.remembered.toReversed()) {
      if (head.id <= afterId || parsedBytes > LIMITS.liveParsedBytes) break;
      if (!isWantedBy(watched, head)) continue;
      const told = new Told(head, text);
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

  remember(call: Remembered): void {
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

/** Somebody who watches, and how much was told in the current second. */
class Watching {
  readonly watcher: Watcher;
  readonly #watched: Watched;
  #secondMs = 0;
  #told = 0;
  #missed = 0;

  constructor(watched: Watched, watcher: Watcher) {
    this.#watched = watched;
    this.watcher = watcher;
  }

  takes(call: LiveCall): boolean {
    if (!isWantedBy(this.#watched, call) || !hasWantedEvent(this.#watched, { head: call, call })) return false;
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

function isWantedBy({ clientId, scope }: Watched, head: Head): boolean {
  return (scope === "all" || head.debug) && (clientId === "" || head.client_id === clientId);
}

function hasWantedEvent({ event }: Watched, told: Pick<Told, "head" | "call">): boolean {
  return event === "" || told.head.endpoint.endsWith(`/${event}`) || hasEvent(told.call.body, event);
}

function hasEvent(body: unknown, name: string): boolean {
  if (!isObject(body)) return false;
  if (body.event_type === name) return true;
  return Array.isArray(body.event_list) && body.event_list.some((one) => isObject(one) && one.event === name);
}

/** A call that was refused before its client was read. */
function clientOf(body: unknown): string {
  const id = isObject(body) ? body.client_id : undefined;
  return typeof id === "string" || typeof id === "number" ? String(id).slice(0, LIMITS.clientIdLength) : "";
}

/** What is nested beyond the stack is not shown; whoever watches must never disturb what is watched. */
function textOf(call: LiveCall): string {
  try {
    return JSON.stringify(call);
  } catch {
    return JSON.stringify({ ...call, body: null });
  }
}
