import { expect, test } from "vitest";
import { createLog } from "../src/log.ts";
import { startLoop, type Trouble } from "../src/loop.ts";

test("a loop logs its trouble when it begins, when the reason changes and when it ends, not on every turn", async () => {
  const told: string[] = [];
  const turns = ["a", "a", "a", "b", "b", "", "", "a", ""];
  const loop = startLoop({
    name: "test",
    log: createLog("silent"),
    idleMs: 1,
    failureMsMax: 1,
    onTrouble: (trouble: Trouble) => told.push(trouble ? (trouble.failure as Error).message : ""),
    async turn() {
      const reason = turns.shift();
      if (reason) throw new Error(reason);
      return "idle";
    },
  });
  await expect.poll(() => turns).toEqual([]);
  await loop.stop();
  expect(told).toEqual(["a", "b", "", "a", ""]);
});
