import type { Attack } from "../../attack.ts";

const OWN_ADDRESS = "192.0.2.80";

export const lockOut: Attack = {
  name: "lock_out",
  point: "9",
  by: "an outsider",
  what: "sign-ins in the admin's name with wrong passwords, from many addresses",
  holds: "the admin can sign in from elsewhere all the time",
  async strike({ target, caller, random, repeat, hold }) {
    const { adminName: name, adminPassword } = target.inside;
    const path = "/admin/api/v1/session/sign-in";
    await repeat(6, async (number) => {
      const from = `198.51.100.${random.whole(100, 250)}`;
      if (number % 25 !== 0)
        return void (await caller.send({ path, from, body: { name, password: `wrong ${number}` } }));
      const reply = await caller.send({ path, from: OWN_ADDRESS, body: { name, password: adminPassword } });
      hold(reply.code === 0, `the admin was refused: ${reply.status} ${reply.msg}`);
    });
  },
};
