import type { IncomingMessage, ServerResponse } from "node:http";
import { JSON_TYPE } from "./answer.ts";
import { type Receiver, receiveBody } from "./receive.ts";
import { mustCloseUnread } from "./unread.ts";

/** The headers that the doors look at. */
export const DOOR_HEADERS = [
  "content-encoding",
  "content-type",
  "gravity-content-compress",
  "host",
  "origin",
  "turbo-debug-mode",
  "user-agent",
  "x-forwarded-for",
] as const;
export type DoorHeader = (typeof DOOR_HEADERS)[number];
export type DoorHeaders = { readonly [Name in DoorHeader]?: string | undefined };

/** One request and its answer, as the doors see them, whoever reads the connection. */
export type Exchange = {
  readonly method: string;
  readonly url: string;
  readonly headers: DoorHeaders;
  /** The address at the other end of the connection. */
  readonly peer: string | undefined;
  /** Whether the body may stay unread, for a while or for good. */
  readonly canWait: boolean;
  receive(receiver: Receiver): void;
  /** To be asked before an answer that may come before the body: whether the connection has to be closed after it. */
  mustClose(): boolean;
  /** Sends JSON, with these headers beside those that every answer has. */
  answer(status: number, body: string, headers?: Readonly<Record<string, string>>): void;
};

/** Takes an exchange, or does nothing and returns false. */
export type Door = (exchange: Exchange) => boolean;

/** An exchange over node:http. */
export class HttpExchange implements Exchange {
  readonly canWait = true;
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.#request = request;
    this.#response = response;
  }

  get method(): string {
    return this.#request.method ?? "";
  }

  get url(): string {
    return this.#request.url ?? "";
  }

  get headers(): DoorHeaders {
    // Of these names node:http makes one text, however often they come.
    return this.#request.headers as DoorHeaders;
  }

  get peer(): string | undefined {
    return this.#request.socket.remoteAddress;
  }

  receive(receiver: Receiver): void {
    receiveBody(this.#request, receiver);
  }

  mustClose(): boolean {
    return mustCloseUnread(this.#request);
  }

  answer(status: number, body: string, headers?: Readonly<Record<string, string>>): void {
    const length = Buffer.byteLength(body);
    this.#response.writeHead(status, { "content-type": JSON_TYPE, "content-length": length, ...headers });
    this.#response.end(body);
  }
}
