import type { Attack } from "../../attack.ts";

const AT_ONCE = 400;
const CHECKED_MAX = 20;
const WRONG_PASSWORD = 2002;

export const signInStorm: Attack = {
  name: "sign_in_storm",
  point: "2",
  by: "an outsider",
  what: `${AT_ONCE} sign-ins at the same time from one address, each with another password`,
  holds: `no more than ${CHECKED_MAX} passwords are looked at, and the journal waits for none of them`,
  isCrowd: true,
  async strike({ target, caller, repeat, hold }) {
    let checked = 0;
    await repeat(AT_ONCE, async (number) => {
      const body = { name: target.inside.adminName, password: `guess number ${number}` };
      const reply = await caller.send({ path: "/admin/api/v1/session/sign-in", body, from: "198.51.100.10" });
      if (reply.code === WRONG_PASSWORD) checked += 1;
      hold(reply.code !== 0, "a guess was right");
    });
    hold(checked <= CHECKED_MAX, `${checked} guesses were checked`);
  },
};
