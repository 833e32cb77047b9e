/** The example that the interface publishes: a body, a key, and their sign. */
export const BODY = {
  date_list: ["2023-08-14", "2023-08-19"],
  metrics_list: ["AdCost", "AppActivateStandard", "AppROI"],
  dims_list: ["date", "advertiser_id"],
  statistics_caliber: "user_activated_time",
  decimal_point: 4,
  app_id: 13467210,
  filtering: {
    channel_list: [],
    ad_platform_list: ["tencent", "bytedance"],
    version_list: [123],
    turbo_promoted_object_id_list: [],
  },
};
export const KEY = "demo_app_key";
export const SIGN = "b9fc1c42684f8e90067a88e147961ba2";
