import { expect, test } from "vitest";
import { LargeTurn } from "../src/large-turn.ts";

const LONG_MS = 600_000;

function two(waitMs: number): [LargeTurn, LargeTurn] {
  const shared = new SharedArrayBuffer(4);
  return [new LargeTurn(shared, { id: 1, waitMs }), new LargeTurn(shared, { id: 2, waitMs })];
}

test("a thread waits until the other one gives its turn back", async () => {
  const [one, other] = two(LONG_MS);
  await one.take();
  const seen: string[] = [];
  const taken = other.take().then(() => seen.push("taken"));
  await new Promise((resolve) => setImmediate(resolve));
  seen.push("given");
  one.give();
  await taken;
  expect(seen).toEqual(["given", "taken"]);
});

test("a turn that is never given back is taken over, and its late holder frees nothing", async () => {
  const [one, other] = two(1);
  await one.take();
  await other.take();
  one.give();
  const third: string[] = [];
  const taken = one.take().then(() => third.push("taken over"));
  expect(third).toEqual([]);
  await taken;
  one.give();
  await other.take();
});
