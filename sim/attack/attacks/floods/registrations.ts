import type { Attack } from "../../attack.ts";

export const registrations: Attack = {
  name: "registrations",
  point: "5",
  by: "the owner of another app",
  what: "new users without end, each with ids and a launch query that have to be matched",
  holds: "the other app's registrations are applied as quickly as ever",
  async strike({ target, caller, random, repeat }) {
    await repeat(32, async () => {
      await caller.register(target.own.accessToken, `r-${random.hex(20)}`, {
        ad_data: { gdt_vid: random.hex(16), callback: random.hex(16) },
        device_info: {
          os_name: "android",
          oaid: random.hex(32),
          imei: random.digits(15),
          android_id: random.hex(16),
        },
      });
    });
  },
};
