import type { Attack } from "../../attack.ts";
import { PACKED } from "../../caller.ts";
import { bombs } from "./bombs.ts";

const PATHS = ["combo_sql", "order/list", "user/list", "metrics/list"];

export const packedReport: Attack = {
  name: "packed_report",
  point: "1",
  by: "an outsider",
  what: "the same to the report endpoints, whose sign can only be checked when the body is read",
  holds: "refused",
  async strike({ caller, repeat, hold }) {
    const all = bombs();
    await repeat(8, async (number) => {
      const { name, bytes } = all[number % all.length]!;
      const path = `/openapi/api/v1/report/${PATHS[number % PATHS.length]}/`;
      const reply = await caller.send({ path, body: bytes, headers: PACKED, from: "198.51.100.2" });
      hold(reply.code !== 0, `${path} took ${name}`);
    });
  },
};
