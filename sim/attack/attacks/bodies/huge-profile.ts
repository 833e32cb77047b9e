import type { Attack } from "../../attack.ts";
import { PACKED, packed } from "../../caller.ts";

const CLIENT = "huge-profile";
const LISTS = 15;
const PROFILE_BYTES_MAX = 256 * 1024;
const SPREAD = 40;

export const hugeProfile: Attack = {
  name: "huge_profile",
  point: "3",
  by: "the owner of another app",
  what: "lists of 500 long texts are set and appended to one user's properties, again and again, with small events in between",
  holds: "no profile is longer than 256 KiB, and what is too long is told",
  async strike({ target, caller, repeat }) {
    const { accessToken } = target.own;
    await caller.register(accessToken, CLIENT);
    const list = JSON.stringify(Array.from({ length: 500 }, (_, index) => `${index}${"x".repeat(2_000)}`));
    await repeat(2, async (number) => {
      const time = Date.now();
      const names = Array.from({ length: LISTS }, (_, index) => `p${number % SPREAD}_${index}`);
      const properties = `{${names.map((name) => `"${name}":${list}`).join(",")}}`;
      const event = number % 2 === 0 ? "profile_set" : "profile_append";
      const body = `{"client_id":"${CLIENT}","event_list":[{"type":"profile","event":"${event}","time":${time},"properties":${properties}}]}`;
      await caller.collect(accessToken, "event/collect/", packed(body), { headers: PACKED });
      const small = { type: "profile", event: "profile_set", time, properties: { small: number } };
      await caller.collect(accessToken, "event/collect/", { client_id: CLIENT, event_list: [small] });
    });
  },
  async check({ stage }) {
    const { rows } = await stage.pool.query(
      "select coalesce(max(octet_length(properties::text)), 0)::float8 as bytes from user_account where app_id = $1",
      [stage.target.own.appId],
    );
    const { bytes } = rows[0];
    return bytes <= PROFILE_BYTES_MAX * 1.1 ? [] : [`a profile has ${Math.round(bytes / 1024)} KiB`];
  },
};
