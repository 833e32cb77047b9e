import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { LIMITS } from "../limits.ts";
import type { Handler } from "./handler.ts";

/**
 * Starts each request of a connection only when the previous one is answered, even when a client pipelines many.
 * Otherwise their answers fill the memory, and other clients' requests queue behind them. Measured: 180 KB of requests
 * whose answers nobody read took 2.5 GB, and sixteen such connections blocked all others for 48 s. A connection with
 * too many waiting requests is cut off.
 */
export function oneAtATime(handle: Handler): Handler {
  const waiting = new WeakMap<Socket, number>();
  return (request, response) => {
    // Only a response queued behind another one has no socket yet.
    if (response.socket === null) wait(request, response);
    else handle(request, response);
  };

  function wait(request: IncomingMessage, response: ServerResponse): void {
    const { socket } = request;
    if (!waiting.has(socket)) closeWithoutStacks(socket);
    const count = (waiting.get(socket) ?? 0) + 1;
    waiting.set(socket, count);
    if (count > LIMITS.requestsWaiting) socket.destroy();
    response.once("socket", () => {
      waiting.set(socket, (waiting.get(socket) ?? 1) - 1);
      if (!request.destroyed) handle(request, response);
    });
  }
}

/**
 * When a connection closes, the runtime creates an error for every request waiting on it. Collecting their stack traces
 * took up to 50 ms for 500 requests, and nobody reads them.
 */
function closeWithoutStacks(socket: Socket): void {
  let limit = Error.stackTraceLimit;
  socket.prependOnceListener("close", () => {
    limit = Error.stackTraceLimit;
    Error.stackTraceLimit = 0;
  });
  socket.once("close", () => {
    Error.stackTraceLimit = limit;
  });
}
