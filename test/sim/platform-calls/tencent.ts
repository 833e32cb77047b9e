import { but, NOW_MS, NOW_SECONDS, queryOf } from "../calls.ts";
import { type PlatformCall, posted, YESTERDAY } from "./call.ts";

const CALLBACK_PAGE = "datanexus.qq.com trackingcgi_to_mktapi, trackingcgi_api_app";
const DIRECT_PAGE = "datanexus.qq.com trackingcgi_api_web, part 3";
const REPORT_PAGE = "developers.e.qq.com v3.0 daily_reports/get";

const ACTION = {
  actions: [
    {
      outer_action_id: "outer_action_identity",
      action_time: NOW_SECONDS,
      user_id: { hash_oaid: "83e9158a4fb54c0e1ef0b238639a23ae" },
      action_type: "PURCHASE",
      action_param: { value: 4000 },
    },
  ],
};
const BY_CLICK = but(ACTION, "actions.0.trace", { click_id: "click-1" });
const REFUSED_TOKEN = { json: { code: 11004 } };

let nonces = 0;
function credentials(token: string, tokenName: string): Record<string, string> {
  nonces += 1;
  return { [tokenName]: token, timestamp: String(NOW_SECONDS), nonce: `document-${nonces}` };
}

const DAY = JSON.stringify({ start_date: YESTERDAY, end_date: YESTERDAY });
const REPORT = {
  account_id: 25610,
  level: "REPORT_LEVEL_ADVERTISER",
  date_range: DAY,
  group_by: '["date"]',
  fields: '["date","view_count","valid_click_count","cost"]',
  page: 1,
  page_size: 2000,
};

export const TENCENT_CALLS: readonly PlatformCall[] = [
  {
    shows: "a callback with the token under its hyphenated name",
    mark: "certain",
    source: CALLBACK_PAGE,
    send: ({ tencent }) =>
      posted(tencent.callbackUrl("cb-1"), ACTION, credentials(tencent.tokens.accessToken, "access-token")),
    answer: { json: { code: 0 } },
    counts: { key: "cb-1", code: "PURCHASE", cents: 4000, atMs: NOW_MS },
  },
  {
    shows: "a callback with the data source's permanent key",
    mark: "certain",
    source: CALLBACK_PAGE,
    send: ({ tencent }) =>
      posted(
        tencent.callbackUrl("cb-2"),
        but(ACTION, "actions.0.outer_action_id", "second"),
        credentials(tencent.dataSourceKey, "access-token"),
      ),
    answer: { json: { code: 0 } },
    counts: { key: "cb-2" },
  },
  {
    shows: "a callback with the token under its name with an underscore",
    mark: "certain",
    source: CALLBACK_PAGE,
    send: ({ tencent }) =>
      posted(tencent.callbackUrl("cb-1"), ACTION, credentials(tencent.tokens.accessToken, "access_token")),
    answer: REFUSED_TOKEN,
  },
  {
    shows: "a click id with the token in the headers, with an underscore",
    mark: "certain",
    source: DIRECT_PAGE,
    send: ({ tencent }) =>
      posted(`${tencent.url}/v3.0/user_actions/add`, BY_CLICK, credentials(tencent.tokens.accessToken, "access_token")),
    answer: { json: { code: 0 } },
    counts: { key: "click-1", code: "PURCHASE", cents: 4000 },
  },
  {
    shows: "a click id with the token in the headers, hyphenated",
    mark: "certain",
    source: DIRECT_PAGE,
    send: ({ tencent }) =>
      posted(`${tencent.url}/v3.0/user_actions/add`, BY_CLICK, credentials(tencent.tokens.accessToken, "access-token")),
    answer: REFUSED_TOKEN,
  },
  {
    shows: "a data source with the token in the query",
    mark: "certain",
    source: "datanexus.qq.com dmp_actions_add; a caller of 2024",
    send: ({ tencent }) => {
      const body = { account_id: 25610, user_action_set_id: 7, ...BY_CLICK };
      const query = queryOf(credentials(tencent.tokens.accessToken, "access_token"));
      return posted(`${tencent.url}/v3.0/user_actions/add?${query}`, body);
    },
    answer: { json: { code: 0 } },
    counts: { key: "click-1" },
  },
  {
    shows: "the account's total of a day",
    mark: "certain",
    source: REPORT_PAGE,
    send: ({ tencent }) => {
      const query = queryOf({ ...credentials(tencent.tokens.accessToken, "access_token"), ...REPORT });
      return { method: "GET", url: `${tencent.url}/v3.0/daily_reports/get?${query}` };
    },
    answer: { json: { code: 0, data: { list: [{ date: YESTERDAY, cost: 1250 }], page_info: { total_number: 1 } } } },
  },
  {
    shows: "a report with the data source's key",
    mark: "certain",
    source: CALLBACK_PAGE,
    send: ({ tencent }) => {
      const query = queryOf({ ...credentials(tencent.dataSourceKey, "access_token"), ...REPORT });
      return { method: "GET", url: `${tencent.url}/v3.0/daily_reports/get?${query}` };
    },
    answer: { json: { code: 11003 } },
  },
  {
    shows: "the row after the 20,000th",
    mark: "certain",
    source: REPORT_PAGE,
    send: ({ tencent }) => {
      const query = queryOf({ ...credentials(tencent.tokens.accessToken, "access_token"), ...REPORT, page: 11 });
      return { method: "GET", url: `${tencent.url}/v3.0/daily_reports/get?${query}` };
    },
    answer: { json: { code: 18001 } },
  },
  {
    shows: "a day of more than a year ago",
    mark: "certain",
    source: REPORT_PAGE,
    send: ({ tencent }) => {
      const date_range = JSON.stringify({ start_date: "2024-10-08", end_date: "2024-10-08" });
      const query = queryOf({ ...credentials(tencent.tokens.accessToken, "access_token"), ...REPORT, date_range });
      return { method: "GET", url: `${tencent.url}/v3.0/daily_reports/get?${query}` };
    },
    answer: { json: { code: 18001 } },
  },
];
