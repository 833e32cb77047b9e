import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { ownTurn } from "../src/own-turn.ts";

test("those who wait at the same time compute in turns of their own, in order", async () => {
  let turns = 0;
  const seen: [who: number, inTurn: number][] = [];
  const all = Promise.all(
    [0, 1, 2, 3].map(async (who) => {
      for (let step = 0; step < 3; step += 1) {
        await ownTurn();
        seen.push([who, turns]);
      }
    }),
  );
  let isOver = false;
  all.then(() => {
    isOver = true;
  });
  while (!isOver) {
    await turn();
    turns += 1;
  }
  expect(seen.map(([who]) => who)).toEqual([0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3]);
  expect(new Set(seen.map(([, inTurn]) => inTurn)).size).toBe(seen.length);
});
