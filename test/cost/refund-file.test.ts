import { Readable } from "node:stream";
import { describe, expect, test } from "vitest";
import { readRefunds } from "../../src/cost/refund-file.ts";

const NOW_MS = Date.UTC(2026, 10, 16, 4);
const HEADER = "order_id,amount,time,refund_id,currency";
const read = (...lines: string[]) =>
  readRefunds(Readable.from([[HEADER, ...lines, ""].join("\n")]), {
    timeZone: "Asia/Shanghai",
    currency: "CNY",
    nowMs: NOW_MS,
  });
const AT_8 = Date.UTC(2026, 10, 15);

describe("a line of a file of refunds", () => {
  test.each<[string, string, object]>([
    ["has its amount in major units", "o,12.5,2026-11-15 08:00:00,r,", { amount: 1_250 }],
    ["without an amount is all that is left", "o,,2026-11-15 08:00:00,r,", { amount: null }],
    ["has its time in the app's zone", "o,1,2026-11-15 08:00:00,r,", { time: AT_8 }],
    ["may have its time in milliseconds", `o,1,${AT_8 + 7},r,`, { time: AT_8 + 7 }],
    ["is in the app's currency", "o,1,2026-11-15 08:00:00,r,", { currency: "CNY" }],
    ["may be in another currency", "o,1,2026-11-15 08:00:00,r,usd", { currency: "USD" }],
    ["keeps ids as they are", '"=o,1",1,2026-11-15 08:00:00,"r""1",', { order_id: "=o,1", refund_id: 'r"1' }],
  ])("%s", async (_, line, refund) => {
    expect(await read(line)).toMatchObject([refund]);
  });

  test("without an id gets the same one whenever it is read, and another line another one", async () => {
    const lines = ["o,1,2026-11-15 08:00:00,,", "o,2,2026-11-15 08:00:00,,", "o,1,2026-11-15 08:00:01,,"];
    const ids = (await read(...lines)).map(({ refund_id }) => refund_id);
    expect(new Set(ids).size).toBe(3);
    expect((await read(...lines)).map(({ refund_id }) => refund_id)).toEqual(ids);
  });

  test.each<[string, string, RegExp]>([
    ["no order", ",1,2026-11-15 08:00:00,,", /line 2: order_id is empty/],
    [
      "an order with too long an id",
      `${"o".repeat(2_049)},1,2026-11-15 08:00:00,,`,
      /order_id is longer than 2,048 bytes/,
    ],
    ["a negative amount", "o,-1,2026-11-15 08:00:00,,", /amount must be a number such as 12\.50/],
    ["a text for an amount", "o,much,2026-11-15 08:00:00,,", /amount must be a number such as 12\.50/],
    ["fractions of a cent", "o,1.005,2026-11-15 08:00:00,,", /amount must be a number such as 12\.50/],
    ["nothing to pay back", "o,0.00,2026-11-15 08:00:00,,", /amount must be more than 0/],
    ["a day without its time", "o,1,2026-11-15,,", /time must look like 2026-11-15 08:00:00/],
    ["an impossible time", "o,1,2026-11-31 08:00:00,,", /time must look like 2026-11-15 08:00:00/],
    ["a time in the future", "o,1,2026-11-16 13:00:01,,", /time is in the future/],
    ["an unknown currency", "o,1,2026-11-15 08:00:00,,yuan", /currency must be three letters/],
  ])("with %s is refused", async (_, line, message) => {
    await expect(read(line)).rejects.toThrow(message);
  });

  test("that repeats another one is refused: two equal refunds need ids", async () => {
    const line = "o,1,2026-11-15 08:00:00,,";
    await expect(read(line, line)).rejects.toThrow("line 3: it has the same key as line 2");
    expect(await read("o,1,2026-11-15 08:00:00,a,", "o,1,2026-11-15 08:00:00,b,")).toHaveLength(2);
  });
});
