import type { Attack } from "../../attack.ts";

const CLIENT = "long-numbers";
const DIGITS = 1_500_000;

export const longNumbers: Attack = {
  name: "long_numbers",
  point: "1",
  by: "the owner of another app",
  what: "numbers of 1.5 million digits, 1e400, and so many exponents, as times, ids, amounts and properties",
  holds: "refused or told, and stored as nothing else",
  async strike({ target, caller, repeat }) {
    const { accessToken } = target.own;
    await caller.register(accessToken, CLIENT);
    const digits = "9".repeat(DIGITS);
    const numbers = [
      digits,
      `0.${digits}`,
      "1e400",
      "-1e400",
      `1e${"9".repeat(300)}`,
      `${"0.000001e5,".repeat(100_000)}1`,
    ];
    const fields: readonly ((number: string) => string)[] = [
      (number) => `{"client_id":${number},"event_list":[{}]}`,
      (number) => eventOf(number, "1"),
      (number) => eventOf(String(Date.now()), number),
    ];
    await repeat(4, async (index) => {
      const body = fields[index % fields.length]!(numbers[index % numbers.length]!);
      await caller.collect(accessToken, "event/collect/", body);
    });
  },
};

function eventOf(time: string, amount: string): string {
  const properties = `{"$pay_amount":[${amount}],"n":[${amount}]}`;
  return `{"client_id":"${CLIENT}","event_list":[{"type":"track","event":"$PayEvent","time":[${time}],"properties":${properties}}]}`;
}
