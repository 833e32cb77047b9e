import type { LiveCall } from "../../contract/live.ts";

/** A call that was just answered. Its body is only parsed when a watcher or the memory takes it. */
export type AnsweredCall = Omit<LiveCall, "id" | "body"> & {
  appId: number;
  /** Called once at most. */
  body: () => unknown;
  /** Size of the body as it was sent. */
  bytes: number;
};

/** The fields of a call that are available without parsing its text. */
export type Head = Pick<LiveCall, "id" | "at_ms" | "client_id" | "endpoint" | "debug">;

/**
 * A call as told and remembered: one text, which is cheap for the garbage collector. Objects made from the text live as
 * long as they are used, so that a hundred watchers who read slowly share the same copy.
 */
export class Told {
  readonly head: Head;
  /** The call as JSON. */
  readonly text: string;
  #call: WeakRef<LiveCall>;
  #message: WeakRef<Buffer> | undefined;

  constructor(head: Head, text: string, call: LiveCall) {
    this.head = head;
    this.text = text;
    this.#call = new WeakRef(call);
  }

  get call(): LiveCall {
    let call = this.#call.deref();
    if (!call) {
      call = JSON.parse(this.text) as LiveCall;
      this.#call = new WeakRef(call);
    }
    return call;
  }

  /** The call as a server-sent event. */
  get message(): Buffer {
    let message = this.#message?.deref();
    if (!message) {
      message = Buffer.from(`id: ${this.head.id}\ndata: ${this.text}\n\n`);
      this.#message = new WeakRef(message);
    }
    return message;
  }
}
