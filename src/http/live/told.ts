import type { LiveCall } from "../../contract/live.ts";

/** A call that was answered a moment ago. What it holds is only looked at where somebody is going to see it. */
export type AnsweredCall = Omit<LiveCall, "id" | "body"> & {
  appId: number;
  /** Called once at most. */
  body: () => unknown;
  /** Size of the body as it was sent. */
  bytes: number;
};

/** What can be asked of a call without parsing its text. */
export type Head = Pick<LiveCall, "id" | "at_ms" | "client_id" | "endpoint" | "debug">;

/**
 * A call as it is told, and as it is remembered: a text, which is no work for the collector. What is made of the text
 * stays as long as anybody uses it: a hundred watchers who read nothing wait for the same copy.
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
