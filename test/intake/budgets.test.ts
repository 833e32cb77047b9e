import { describe, expect, test } from "vitest";
import { Budgets, IntakeBudgets } from "../../src/intake/budgets.ts";
import { Refusals } from "../../src/intake/refusals.ts";
import { LIMITS } from "../../src/limits.ts";

const RATE = { entriesPerS: 2, bytesPerS: 100 };
const BURST = RATE.entriesPerS * LIMITS.budgetBurstS;

function spent(budgets: Budgets<string>, key: string, nowMs: number, bytes = 1): number {
  let calls = 0;
  while (!budgets.take(key, bytes, nowMs)) calls += 1;
  return calls;
}

describe("a budget", () => {
  test("allows a burst, then its rate, and says when to come again", () => {
    const budgets = new Budgets<string>(RATE, 10);
    expect(spent(budgets, "a", 0)).toBe(BURST);
    expect(budgets.take("a", 1, 0)).toEqual({ of: "entries", retryAfterS: 1 });
    expect(spent(budgets, "a", 3_000)).toBe(6);
    expect(spent(budgets, "a", 3_000_000), "never more than the burst").toBe(BURST);
  });

  test("counts bytes as well: a large call leaves a debt that the next ones wait for", () => {
    const budgets = new Budgets<string>(RATE, 10);
    const all = RATE.bytesPerS * LIMITS.budgetBurstS;
    expect(budgets.take("a", all + 500, 0)).toBeUndefined();
    expect(budgets.take("a", 1, 0)).toEqual({ of: "bytes", retryAfterS: 5 });
    expect(budgets.take("a", 1, 5_100)).toBeUndefined();
    budgets.charge("a", 200);
    expect(budgets.take("a", 1, 5_100)).toMatchObject({ of: "bytes", retryAfterS: 2 });
  });

  test("is separate for each owner", () => {
    const budgets = new Budgets<string>(RATE, 10);
    spent(budgets, "a", 0);
    expect(spent(budgets, "b", 0)).toBe(BURST);
  });

  test("is kept for a limited number of owners; the oldest is forgotten", () => {
    const budgets = new Budgets<string>(RATE, 2);
    for (const key of ["a", "b"]) spent(budgets, key, 0);
    expect(spent(budgets, "c", 0)).toBe(BURST);
    expect(spent(budgets, "b", 0)).toBe(0);
    expect(spent(budgets, "a", 0)).toBe(BURST);
  });

  test("neither grows nor shrinks when the clock is set back", () => {
    const budgets = new Budgets<string>(RATE, 10);
    spent(budgets, "a", 10_000);
    expect(spent(budgets, "a", 5_000)).toBe(0);
    expect(spent(budgets, "a", 6_000)).toBe(2);
  });
});

test("calls of apps and of addresses are counted by reason; an IPv6 caller by its /64", () => {
  const refusals = new Refusals(() => 7);
  const rate = { entriesPerS: 1 / LIMITS.budgetBurstS, bytesPerS: 1e6 };
  const budgets = new IntakeBudgets({ app: rate, address: rate, refusals });
  expect(budgets.takeFromApp(1, 10, 0)).toBeUndefined();
  expect(budgets.takeFromApp(1, 10, 0)).toMatchObject({ reason: "overBudget", retryAfterS: LIMITS.budgetBurstS });
  const link = (address: string) => budgets.takeFromAddress({ address, appId: 2, bytes: 10 }, 0);
  expect(link("2001:db8::1")).toBeUndefined();
  expect(link("2001:db8::2")).toMatchObject({ reason: "overBudget" });
  expect(link("2001:db8:0:1::2")).toBeUndefined();
  expect(link("192.0.2.1")).toBeUndefined();
  expect(refusals.list()).toEqual([
    { appId: 1, refusal: "entries", calls: 1, lastAtMs: 7 },
    { appId: 2, refusal: "address", calls: 1, lastAtMs: 7 },
  ]);
});
