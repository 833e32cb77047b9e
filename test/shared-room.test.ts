import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SharedRoom } from "../src/shared-room.ts";

describe("shared room", () => {
  test("goes to the first holder, up to half", () => {
    const room = new SharedRoom<string>(100);
    expect(room.take("a", 50)).toBe("taken");
    expect(room.take("a", 1)).toBe("over_share");
    expect(room.used).toBe(50);
  });

  test("beyond half goes to holders of less than an even share", () => {
    const room = new SharedRoom<string>(100);
    room.take("a", 50);
    expect(room.take("b", 25)).toBe("taken");
    expect(room.take("b", 1)).toBe("over_share");
    expect(room.take("c", 16)).toBe("taken");
    expect(room.take("c", 1)).toBe("over_share");
    room.give("a", 50);
    expect(room.take("b", 9)).toBe("taken");
  });

  test("is full at its end, even for a holder of nothing", () => {
    const room = new SharedRoom<string>(4);
    for (const key of ["a", "b"]) expect(room.take(key, 1)).toBe("taken");
    for (const key of ["c", "d"]) expect(room.take(key, 0.5)).toBe("taken");
    expect(room.take("e", 2)).toBe("full");
  });

  test("never exceeds its end, and a newcomer finds a place beside any single holder", () => {
    const wishes = fc.array(fc.tuple(fc.integer({ min: 0, max: 3 }), fc.integer({ min: 1, max: 40 })));
    fc.assert(
      fc.property(wishes, (taken) => {
        const room = new SharedRoom<number>(100);
        for (const [key, amount] of taken) room.take(key, amount);
        expect(room.used).toBeLessThanOrEqual(100);
      }),
    );
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 40 })), (amounts) => {
        const room = new SharedRoom<string>(100);
        for (const amount of amounts) room.take("greedy", amount);
        expect(room.take("other", 25)).toBe("taken");
      }),
    );
  });

  test("is free again once returned, and holders of nothing are forgotten", () => {
    const room = new SharedRoom<string>(100);
    for (const key of ["a", "b", "c", "d"]) {
      room.take(key, 10);
      room.give(key, 10);
    }
    expect(room.used).toBe(0);
    // With four others remembered, the share of "e" would be ten.
    room.take("f", 40);
    expect(room.take("e", 25)).toBe("taken");
  });
});
