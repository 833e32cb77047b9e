import { expect } from "vitest";
import type { Platforms } from "../../../sim/platforms/platforms.ts";
import { changed, NOW_MS, NOW_SECONDS, queryOf } from "../calls.ts";
import { LONG_AGO, type PlatformCall, posted, type Sent, TODAY, YESTERDAY } from "./call.ts";

const CONVERSION_PAGE = "developers.e.kuaishou.com documentId 1938; bububa/kwai-marketing-api model/track";
const REPORT_PAGE = "developers.e.kuaishou.com documentId 2606";
const UNIT_PAGE = "developers.e.kuaishou.com documentId 2608";
const TASK_PAGE = "developers.e.kuaishou.com documentId 2927";

const PAY = { callback: "token-1", event_type: 3, event_time: NOW_MS, purchase_amount: "6.30" };
const KEY_ACTION = {
  callback: "token-2",
  event_type: 143,
  event_time: NOW_MS,
  key_action_category: 1,
  key_action_threshold: 5,
};

const conversion = ({ kuaishou }: Platforms, values: Record<string, string | number>): Sent => ({
  method: "GET",
  url: `${kuaishou.url}/track/activate?${queryOf(values)}`,
});

const REPORT = {
  advertiser_id: 900,
  start_date: YESTERDAY,
  end_date: TODAY,
  temporal_granularity: "DAILY",
  page: 1,
  page_size: 2000,
};
const TASK = {
  advertiser_id: 900,
  task_name: "August by unit",
  task_params: { start_date: LONG_AGO, end_date: LONG_AGO, view_type: 3, temporal_granularity: "DAILY" },
};

const asked = ({ kuaishou }: Platforms, path: string, body: object): Sent =>
  posted(`${kuaishou.url}/rest/openapi/v1/${path}`, body, { "Access-Token": kuaishou.tokens.accessToken });

const REFUSED = { json: { code: 400001 } };

export const KUAISHOU_CALLS: readonly PlatformCall[] = [
  {
    shows: "a payment in yuan",
    mark: "certain",
    source: CONVERSION_PAGE,
    send: (platforms) => conversion(platforms, PAY),
    answer: { json: { result: 1 } },
    counts: { key: "token-1", code: "3", cents: 630, atMs: NOW_MS },
  },
  {
    shows: "a key action with its kind and its threshold",
    mark: "certain",
    source: CONVERSION_PAGE,
    send: (platforms) => conversion(platforms, KEY_ACTION),
    answer: { json: { result: 1 } },
    counts: { key: "token-2", code: "143", cents: null },
  },
  {
    shows: "a payment without its amount",
    mark: "certain",
    source: CONVERSION_PAGE,
    send: (platforms) => conversion(platforms, changed(PAY, "purchase_amount", undefined)),
    answer: { json: { result: 0 } },
  },
  {
    shows: "a time in seconds",
    mark: "certain",
    source: CONVERSION_PAGE,
    send: (platforms) => conversion(platforms, { ...PAY, event_time: NOW_SECONDS }),
    answer: { json: { result: 0 } },
  },
  {
    shows: "the account's total, managed campaigns included",
    mark: "certain",
    source: REPORT_PAGE,
    send: (platforms) => asked(platforms, "report/account_report", REPORT),
    answer: { json: { code: 0, data: { total_count: 1, details: [{ stat_date: YESTERDAY, charge: 12.5 }] } } },
  },
  {
    shows: "the campaigns, managed ones included",
    mark: "certain",
    source: REPORT_PAGE,
    send: (platforms) => asked(platforms, "report/campaign_report", REPORT),
    answer: { json: { code: 0, data: { total_count: 2, details: [{ charge: 10 }, { charge: 2.5 }] } } },
  },
  {
    shows: "the units, managed ones left out",
    mark: "certain",
    source: UNIT_PAGE,
    send: (platforms) => asked(platforms, "report/unit_report", REPORT),
    answer: { json: { code: 0, data: { total_count: 1, details: [{ unit_id: 11, charge: 10 }] } } },
  },
  {
    shows: "a report of a day before the last week",
    mark: "certain",
    source: REPORT_PAGE,
    send: (platforms) =>
      asked(platforms, "report/unit_report", { ...REPORT, start_date: "2025-10-02", end_date: "2025-10-02" }),
    answer: REFUSED,
  },
  {
    shows: "a report of more than a week",
    mark: "certain",
    source: REPORT_PAGE,
    send: (platforms) =>
      asked(platforms, "report/unit_report", { ...REPORT, start_date: "2025-10-03", end_date: "2025-10-10" }),
    answer: REFUSED,
  },
  {
    shows: "a task for days before the last week",
    mark: "certain",
    source: TASK_PAGE,
    send: (platforms) => asked(platforms, "async_task/create", TASK),
    answer: { json: { code: 0, data: { advertiser_id: 900, task_id: expect.any(Number) } } },
  },
  {
    shows: "a task with the name of another one",
    mark: "certain",
    source: TASK_PAGE,
    send: (platforms) => asked(platforms, "async_task/create", TASK),
    answer: REFUSED,
  },
  {
    shows: "a task with a name of 51 characters",
    mark: "certain",
    source: TASK_PAGE,
    send: (platforms) => asked(platforms, "async_task/create", { ...TASK, task_name: "n".repeat(51) }),
    answer: REFUSED,
  },
  {
    shows: "a task for days of more than half a year ago",
    mark: "certain",
    source: TASK_PAGE,
    send: (platforms) => {
      const task_params = { ...TASK.task_params, start_date: "2025-03-01", end_date: "2025-03-31" };
      return asked(platforms, "async_task/create", { ...TASK, task_name: "March", task_params });
    },
    answer: REFUSED,
  },
];
