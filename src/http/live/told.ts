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
