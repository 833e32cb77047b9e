import { signedRequest } from "../../../../src/client/report-client.ts";
import type { Assault, Attack } from "../../attack.ts";

const DIMS = [
  "date",
  "ad_platform",
  "advertiser_id",
  "gid",
  "aid",
  "channel",
  "os_platform",
  "turbo_promoted_object_id",
];
const METRICS = ["AdCost", "AppActivateStandard", "AppROI", "AppDAU", "AppGamePayAmountStandard"];

export const heavyReports: Attack = {
  name: "heavy_reports",
  point: "1",
  by: "the owner of another app",
  what: "signed reports over ten years with all dimensions, filters of 18,000 values, deep pages and wrong signs",
  holds: "only one's own reports get slow",
  async strike(assault) {
    const { target, repeat } = assault;
    const { appId: app_id } = target.own;
    const many = Array.from({ length: 9_000 }, (_, number) => `value ${number}`);
    const ad = {
      app_id,
      statistics_caliber: "behavior_occurred_time",
      decimal_point: 4,
      metrics_list: METRICS,
      dims_list: DIMS,
    };
    const days = ["2016-11-20", "2026-11-15"];
    const list = { app_id, user_filtering: {}, event_filtering: {} };
    const condition = { field: "user$a", operator: "inner", values: many };
    const calls: readonly [string, object][] = [
      ["combo_sql", { ...ad, date_list: days }],
      ["combo_sql", { ...ad, date_list: days, filtering: { channel_list: many, aid_list: many } }],
      ["combo_sql", { ...ad, date_list: ["0001-01-01", "9999-12-31"] }],
      ["combo_sql", { ...ad, date_list: days, dims_list: Array.from({ length: 5_000 }, () => DIMS).flat() }],
      ["combo_sql", { ...ad, date_list: days, metrics_list: Array.from({ length: 20_000 }, () => METRICS).flat() }],
      ["user/list", { ...list, page: 1_000_000, page_size: 500 }],
      ["order/list", { ...list, page_size: 500, property_condition: Array.from({ length: 2 }, () => condition) }],
      [
        "user/list",
        { ...list, order_by_list: Array.from({ length: 5_000 }, () => ({ field: "CreateTime", sort: 1 })) },
      ],
    ];
    await repeat(4, (number) => pull(assault, calls[number % calls.length]!));
  },
};

async function pull({ target, caller, random }: Assault, [path, body]: readonly [string, object]): Promise<void> {
  const signed = signedRequest(body, random.chance(0.2) ? "another key" : target.own.developerKey);
  const headers = { authorization: signed.authorization };
  await caller.send({ path: `/openapi/api/v1/report/${path}/`, body: signed.body, headers, from: "198.51.100.50" });
}
