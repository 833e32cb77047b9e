import { once } from "node:events";
import { Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { setImmediate as turn } from "node:timers/promises";
import type { ApiError } from "../../../src/errors.ts";
import { DOOR_HEADERS, type Door, type Exchange, HttpExchange } from "../../../src/http/exchange.ts";
import type { Handler } from "../../../src/http/handler.ts";
import { LaneServer } from "../../../src/http/lane/lane-server.ts";
import { oneAtATime } from "../../../src/http/one-at-a-time.ts";

const TIMES = { requestTimeout: 60_000, connectionsCheckingInterval: 50 };
export const BYTES_MAX = 1_000_000;

export const echo: Door = echoInto([]);

/** A door that tells what it has understood of each request below /echo, in its answer and in a list. */
export function echoInto(understood: string[]): Door {
  return (exchange) => echoOf(exchange, understood);
}

function echoOf(exchange: Exchange, understood: string[]): boolean {
  const { method, url, headers } = exchange;
  if (!url.startsWith("/echo")) return false;
  const tell = (body: string) => {
    const kept = DOOR_HEADERS.map((name) => headers[name] ?? null);
    const text = JSON.stringify({ method, url, kept, body });
    understood.push(text);
    exchange.answer(200, text);
  };
  if (method === "GET") tell("");
  else
    exchange.receive({
      bytesMax: BYTES_MAX,
      hold: () => undefined,
      done: (bytes) => tell(bytes.toString("latin1")),
      refuse: (error: ApiError) => {
        exchange.answer(413, error.message, exchange.mustClose() ? { connection: "close" } : undefined);
      },
      gone: () => {},
    });
  return true;
}

type LaneServerOptions = Partial<typeof TIMES & { isStopping: () => boolean; inOrder: (handle: Handler) => Handler }>;

/** A server with a fast lane. `through` counts the requests that node:http has read, and those that the lane has. */
export function laneServer(door: Door, options: LaneServerOptions = {}) {
  const through = { requests: 0, lane: 0 };
  const counting: Door = (exchange) => {
    const isTaken = door(exchange);
    if (isTaken) through.lane += 1;
    return isTaken;
  };
  const { isStopping = () => false, inOrder = oneAtATime, ...times } = options;
  const server = new LaneServer(
    { ...TIMES, headersTimeout: times.requestTimeout ?? TIMES.requestTimeout, ...times },
    inOrder((request, response) => {
      through.requests += 1;
      if (!door(new HttpExchange(request, response))) response.writeHead(404, { "content-length": 0 }).end();
    }),
    { door: counting, isStopping, refuseLate: (socket) => socket.end("HTTP/1.1 408 Request Timeout\r\n\r\n") },
  );
  server.on("clientError", refuse);
  return { server, through };
}

/** The same without a lane. */
export function plainServer(door: Door): Server {
  const server = new Server((request, response) => {
    if (!door(new HttpExchange(request, response))) response.writeHead(404, { "content-length": 0 }).end();
  });
  server.on("clientError", refuse);
  return server;
}

const refuse = (_: Error, socket: Duplex) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n");

export async function listening(server: Server): Promise<number> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  return (server.address() as AddressInfo).port;
}

export class Client {
  readonly socket: Socket;
  heard = "";
  readonly closed: Promise<unknown>;

  constructor(port: number) {
    this.socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
    this.socket.on("data", (chunk) => (this.heard += chunk.toString("latin1")));
    this.socket.on("error", () => {});
    this.closed = new Promise((resolve) => {
      this.socket.on("end", resolve);
      this.socket.on("close", resolve);
    });
  }

  /** Sends pieces, in turns of the event loop of their own. */
  async send(...pieces: string[]): Promise<void> {
    for (const piece of pieces) {
      this.socket.write(piece, "latin1");
      await turn();
    }
  }

  /** Status and body of each answer. */
  get answers(): string[] {
    const answers: string[] = [];
    for (let rest = this.heard; rest.startsWith("HTTP/1.1 "); ) {
      const end = rest.indexOf("\r\n\r\n") + 4;
      if (end < 4) break;
      const length = Number(/content-length: (\d+)/i.exec(rest.slice(0, end))?.[1] ?? 0);
      if (rest.length < end + length) break;
      answers.push(`${rest.slice(9, 12)} ${rest.slice(end, end + length)}`);
      rest = rest.slice(end + length);
    }
    return answers;
  }
}

export function post(body: string, { path = "/echo", headers = "" }: { path?: string; headers?: string } = {}): string {
  return `POST ${path} HTTP/1.1\r\nHost: x\r\n${headers}Content-Length: ${body.length}\r\n\r\n${body}`;
}
