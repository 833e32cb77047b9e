import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { inTurns } from "../../src/http/in-turns.ts";
import { LIMITS } from "../../src/limits.ts";

type Request = { number: number; destroyed?: boolean };

/** Records the order in which requests are handled. */
function recorded(): { handled: number[]; handle: (request: Request) => void } {
  const handled: number[] = [];
  const handle = inTurns((request) => handled.push((request as unknown as Request).number));
  return { handled, handle: (request) => handle(request as never, null as never) };
}

test("requests that arrive together are handled in order, a limited number per turn, and none is forgotten", async () => {
  const { handled, handle } = recorded();
  const all = Array.from({ length: 3 * LIMITS.requestsPerTurn + 1 }, (_, number) => number);
  for (const number of all) handle({ number });
  expect(handled).toHaveLength(LIMITS.requestsPerTurn);
  await turn();
  expect(handled).toHaveLength(2 * LIMITS.requestsPerTurn);
  handle({ number: all.length });
  while (handled.length <= all.length) await turn();
  expect(handled).toEqual([...all, all.length]);
  await turn();
  handle({ number: -1 });
  expect(handled.at(-1)).toBe(-1);
});

test("a request whose caller hung up while it waited is dropped", async () => {
  const { handled, handle } = recorded();
  for (let number = 0; number < LIMITS.requestsPerTurn; number += 1) handle({ number });
  handle({ number: -1, destroyed: true });
  handle({ number: -2 });
  await turn();
  expect(handled.slice(LIMITS.requestsPerTurn)).toEqual([-2]);
});
