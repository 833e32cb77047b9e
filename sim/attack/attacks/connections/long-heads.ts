import type { Attack } from "../../attack.ts";

export const longHeads: Attack = {
  name: "long_heads",
  point: "1",
  by: "an outsider",
  what: "as many headers as fit, thousands of cookies, and lists of forwarding addresses without end",
  holds: "answered, or refused with 4xx",
  async strike({ caller, repeat, hold }) {
    const many = Object.fromEntries(Array.from({ length: 900 }, (_, number) => [`x-${number}`, "1"]));
    const all = [
      many,
      { cookie: "a=b; ".repeat(2_800) },
      { cookie: `touchpoint_session=${"=;".repeat(6_000)}` },
      { "x-forwarded-for": "1.1.1.1,".repeat(1_700) },
      { authorization: `Bearer ${"a.".repeat(6_000)}` },
      { "accept-encoding": "gzip,".repeat(2_500), origin: `https://${"a".repeat(2_000)}` },
    ];
    const paths = ["/admin/api/v1/session", "/healthz", "/event_center/api/v1/event/click/?app_id=1&company=x"];
    await repeat(16, async (number) => {
      const call = { method: "GET", path: paths[number % paths.length]!, headers: all[number % all.length]! };
      const reply = await caller.send(call);
      hold(reply.status < 500, `${call.path} was answered with ${reply.status}`);
    });
  },
};
