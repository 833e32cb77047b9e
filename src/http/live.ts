import { EventEmitter } from "node:events";
import { LIMITS } from "../config.ts";
import type { EventError } from "../domain/admission.ts";
import type { JsonValue } from "../domain/json.ts";

/** A request in debug mode, as the live event stream shows it. */
export type LiveRequest = {
  appId: number;
  clientId: string;
  receivedAtMs: number;
  events: JsonValue[];
  errors: EventError[];
};

/** A copy of debug traffic for whoever watches. The durable path does not depend on it: it may forget, never delay. */
export class Live {
  readonly #emitter = new EventEmitter().setMaxListeners(LIMITS.liveListeners);
  #recent: { request: LiveRequest; bytes: number }[] = [];
  #recentBytes = 0;

  /** `bytes` is the size of the body, and bounds what is remembered. */
  publish(request: LiveRequest, bytes: number): void {
    this.#emitter.emit("request", request);
    this.#recent.push({ request, bytes });
    this.#recentBytes += bytes;
    while (this.#recent.length > LIMITS.liveRequests || this.#recentBytes > LIMITS.liveBytes) {
      this.#recentBytes -= this.#recent.shift()!.bytes;
    }
  }

  /** What is remembered of a client who was erased goes too. */
  forget(appId: number, clientId: string): void {
    this.#recent = this.#recent.filter(({ request }) => request.appId !== appId || request.clientId !== clientId);
    this.#recentBytes = this.#recent.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Tells what is remembered of the app, then what arrives. Returns the way to stop, or undefined when too many watch. */
  watch(appId: number, listener: (request: LiveRequest) => void): (() => void) | undefined {
    if (this.#emitter.listenerCount("request") >= LIMITS.liveListeners) return undefined;
    const own = (request: LiveRequest) => {
      if (request.appId === appId) listener(request);
    };
    for (const { request } of this.#recent) own(request);
    this.#emitter.on("request", own);
    return () => this.#emitter.off("request", own);
  }
}
