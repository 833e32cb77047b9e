import { LIMITS } from "../limits.ts";
import type { Handler } from "./handler.ts";

/**
 * Handles a limited number of requests per turn of the event loop, and the others in the next turns, in order of
 * arrival. Otherwise four hundred sign-ins at once would hold up every other request for as long as all of them take.
 */
export function inTurns(handle: Handler): Handler {
  const waiting: Parameters<Handler>[] = [];
  let handled = 0;

  const turn = () => {
    handled = 0;
    if (waiting.length > 0) setImmediate(turn);
    while (handled < LIMITS.requestsPerTurn && waiting.length > 0) {
      const [request, response] = waiting.shift()!;
      // The client has hung up meanwhile: no more of the request will come, and nobody waits for the answer.
      if (request.destroyed) continue;
      handled += 1;
      handle(request, response);
    }
  };

  return (...call) => {
    if (handled >= LIMITS.requestsPerTurn || waiting.length > 0) {
      waiting.push(call);
      return;
    }
    if (handled === 0) setImmediate(turn);
    handled += 1;
    handle(...call);
  };
}
