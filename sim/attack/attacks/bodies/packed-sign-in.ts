import type { Attack } from "../../attack.ts";
import { PACKED } from "../../caller.ts";
import { bombs } from "./bombs.ts";

const PATHS = ["session/sign-in", "session/setup", "session/password", "apps/create"];

export const packedSignIn: Attack = {
  name: "packed_sign_in",
  point: "1",
  by: "an outsider",
  what: "16 KB of gzip that hold 16 MiB of brackets, to signing in and to the admin interface",
  holds: "refused, and nothing is unpacked for somebody unknown",
  async strike({ caller, repeat, hold }) {
    const all = bombs();
    await repeat(8, async (number) => {
      const { name, bytes } = all[number % all.length]!;
      const path = PATHS[number % PATHS.length]!;
      const reply = await caller.send({
        path: `/admin/api/v1/${path}`,
        body: bytes,
        headers: PACKED,
        from: "198.51.100.1",
      });
      hold(reply.code !== 0, `${path} took ${name}`);
    });
  },
};
