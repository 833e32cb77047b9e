import type { Attack } from "../../attack.ts";

const CHECKED_MAX = 20;
const WRONG_PASSWORD = 2002;

export const passwordGuessing: Attack = {
  name: "password_guessing",
  point: "9",
  by: "somebody inside",
  what: "whoever finds an open console guesses its owner's password by changing it",
  holds: `no more than ${CHECKED_MAX} guesses are looked at`,
  async strike({ target, caller, repeat, hold }) {
    const { analystName: name, analystPassword: password } = target.inside;
    const from = "192.0.2.90";
    const signedIn = await caller.send({ path: "/admin/api/v1/session/sign-in", from, body: { name, password } });
    const cookie = String(signedIn.headers["set-cookie"] ?? "").split(";")[0]!;
    const csrf = /"csrf":"([^"]*)"/.exec(signedIn.text)?.[1] ?? "";
    const headers = { cookie, "touchpoint-csrf": csrf };
    let checked = 0;
    await repeat(32, async (number) => {
      const body = { password: `guess number ${number}`, new_password: "Another long passphrase" };
      const reply = await caller.send({ path: "/admin/api/v1/session/password", body, headers, from });
      if (reply.code === WRONG_PASSWORD) checked += 1;
      hold(reply.code !== 0, "a guess was right");
    });
    hold(checked <= CHECKED_MAX, `${checked} guesses were checked`);
  },
};
