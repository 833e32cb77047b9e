import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { type Clock, systemClock } from "../../src/clock.ts";
import { type Answer, answer, type Call, Refusal } from "./call.ts";

/**
 * A conversion that the platform accepted, in the same units for all platforms, so that it can be compared with the intended
 * one.
 */
export type AcceptedConversion = {
  platform: string;
  route: string;
  /** What ties it to the ad: callback token, click id, bd_vid, track id or device id. */
  key: string;
  code: string;
  dedupeId: string;
  orderId: string;
  /** The amount converted from the platform's unit, or null if none was sent. */
  cents: number | null;
  atMs: number;
  isDuplicate: boolean;
};

/** `accept_then_*`: judged and counted as usual, then the answer is lost. All others: not judged at all. */
export type Failure =
  | "hang"
  | "reset"
  | "accept_then_reset"
  | "accept_then_hang"
  | "server_error"
  | "busy"
  | "bad_token"
  | "not_json";

export type RefusedCall = { path: string; reason: string; body: string };

export type StandIn = {
  url: string;
  accepted: AcceptedConversion[];
  refused: RefusedCall[];
  calls: number;
  /** Called before each call is judged; the first call is 1. */
  fail: (call: number) => Failure | undefined;
  close(): Promise<void>;
};

export type StandInOptions = {
  clock?: Clock;
  /** Whether the platform ever issued this callback token or click id. By default every well-formed one is known. */
  knowsKey?: (key: string) => boolean;
};

/** How an interface words its refusals: interfaces of one platform differ. */
export type Dialect = {
  refusal(refusal: Refusal): Answer;
  busy: Answer;
  badToken: Answer;
};

export type Route = {
  methods: readonly ("GET" | "POST")[];
  /** The platform's path, including trailing slashes. An empty text takes every path that no other route has. */
  path: string;
  dialect: Dialect;
  /** Throws a Refusal for calls that the platform would not accept. */
  take(call: Call, desk: Desk): Answer | Promise<Answer>;
};

export type NewConversion = Omit<AcceptedConversion, "platform" | "route" | "isDuplicate"> & {
  /** Conversions with the same text count as one; an empty text means no deduplication. */
  sameBy: string;
};

const UNREPLACED_MACRO = /__[A-Z0-9_]+__|\{\{\w+\}\}/;

/** Records the calls. */
export class Desk {
  readonly accepted: AcceptedConversion[] = [];
  readonly refused: RefusedCall[] = [];
  readonly #platform: string;
  readonly #knowsKey: (key: string) => boolean;
  readonly #seen = new Set<string>();

  constructor(platform: string, knowsKey: (key: string) => boolean) {
    this.#platform = platform;
    this.#knowsKey = knowsKey;
  }

  accept(call: Call, { sameBy, ...conversion }: NewConversion): void {
    const isDuplicate = sameBy !== "" && this.#seen.has(sameBy);
    if (sameBy !== "") this.#seen.add(sameBy);
    this.accepted.push({ platform: this.#platform, route: call.path, ...conversion, isDuplicate });
  }

  refuse(call: Call, reason: string): void {
    this.refused.push({ path: call.path, reason, body: call.body });
  }

  isKey(key: string): boolean {
    return key !== "" && !UNREPLACED_MACRO.test(key) && this.#knowsKey(key);
  }
}

const BODY_BYTES_MAX = 1024 * 1024;

export async function startStandIn(
  platform: string,
  { routes, clock = systemClock, knowsKey = () => true }: StandInOptions & { routes: readonly Route[] },
): Promise<StandIn> {
  const desk = new Desk(platform, knowsKey);
  const byPath = new Map(routes.map((route) => [route.path, route]));
  const server = createServer((request, response) => {
    standIn.calls += 1;
    const number = standIn.calls;
    readBody(request, (body) => {
      const call = callOf(request, body, clock());
      const route = byPath.get(call.path) ?? byPath.get("");
      serve({ call, route, desk, response, failure: standIn.fail(number) });
    });
  });
  server.keepAliveTimeout = 75_000;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const standIn: StandIn = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    accepted: desk.accepted,
    refused: desk.refused,
    calls: 0,
    fail: () => undefined,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return standIn;
}

function readBody(request: IncomingMessage, done: (body: string) => void): void {
  const chunks: Buffer[] = [];
  let bytes = 0;
  request.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > BODY_BYTES_MAX) request.destroy();
    else chunks.push(chunk);
  });
  request.on("end", () => done(chunks.length === 1 ? chunks[0]!.toString("utf8") : Buffer.concat(chunks).toString()));
}

function callOf(request: IncomingMessage, body: string, nowMs: number): Call {
  const target = request.url ?? "/";
  const mark = target.indexOf("?");
  return {
    method: request.method ?? "",
    target,
    path: mark < 0 ? target : target.slice(0, mark),
    query: new URLSearchParams(mark < 0 ? "" : target.slice(mark + 1)),
    headers: request.headers,
    body,
    nowMs,
  };
}

type Serving = {
  call: Call;
  route: Route | undefined;
  desk: Desk;
  response: ServerResponse;
  failure: Failure | undefined;
};

function serve(serving: Serving): void {
  const { route, response, failure } = serving;
  switch (failure) {
    case undefined:
      judge(serving, (judged) => send(response, judged));
      break;
    case "accept_then_reset":
      judge(serving, () => reset(response.socket));
      break;
    case "accept_then_hang":
      judge(serving, () => {});
      break;
    case "hang":
      break;
    case "reset":
      reset(response.socket);
      break;
    case "server_error":
      send(response, { status: 500, body: "Internal Server Error", headers: { "content-type": "text/plain" } });
      break;
    case "not_json":
      send(response, { status: 200, body: "<html>Please wait</html>", headers: { "content-type": "text/html" } });
      break;
    case "busy":
      send(response, route?.dialect.busy ?? NOT_FOUND);
      break;
    case "bad_token":
      send(response, route?.dialect.badToken ?? NOT_FOUND);
      break;
  }
}

const NOT_FOUND = answer({ error: "not found" }, 404);
const WRONG_METHOD = answer({ error: "method not allowed" }, 405);

/** Calls back synchronously if the route answers synchronously. */
function judge({ call, route, desk }: Serving, done: (judged: Answer) => void): void {
  if (route === undefined) {
    desk.refuse(call, "no such path");
    done(NOT_FOUND);
    return;
  }
  if (!route.methods.includes(call.method as "GET")) {
    desk.refuse(call, `${call.method} is not a method of this path`);
    done(WRONG_METHOD);
    return;
  }
  const refused = (error: unknown): Answer => {
    // A fault of the stand-in itself also shows in the list of refusals.
    desk.refuse(call, error instanceof Refusal ? error.message : `The stand-in broke: ${(error as Error).stack}`);
    return error instanceof Refusal ? route.dialect.refusal(error) : answer({ error: "stand-in broke" }, 500);
  };
  try {
    const judged = route.take(call, desk);
    if (judged instanceof Promise) void judged.catch(refused).then(done);
    else done(judged);
  } catch (error) {
    done(refused(error));
  }
}

function send(response: ServerResponse, { status, body, headers }: Answer): void {
  response.writeHead(status, {
    "content-type": "application/json; charset=utf-8",
    ...headers,
    "content-length": Buffer.byteLength(body),
  });
  response.end(body);
}

function reset(socket: Socket | null): void {
  socket?.resetAndDestroy();
}
