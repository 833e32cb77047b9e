import { createHash } from "node:crypto";
import type { Platforms } from "../../../sim/platforms/platforms.ts";
import { but, NOW_MS, NOW_SECONDS, queryOf } from "../calls.ts";
import { type PlatformCall, posted, type Sent, YESTERDAY } from "./call.ts";

const EVENT_PAGE = "event-manager.oceanengine.com docs 8650, as its callers copied it";
const CLUE_CALLER = "a Go caller of clue.oceanengine.com; bububa/oceanengine model/track";
const REPORT_PAGE = "open.oceanengine.com doc 1741387668314126";

const EVENT = { event_type: "active", context: { ad: { callback: "clickid-1", match_type: 0 } }, timestamp: NOW_MS };
const event = ({ bytedance }: Platforms, body: object): Sent => posted(`${bytedance.url}/api/v2/conversion`, body);

/** Names that a game needs and that earlier lists lacked. */
const GAME_EVENTS = [
  ...["retention_2d", "retention_3d", "retention_4d", "retention_5d", "retention_6d", "retention_7d"],
  ...["retention_14d", "retention_30d", "first_pay", "create_gamerole", "update_level", "quest"],
];

const CLUE = {
  clue_token: "1779451543470157,1783156862460969",
  open_id: "oso8q5BZ",
  event_type: "2",
  props: { pay_amount: 1 },
};

function clue({ bytedance }: Platforms, body: object, timestamp: number = NOW_SECONDS): Sent {
  const parts = [bytedance.gatewayToken, String(timestamp), "4711"].sort();
  const signature = createHash("sha1").update(parts.join("")).digest("hex");
  const query = queryOf({ timestamp, nonce: "4711", signature });
  return posted(`${bytedance.url}/outer/wechat/applet/token/${bytedance.gatewayId}?${query}`, body);
}

const REPORT = {
  advertiser_id: 1700,
  data_topic: "BASIC_DATA",
  dimensions: '["stat_time_day","cdp_project_id"]',
  metrics: '["stat_cost","show_cnt","click_cnt"]',
  filters: "[]",
  start_time: `${YESTERDAY} 00:00:00`,
  end_time: `${YESTERDAY} 23:59:59`,
  order_by: "[]",
  page: 1,
  page_size: 100,
};

function report({ bytedance }: Platforms, values: Record<string, string | number>): Sent {
  const url = `${bytedance.url}/open_api/v3.0/report/custom/get/?${queryOf(values)}`;
  return { method: "GET", url, headers: { "Access-Token": bytedance.tokens.accessToken } };
}

const REFUSED = { json: { code: 400 } };

export const OCEAN_ENGINE_CALLS: readonly PlatformCall[] = [
  {
    shows: "an activation with nothing but its name, its time and the callback",
    mark: "certain",
    source: EVENT_PAGE,
    send: (platforms) => event(platforms, EVENT),
    answer: { json: { code: 0 } },
    counts: { key: "clickid-1", code: "active", cents: null, atMs: NOW_MS },
  },
  {
    shows: "a payment in fen",
    mark: "certain",
    source: "bububa/oceanengine model/conversion",
    send: (platforms) => event(platforms, { ...EVENT, event_type: "active_pay", properties: { pay_amount: 600 } }),
    answer: { json: { code: 0 } },
    counts: { code: "active_pay", cents: 600 },
  },
  {
    shows: "one ad's revenue in a mini-game",
    mark: "likely",
    source: "callers in Douyin mini-games",
    send: (platforms) => event(platforms, { ...EVENT, event_type: "micro_game_ltv", properties: { pay_amount: 3 } }),
    answer: { json: { code: 0 } },
    counts: { code: "micro_game_ltv", cents: 3 },
  },
  ...GAME_EVENTS.map(
    (event_type): PlatformCall => ({
      shows: `the event ${event_type}`,
      mark: "certain",
      source: EVENT_PAGE,
      send: (platforms) => event(platforms, { ...EVENT, event_type }),
      answer: { json: { code: 0 } },
      counts: { code: event_type },
    }),
  ),
  {
    shows: "a name that the list does not hold",
    mark: "likely",
    source: EVENT_PAGE,
    send: (platforms) => event(platforms, { ...EVENT, event_type: "retention_8d" }),
    answer: REFUSED,
  },
  {
    shows: "a time in seconds",
    mark: "likely",
    source: EVENT_PAGE,
    send: (platforms) => event(platforms, { ...EVENT, timestamp: NOW_SECONDS }),
    answer: REFUSED,
  },
  {
    shows: "no callback",
    mark: "certain",
    source: EVENT_PAGE,
    send: (platforms) => event(platforms, but(EVENT, "context.ad.callback", undefined)),
    answer: REFUSED,
  },
  {
    shows: "a payment in a WeChat mini-game",
    mark: "certain",
    source: CLUE_CALLER,
    send: (platforms) => clue(platforms, CLUE),
    answer: { json: { status: 0 } },
    counts: { key: CLUE.clue_token, code: "2", cents: 1, atMs: NOW_MS },
  },
  {
    shows: "a WeChat mini-game's event without its player",
    mark: "certain",
    source: CLUE_CALLER,
    send: (platforms) => clue(platforms, but(CLUE, "open_id", undefined)),
    answer: { json: { status: 1 } },
  },
  {
    shows: "the spend of a day, its values as texts",
    mark: "certain",
    source: REPORT_PAGE,
    send: (platforms) => report(platforms, REPORT),
    answer: {
      json: {
        code: 0,
        data: {
          rows: [{ metrics: { stat_cost: "10.00" } }, { metrics: { stat_cost: "2.50" } }],
          total_metrics: { stat_cost: "12.50" },
        },
      },
    },
  },
  {
    shows: "a report without an order",
    mark: "certain",
    source: REPORT_PAGE,
    send: (platforms) => {
      const { order_by: _, ...values } = REPORT;
      return report(platforms, values);
    },
    answer: { json: { code: 40000 } },
  },
  {
    shows: "a page of 101 rows",
    mark: "likely",
    source: REPORT_PAGE,
    send: (platforms) => report(platforms, { ...REPORT, page_size: 101 }),
    answer: { json: { code: 40000 } },
  },
];
