import type { Attack } from "../../attack.ts";

const KEYS_MAX = 32;
const BYTES = 1_900_000;

export const manyIds: Attack = {
  name: "many_ids",
  point: "4",
  by: "an outsider",
  what: "one link call with 300,000 device ids (`caid=1_a,1_b,…`) in a form of 2 MiB, or as many as fit an address",
  holds: `a touch has ${KEYS_MAX} keys at most`,
  async strike({ target, caller, random, repeat }) {
    const form = "application/x-www-form-urlencoded";
    await repeat(2, async (number) => {
      const query = `app_id=${target.own.appId}&company=bytedance&click_id=ids-${random.hex(12)}`;
      const isForm = number % 2 === 0;
      const caid = caids(random.hex(4), isForm ? BYTES : 12_000);
      const from = "198.51.100.60";
      if (!isForm) return void (await caller.link("click", `${query}&caid=${caid}`, from));
      const path = `/event_center/api/v1/event/click/?${query}`;
      await caller.send({ path, body: `caid=${caid}`, headers: { "content-type": form }, from });
    });
  },
  async check({ stage }) {
    const { rows } = await stage.pool.query(
      `select coalesce(max(count), 0)::int as most from
         (select count(*) as count from touch_key where app_id = $1 group by touch_id) keys`,
      [stage.target.own.appId],
    );
    const { most } = rows[0];
    return most <= KEYS_MAX ? [] : [`a touch has ${most} keys`];
  },
};

function caids(salt: string, bytes: number): string {
  const parts: string[] = [];
  for (let number = 0, length = 0; length < bytes; number += 1) {
    const part = `1_${salt}${number.toString(36)}`;
    parts.push(part);
    length += part.length + 1;
  }
  return parts.join(",");
}
