import type { Attack } from "../../attack.ts";

export const unknownClients: Attack = {
  name: "unknown_clients",
  point: "8",
  by: "the owner of another app",
  what: "events of clients that never registered, each another one, so that each has to be looked up",
  holds: "each is told so; the look-ups of others do not wait",
  async strike({ target, caller, random, repeat }) {
    const { accessToken } = target.own;
    await repeat(48, async () => {
      const clientId = random.hex(24);
      const event = { type: "track", event: "e", time: Date.now(), properties: {} };
      if (random.chance(0.5))
        await caller.collect(accessToken, "event/collect/", { client_id: clientId, event_list: [event] });
      else
        await caller.collect(accessToken, "user/get/", {
          user_list: Array.from({ length: 100 }, () => random.hex(24)),
        });
    });
  },
};
