import { LIMITS } from "../limits.ts";
import type { Handler } from "./handler.ts";

/**
 * Handles a limited number of requests in one turn of the event loop, and the others in the next turns, in the order in
 * which they came. Otherwise four hundred sign-ins at once would hold up everybody for as long as all of them take.
 */
export function inTurns(handle: Handler): Handler {
  const waiting: Parameters<Handler>[] = [];
  let handled = 0;

  const turn = () => {
    handled = 0;
    if (waiting.length > 0) setImmediate(turn);
    while (handled < LIMITS.requestsPerTurn && waiting.length > 0) {
      const [request, response] = waiting.shift()!;
      // Whoever has hung up meanwhile sends no more of it, and wants no answer.
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
