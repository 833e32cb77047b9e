import type { Attack } from "../../attack.ts";

const CLIENT = "slow-patterns";
const LONG = 12_000;

/** Texts that make patterns with nested repetition try every way to split them. */
const TEXTS: readonly string[] = [
  `Mozilla/5.0 (${"Linux; U; ".repeat(LONG / 10)}`,
  `Mozilla/5.0 (iPhone; ${" ".repeat(LONG)}x`,
  `${"a".repeat(LONG)}!`,
  `${"aA1_".repeat(LONG / 4)}$`,
  "%".repeat(LONG),
  `${"%E4%B8".repeat(LONG / 6)}%`,
  `${"1".repeat(LONG)}.`,
  `${"::".repeat(LONG / 2)}`,
  `${"2026-11-15 ".repeat(LONG / 11)}`,
  `http://${"a.".repeat(LONG / 2)}`,
  `${"=".repeat(LONG)}`,
  `${"\t ".repeat(LONG / 2)}x`,
];

export const slowPatterns: Attack = {
  name: "slow_patterns",
  point: "1",
  by: "the owner of another app",
  what: "texts on which patterns take for ever, as user agents, names, addresses, dates, tokens and link parameters",
  holds: "no pattern takes longer than the text is long",
  async strike({ target, caller, random, repeat }) {
    const { accessToken, appId } = target.own;
    await caller.register(accessToken, CLIENT);
    await repeat(8, async (number) => {
      const text = TEXTS[number % TEXTS.length]!;
      const plain = encodeURIComponent(text).slice(0, LONG);
      switch (random.whole(0, 4)) {
        case 0:
          return void (await caller.link("click", `app_id=${appId}&company=tencent&ua=${plain}`, "198.51.100.3"));
        case 1:
          return void (await caller.link(
            "click",
            `app_id=${appId}&company=${plain}&ts=${plain}`.slice(0, LONG),
            "198.51.100.3",
          ));
        case 2: {
          const headers = { "user-agent": text.replace(/[^\x20-\x7e]/g, "x"), cookie: `touchpoint_session=${plain}` };
          return void (await caller.collect(accessToken, "user/get/", { user_list: [text] }, { headers }));
        }
        case 3: {
          const time = Date.now();
          const event = { type: "track", event: text, time, properties: { [text]: text, $ua: text, $ip: text } };
          return void (await caller.collect(accessToken, "event/collect/", {
            client_id: CLIENT,
            client_ip: text,
            client_ua: text,
            event_list: [event, { ...event, event: "e", time: text }],
          }));
        }
        default:
          return void (await caller.register(accessToken, CLIENT, {
            channel: text,
            wx_openid: text,
            ad_data: { gdt_vid: text, callback: text, clue_token: text },
            device_info: { os_name: text, idfa: text, oaid: text, caid: text },
          }));
      }
    });
  },
};
