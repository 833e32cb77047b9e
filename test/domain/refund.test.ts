import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Asked, countRefunds, type RefundedOrder } from "../../src/domain/refund.ts";

const ORDER: RefundedOrder = { cents: 1_000, sentAmount: 1_000, currency: "CNY" };
const asked = (amount: number | null, currency = "CNY", cents: number | null = amount): Asked => ({
  amount,
  currency,
  cents,
});

describe("of an order of 10.00, refunds of", () => {
  test.each<[string, Asked[], number[]]>([
    ["a part count that part", [asked(300)], [300]],
    ["several parts add up", [asked(300), asked(200)], [300, 200]],
    ["more than is left count what is left, and then nothing", [asked(700), asked(700), asked(1)], [700, 300, 0]],
    ["everything count all that is left", [asked(300), asked(null), asked(null)], [300, 700, 0]],
    ["nothing, or less than nothing, count nothing", [asked(0), asked(-500)], [0, 0]],
    ["another currency count by the rate of their time", [asked(100, "USD", 712)], [712]],
    ["another currency without a rate count nothing", [asked(100, "USD", null)], [0]],
  ])("%s", (_, refunds, counted) => {
    expect(countRefunds(ORDER, refunds)).toEqual(counted);
  });
});

test("an order in another currency is paid back in shares, whatever the rate has become", () => {
  const order = { cents: 7_123, sentAmount: 1_000, currency: "USD" };
  const late = (amount: number) => asked(amount, "USD", amount * 9);
  expect(countRefunds(order, [late(500), late(500)])).toEqual([3_562, 3_561]);
  expect(countRefunds(order, [late(1_000)])).toEqual([7_123]);
});

test("an order without a rate, or a negative one, has nothing to pay back", () => {
  expect(countRefunds({ cents: 0, sentAmount: 500, currency: "USD" }, [asked(500, "USD", null)])).toEqual([0]);
  expect(countRefunds({ cents: -100, sentAmount: -100, currency: "CNY" }, [asked(null), asked(50)])).toEqual([0, 0]);
});

test("refunds never exceed the order, and each counts at least nothing", () => {
  const amounts = fc.option(fc.integer({ min: -10, max: 2_000_000 }), { nil: null });
  fc.assert(
    fc.property(fc.nat(1_000_000), fc.array(amounts, { maxLength: 6 }), (cents, list) => {
      const counted = countRefunds(
        { cents, sentAmount: cents, currency: "CNY" },
        list.map((amount) => asked(amount)),
      );
      expect(counted.every((one) => one >= 0)).toBe(true);
      const sum = counted.reduce((total, one) => total + one, 0);
      const wanted = list.reduce<number>((total, amount) => total + Math.max(0, amount ?? cents), 0);
      expect(sum).toBe(Math.min(cents, wanted));
    }),
  );
});
