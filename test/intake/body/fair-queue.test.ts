import { expect, test } from "vitest";
import { FairQueue } from "../../../src/intake/body/fair-queue.ts";

function taken(added: readonly [string, number][]): number[] {
  const queue = new FairQueue<string, number>();
  for (const [owner, item] of added) queue.add(owner, item);
  const items: number[] = [];
  for (let item = queue.take(); item !== undefined; item = queue.take()) items.push(item);
  return items;
}

test("owners take turns, and one owner's items keep their order", () => {
  const many = Array.from({ length: 5 }, (_, index): [string, number] => ["greedy", index]);
  expect(taken([...many, ["modest", 100], ["other", 200], ["modest", 101]])).toEqual([0, 100, 200, 1, 101, 2, 3, 4]);
});

test("an owner whose turn is over comes after those who wait", () => {
  const queue = new FairQueue<string, string>();
  queue.add("a", "a1");
  queue.add("b", "b1");
  expect(queue.take()).toBe("a1");
  queue.add("a", "a2");
  expect([queue.take(), queue.take(), queue.take()]).toEqual(["b1", "a2", undefined]);
});
