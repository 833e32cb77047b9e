import { createHash } from "node:crypto";
import type { Attack } from "../../attack.ts";
import type { Target } from "../../target.ts";

const FORGED = "forged-";
const FORM = { "content-type": "application/x-www-form-urlencoded" };
const BASE = "/event_center/api/v1/event/click/?";

export const baiduClicks: Attack = {
  name: "forged_clicks",
  point: "6",
  by: "an outsider",
  what: "clicks that one reading takes for Tencent's and another for Baidu's, signed addresses with unsigned forms",
  holds: "no Baidu click without Baidu's sign is stored",
  async strike({ target, caller, random, repeat }) {
    const { appId } = target.signing;
    await repeat(4, async (number) => {
      const from = "198.51.100.70";
      const id = `bd_vid=${FORGED}${random.hex(12)}`;
      const queries = [
        `app_id=${appId}&%63ompany=baidu&company=tencent&${id}`,
        `app_id=${appId}&company=tencent&%63ompany=baidu&${id}`,
        `app_id=${appId}&company=tencent&company=baidu&${id}`,
        `app_id=${appId}&company=baidu&company=tencent&${id}`,
        `app_id=${appId}&comp%61ny=baid%75&${id}`,
        `app_id=${appId}&company=BAIDU&${id}`,
        `app_id=${appId}&company=baidu%00&${id}`,
        `app_id=${appId}&company=%20baidu&${id}`,
        `app_id=${appId}&company=baidu;company=tencent&${id}`,
        `%61pp_id=${appId}&company=baidu&${id}`,
      ];
      const whole = `app_id=${appId}&company=baidu`;
      if (number % 3 === 0)
        return void (await caller.send({ path: BASE + signed(target, whole), body: id, headers: FORM, from }));
      if (number % 3 === 1) {
        const body = `company=baidu&${id}`;
        return void (await caller.send({ path: `${BASE}app_id=${appId}&company=tencent`, body, headers: FORM, from }));
      }
      await caller.link("click", queries[number % queries.length]!, from);
    });
  },
  async check({ stage }) {
    const { rows } = await stage.pool.query(
      "select details::text as details from touch where app_id = $1 and ad_platform = 'baidu' and details::text like $2 limit 3",
      [stage.target.signing.appId, `%${FORGED}%`],
    );
    return rows.map(({ details }) => `a forged click of Baidu is stored: ${String(details).slice(0, 150)}`);
  },
};

/** Signs as Baidu does: the MD5 of the whole address and the key. */
function signed({ url, signing }: Target, query: string): string {
  return `${query}&sign=${createHash("md5").update(`${url}${BASE}${query}${signing.akey}`).digest("hex")}`;
}
