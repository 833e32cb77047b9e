import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AppBacklog } from "../../src/intake/app-backlog.ts";
import { LIMITS } from "../../src/limits.ts";

const HOUR_MS = 3_600_000;

const at = (position: number, partition = 0) => ({ partition, position });

describe("the backlog of each app", () => {
  test("is what was written and is not applied yet", () => {
    const backlog = new AppBacklog();
    backlog.written(
      at(100),
      new Map([
        [1, 70],
        [2, 30],
      ]),
      0,
    );
    backlog.written(at(200), new Map([[1, 100]]), 0);
    expect([backlog.waiting.of(1), backlog.waiting.of(2), backlog.waiting.all, backlog.waiting.count]).toEqual([
      170, 30, 200, 2,
    ]);
    backlog.applied(at(150));
    expect([backlog.waiting.of(1), backlog.waiting.of(2), backlog.waiting.all, backlog.waiting.count]).toEqual([
      100, 0, 100, 1,
    ]);
    backlog.applied(at(200));
    expect([backlog.waiting.of(1), backlog.waiting.all, backlog.waiting.count]).toEqual([0, 0, 0]);
  });

  test("adds up whatever is written and applied, and is gone when all is applied", () => {
    const flushes = fc.array(fc.tuple(fc.array(fc.tuple(fc.nat(5), fc.integer({ min: 1, max: 100 }))), fc.nat(300)));
    fc.assert(
      fc.property(flushes, (steps) => {
        const backlog = new AppBacklog();
        let until = 0;
        for (const [bytes, back] of steps) {
          const byApp = new Map(bytes);
          until += [...byApp.values()].reduce((sum, one) => sum + one, 0);
          backlog.written(at(until), byApp, 0);
          backlog.applied(at(Math.max(0, until - back)));
          const sum = [...backlog.waiting.apps()].reduce((all, appId) => all + backlog.waiting.of(appId), 0);
          expect(backlog.waiting.all).toBe(sum);
          expect(backlog.waiting.all).toBeGreaterThanOrEqual(0);
        }
        backlog.applied(at(until));
        expect([backlog.waiting.all, backlog.waiting.count]).toEqual([0, 0]);
      }),
    );
  });

  test("is counted by the positions of its own partition", () => {
    const backlog = new AppBacklog();
    backlog.written(at(100, 0), new Map([[1, 100]]), 0);
    backlog.written(at(5, 1), new Map([[2, 50]]), 0);
    backlog.applied(at(99, 0));
    expect([backlog.waiting.of(1), backlog.waiting.of(2)]).toEqual([100, 50]);
    backlog.applied(at(5, 1));
    expect([backlog.waiting.of(1), backlog.waiting.of(2), backlog.waiting.all]).toEqual([100, 0, 100]);
  });

  test("stays exact while its marks are merged", () => {
    const backlog = new AppBacklog();
    const flushes = LIMITS.backlogCells + 10;
    for (let until = 1; until <= flushes; until += 1) backlog.written(at(until), new Map([[1, 1]]), 0);
    expect(backlog.waiting.of(1)).toBe(flushes);
    backlog.applied(at(flushes / 2));
    expect(backlog.waiting.of(1)).toBeGreaterThanOrEqual(flushes / 2);
    expect(backlog.waiting.of(1)).toBeLessThan(flushes / 2 + 10);
    backlog.applied(at(flushes));
    expect(backlog.waiting.of(1)).toBe(0);
  });
});

test("recent writes fade by half in an hour, applied or not", () => {
  const backlog = new AppBacklog();
  backlog.written(at(100), new Map([[1, 100]]), HOUR_MS);
  backlog.applied(at(100));
  expect(backlog.lately.of(1)).toBe(100);
  backlog.written(at(110), new Map([[2, 10]]), 2 * HOUR_MS);
  expect([backlog.lately.of(1), backlog.lately.of(2)]).toEqual([50, 10]);
  for (let hours = 3; hours < 12; hours += 1) backlog.written(at(110), new Map([[2, 1]]), hours * HOUR_MS);
  expect(backlog.lately.of(1)).toBe(0);
});
