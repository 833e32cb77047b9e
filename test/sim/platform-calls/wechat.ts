import type { Platforms } from "../../../sim/platforms/platforms.ts";
import { type PlatformCall, posted, type Sent, YESTERDAY } from "./call.ts";

const STAT_PAGE = "developers.weixin.qq.com ad-data-interface: publisher_adunit_general, publisher_adpos_general";
const TOKEN_PAGE = "developers.weixin.qq.com getStableAccessToken";

function stat({ wechat }: Platforms, action: string, change: Record<string, string> = {}): Sent {
  const query = new URLSearchParams({
    action,
    access_token: wechat.tokens.accessToken,
    page: "1",
    page_size: "90",
    start_date: YESTERDAY,
    end_date: YESTERDAY,
    ...change,
  });
  return { method: "GET", url: `${wechat.url}/publisher/stat?${query}` };
}

function token({ wechat }: Platforms, secret: string): Sent {
  const body = { grant_type: "client_credential", appid: wechat.appId, secret };
  return posted(`${wechat.url}/cgi-bin/stable_token`, body);
}

export const WECHAT_CALLS: readonly PlatformCall[] = [
  {
    shows: "what two ad units earned on a day, in fen",
    mark: "certain",
    source: STAT_PAGE,
    send: (platforms) => stat(platforms, "publisher_adunit_general"),
    answer: {
      json: {
        base_resp: { err_msg: "ok", ret: 0 },
        list: [
          {
            ad_unit_id: "11",
            ad_unit_name: "Ad 11",
            stat_item: { date: YESTERDAY, exposure_count: 1000, income: 1000 },
          },
          { ad_unit_id: "12", stat_item: { date: YESTERDAY, click_count: 1, income: 250 } },
        ],
        total_num: 2,
      },
    },
  },
  {
    shows: "what all ads earned on a day",
    mark: "certain",
    source: STAT_PAGE,
    send: (platforms) => stat(platforms, "publisher_adpos_general"),
    answer: { json: { base_resp: { ret: 0 }, list: [{ date: YESTERDAY, income: 1250 }], total_num: 1 } },
  },
  {
    shows: "the second page of one row",
    mark: "certain",
    source: STAT_PAGE,
    send: (platforms) => stat(platforms, "publisher_adunit_general", { page: "2", page_size: "1" }),
    answer: { json: { list: [{ ad_unit_id: "12" }], total_num: 2 } },
  },
  {
    shows: "more than 90 days",
    mark: "likely",
    source: STAT_PAGE,
    send: (platforms) => stat(platforms, "publisher_adunit_general", { start_date: "2025-01-01" }),
    answer: { json: { base_resp: { ret: 45010 } } },
  },
  {
    shows: "a token that was never given out",
    mark: "certain",
    source: TOKEN_PAGE,
    send: (platforms) => stat(platforms, "publisher_adunit_general", { access_token: "guess" }),
    answer: { json: { errcode: 40001 } },
  },
  {
    shows: "a stable token, which is the one that is valid",
    mark: "certain",
    source: TOKEN_PAGE,
    send: (platforms) => token(platforms, platforms.wechat.secret),
    answer: { json: { expires_in: 7200 } },
  },
  {
    shows: "a wrong secret",
    mark: "certain",
    source: TOKEN_PAGE,
    send: (platforms) => token(platforms, "guess"),
    answer: { json: { errcode: 40125 } },
  },
];
