import type { DoorHeaders, Exchange } from "../exchange.ts";
import type { Receiver } from "../receive.ts";
import { answerText } from "./answer-text.ts";
import type { RequestHead } from "./request-head.ts";

/** What an exchange needs of its connection. */
export type Line = {
  readonly peer: string | undefined;
  /** Sends an answer, after which the connection is ready for the next request, or closed. */
  send(text: string, how: { encoding: "latin1" | "utf8"; isLast: boolean }): void;
  /** Gives the request to node:http, as if nothing of it had been read. */
  decline(): void;
};

/** A request on the fast lane. Its body is read at once, or the request goes to node:http. */
export class LaneExchange implements Exchange {
  readonly canWait = false;
  readonly #line: Line;
  readonly #head: RequestHead;
  readonly #chunks: Buffer[] = [];
  #missing: number;
  #receiver: Receiver | undefined;
  #isAnswered = false;

  constructor(line: Line, head: RequestHead) {
    this.#line = line;
    this.#head = head;
    this.#missing = head.contentLength;
  }

  get method(): string {
    return this.#head.method;
  }

  get url(): string {
    return this.#head.url;
  }

  get headers(): DoorHeaders {
    return this.#head.headers;
  }

  get peer(): string | undefined {
    return this.#line.peer;
  }

  receive(receiver: Receiver): void {
    if (this.#head.contentLength > receiver.bytesMax) this.#line.decline();
    else this.#receiver = receiver;
  }

  /** The bytes of the body that have not come yet. */
  get missing(): number {
    return this.#missing;
  }

  /** Takes more of the body, and nothing of what comes after it. */
  take(part: Buffer): void {
    const receiver = this.#receiver!;
    this.#missing -= part.length;
    // The head may have come alone.
    const refusal = part.length > 0 ? receiver.hold(part.length) : undefined;
    if (!refusal && part.length > 0) this.#chunks.push(part);
    if (!refusal && this.#missing > 0) return;
    this.#receiver = undefined;
    if (refusal) receiver.refuse(refusal);
    else receiver.done(this.#chunks.length === 1 ? part : Buffer.concat(this.#chunks));
  }

  /** Whether more of the body has to come before the request can be answered. */
  get isReceiving(): boolean {
    return this.#receiver !== undefined;
  }

  /** The client has hung up. */
  gone(): void {
    this.#receiver?.gone();
    this.#receiver = undefined;
  }

  mustClose(): boolean {
    return this.#missing > 0;
  }

  answer(status: number, body: string, headers?: Readonly<Record<string, string>>): void {
    // It would be taken for the answer to the next request.
    if (this.#isAnswered) throw new Error("The request has been answered.");
    this.#isAnswered = true;
    const bytes = Buffer.byteLength(body);
    // As many bytes as characters: then it is ASCII, which takes no encoding.
    const encoding = bytes === body.length ? "latin1" : "utf8";
    const text = answerText({ status, headers, bytes }, body);
    this.#line.send(text, { encoding, isLast: headers?.connection === "close" });
  }
}
