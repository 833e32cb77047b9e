import type { Attack } from "../../attack.ts";

export const FLOOD_CLICK = "flood-click-";

export const oneAddress: Attack = {
  name: "flooded_links",
  point: "5",
  by: "an outsider",
  what: "link calls from one address with the other app's public id, each with another click id",
  holds: "that address is told to wait; the platforms' own calls are not, and what comes in is flagged or bounded",
  async strike({ target, caller, random, repeat }) {
    await repeat(32, async () => {
      const query = `app_id=${target.victim.appId}&company=tencent&click_id=${FLOOD_CLICK}${random.hex(16)}&oaid=${random.hex(32)}`;
      await caller.link(random.chance(0.5) ? "click" : "impression", query, "198.51.100.30");
    });
  },
};
