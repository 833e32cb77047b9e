import type { Attack } from "../../attack.ts";

export const setupGuessing: Attack = {
  name: "setup_guessing",
  point: "2",
  by: "an outsider",
  what: "one-time tokens are guessed with good passwords, from all addresses of one IPv6 network",
  holds: "refused before a password is hashed",
  isCrowd: true,
  async strike({ caller, random, repeat, hold }) {
    await repeat(100, async (number) => {
      const body = { token: random.hex(64), name: "me", password: `A very long passphrase ${number}` };
      const from = `2001:db8:77:1::${(number % 65_000).toString(16)}`;
      const reply = await caller.send({ path: "/admin/api/v1/session/setup", body, from });
      hold(reply.code !== 0, "a token was guessed");
    });
  },
};
