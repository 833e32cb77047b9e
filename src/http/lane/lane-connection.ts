import type { Socket } from "node:net";
import { elapsedMs } from "../../clock.ts";
import type { Door } from "../exchange.ts";
import { KEEP_ALIVE_MS } from "./answer-text.ts";
import { LaneExchange, type Line } from "./lane-exchange.ts";
import { readHead } from "./request-head.ts";

/** Beyond what clients are told, so that a request that is on its way at that moment is still read. */
const KEEP_ALIVE_MORE_MS = 1_000;
/** How long a closed connection is still read, so that its client sees the answer before the end. */
const LINGER_MS = 5_000;

export type LaneOptions = {
  door: Door;
  isStopping: () => boolean;
  /** The whole request has to arrive in time. */
  requestTimeoutMs: number;
  /** Lets node:http read the connection from here on. */
  handOver: (socket: Socket) => void;
  /** Answers a request that came too slowly, and closes. */
  refuseLate: (socket: Socket) => void;
  /** The connection is closed or handed over. */
  forget: (connection: LaneConnection) => void;
};

/**
 * A connection whose requests are read without node:http, one after the other, as long as they are plain and a door takes
 * them. The first that is not goes to node:http, and the connection with it for good.
 *
 *   waiting ──head──▶ receiving ──body──▶ answering ──answer──▶ waiting
 *      └── anything else ──▶ node:http       └── more bytes: they go to node:http after the answer
 */
export class LaneConnection implements Line {
  readonly peer: string | undefined;
  readonly #socket: Socket;
  readonly #options: LaneOptions;
  readonly #listeners: readonly (readonly [event: string, listener: (...args: never[]) => void])[];
  #exchange: LaneExchange | undefined;
  /** The bytes of the request that is being begun. */
  #first: Buffer = NOTHING;
  #ahead: Buffer = NOTHING;
  #isClosing = false;
  /** When waiting, receiving or closing has to end. */
  #deadlineMs: number;

  constructor(socket: Socket, options: LaneOptions) {
    this.#socket = socket;
    this.#options = options;
    this.peer = socket.remoteAddress;
    this.#deadlineMs = elapsedMs() + options.requestTimeoutMs;
    this.#listeners = [
      ["data", (chunk: Buffer) => this.#read(chunk)],
      ["end", () => this.#ended()],
      ["drain", () => this.#drained()],
      ["finish", () => this.#finished()],
      ["error", () => {}],
      ["close", () => this.#closed()],
    ];
    for (const [event, listener] of this.#listeners) socket.on(event, listener as () => void);
  }

  /** Whether nothing is asked, and everything is sent. */
  get isIdle(): boolean {
    return this.#exchange === undefined && this.#socket.writableLength === 0;
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** Closes the connection if it has been silent, or slow, for too long. */
  check(nowMs: number): void {
    if (nowMs < this.#deadlineMs) return;
    if (this.#exchange?.isReceiving && !this.#isClosing) {
      this.#exchange.gone();
      this.#isClosing = true;
      this.#deadlineMs = nowMs + LINGER_MS;
      this.#options.refuseLate(this.#socket);
    } else if (!this.#exchange || this.#isClosing) this.#socket.destroy();
  }

  send(text: string, { encoding, isLast }: { encoding: "latin1" | "utf8"; isLast: boolean }): void {
    const socket = this.#socket;
    if (socket.destroyed) return;
    const hasUnread = this.#exchange!.missing > 0;
    this.#exchange = undefined;
    this.#deadlineMs = elapsedMs() + KEEP_ALIVE_MS + KEEP_ALIVE_MORE_MS;
    const isTaken = socket.write(text, encoding);
    if (isLast || this.#isClosing) this.#close(hasUnread);
    else if (this.#ahead.length > 0) this.#goOn(isTaken);
    // Who does not read the answers may ask for no more of them.
    else if (!isTaken) socket.pause();
  }

  decline(): void {
    this.#leave(this.#first);
  }

  #read(chunk: Buffer): void {
    if (this.#isClosing) return;
    const exchange = this.#exchange;
    if (!exchange) this.#begin(chunk);
    else if (!exchange.isReceiving) this.#keep(chunk);
    else exchange.take(this.#partOf(chunk, 0, exchange.missing));
  }

  #begin(read: Buffer): void {
    const chunk = withoutBlankLines(read);
    if (chunk.length === 0) return;
    const { door, isStopping, requestTimeoutMs } = this.#options;
    const head = isStopping() ? undefined : readHead(chunk);
    if (!head) {
      this.#leave(chunk);
      return;
    }
    const exchange = new LaneExchange(this, head);
    this.#exchange = exchange;
    this.#first = chunk;
    this.#deadlineMs = elapsedMs() + requestTimeoutMs;
    const body = this.#partOf(chunk, head.bytes, head.bytes + head.contentLength);
    if (!door(exchange)) this.#leave(chunk);
    else if (exchange.isReceiving) exchange.take(body);
    this.#first = NOTHING;
  }

  /** A part of what has come. What follows it is kept until the answer is sent. */
  #partOf(chunk: Buffer, from: number, until: number): Buffer {
    if (chunk.length > until) this.#keep(chunk.subarray(until));
    return chunk.subarray(from, until);
  }

  #keep(ahead: Buffer): void {
    this.#socket.pause();
    this.#ahead = this.#ahead.length > 0 ? Buffer.concat([this.#ahead, ahead]) : ahead;
  }

  /** Continues with what came before the answer. */
  #goOn(isTaken: boolean): void {
    const ahead = withoutBlankLines(this.#ahead);
    this.#ahead = NOTHING;
    if (ahead.length > 0) this.#leave(ahead);
    else if (isTaken) this.#socket.resume();
  }

  #ended(): void {
    if (this.#exchange?.isReceiving) {
      this.#socket.destroy();
      return;
    }
    this.#isClosing = true;
    if (this.#exchange) this.#deadlineMs = Number.POSITIVE_INFINITY;
    else this.#socket.end();
  }

  #drained(): void {
    if (!this.#exchange) this.#socket.resume();
  }

  /** Everything is sent, and no more will be. */
  #finished(): void {
    this.#deadlineMs = elapsedMs() + LINGER_MS;
  }

  /** Closes after the last answer. A close before the rest of a body is read could reach the client before the answer does. */
  #close(hasUnread: boolean): void {
    const socket = this.#socket;
    this.#isClosing = true;
    if (hasUnread) socket.end();
    else socket.destroySoon();
    socket.resume();
  }

  #closed(): void {
    this.#exchange?.gone();
    this.#exchange = undefined;
    this.#options.forget(this);
  }

  /** Leaves the connection to node:http, which begins with these bytes. */
  #leave(bytes: Buffer): void {
    const socket = this.#socket;
    this.#exchange = undefined;
    for (const [event, listener] of this.#listeners) socket.off(event, listener as () => void);
    this.#options.forget(this);
    socket.pause();
    // All in one piece: node:http reads on from the system, and would read that before the second of two pieces.
    const more: Buffer | null = socket.read();
    socket.unshift(more ? Buffer.concat([bytes, more]) : bytes);
    this.#options.handOver(socket);
    socket.resume();
  }
}

const NOTHING = Buffer.alloc(0);
const [RETURN, NEW_LINE] = [13, 10];

/** Some clients end a body with a line of its own, which belongs to no request. */
function withoutBlankLines(bytes: Buffer): Buffer {
  let from = 0;
  while (bytes[from] === RETURN || bytes[from] === NEW_LINE) from += 1;
  return from === 0 ? bytes : bytes.subarray(from);
}
