import { createHmac } from "node:crypto";
import type { Platforms } from "../../../sim/platforms/platforms.ts";
import { but, changed, NOW_MS, NOW_SECONDS, queryOf } from "../calls.ts";
import { type PlatformCall, posted, type Sent } from "./call.ts";

const HUAWEI_CALLER = "five callers of ppscrowd-drcn, among them Huawei's own sample";
const HUAWEI = {
  callback: "security:1234",
  content_id: "45040150",
  campaign_id: "45040505",
  oaid: "",
  tracking_enabled: "1",
  conversion_type: "paid",
  conversion_time: String(NOW_SECONDS),
  timestamp: String(NOW_MS),
  conversion_price: "1.00",
};
const HUAWEI_PATH = "/action-lib-track/hiad/v2/actionupload";

function huawei({ huawei: { url, secretKey } }: Platforms, body: object, path = HUAWEI_PATH): Sent {
  const response = createHmac("sha256", secretKey).update(JSON.stringify(body)).digest("hex");
  return posted(`${url}${path}`, body, {
    Authorization: `Digest validTime="${NOW_MS}", response="${response}"`,
  });
}

export const HUAWEI_CALLS: readonly PlatformCall[] = [
  {
    shows: "a payment in yuan, without a device",
    mark: "certain",
    source: HUAWEI_CALLER,
    send: (platforms) => huawei(platforms, HUAWEI),
    answer: { json: { resultCode: 0 } },
    counts: { key: "security:1234", code: "paid", cents: 100, atMs: NOW_MS },
  },
  ...["createRole", "login", "threeDayRetain", "sevenDayRetain", "firstPurchase", "reEngage"].map(
    (conversion_type): PlatformCall => ({
      shows: `the event ${conversion_type}`,
      mark: "likely",
      source: HUAWEI_CALLER,
      send: (platforms) => huawei(platforms, { ...HUAWEI, conversion_type }),
      answer: { json: { resultCode: 0 } },
      counts: { code: conversion_type },
    }),
  ),
  {
    shows: "no field for the device",
    mark: "likely",
    source: HUAWEI_CALLER,
    send: (platforms) => huawei(platforms, but(HUAWEI, "oaid", undefined)),
    answer: { json: { resultCode: 1 } },
  },
  {
    shows: "the conversion's time in milliseconds",
    mark: "certain",
    source: HUAWEI_CALLER,
    send: (platforms) => huawei(platforms, { ...HUAWEI, conversion_time: String(NOW_MS) }),
    answer: { json: { resultCode: 1 } },
  },
  {
    shows: "another path",
    mark: "certain",
    source: HUAWEI_CALLER,
    send: (platforms) => huawei(platforms, HUAWEI, "/hiad/v1/actionupload"),
    answer: { status: 404, json: {} },
  },
];

const HONOR_CALLER = "a PHP caller; braid2048/sugar conv/handler/honor";
const HONOR_LIST = "RyenToretto/v2-jstarter, a copy of Honor's list 3.6; xiefight/ocpx-new";
const HONOR = {
  trackId: "track-1",
  conversionId: 10_001,
  conversionTime: NOW_MS,
  advertiserId: "1234567890",
  oaid: "raw-oaid",
};
const honor = ({ honor: { url } }: Platforms, values: Record<string, string | number>): Sent => ({
  method: "GET",
  url: `${url}/api/ad-tracking/v1/conversion?${queryOf(values)}`,
});
const HONOR_REFUSED = { json: { code: 400 } };

export const HONOR_CALLS: readonly PlatformCall[] = [
  {
    shows: "an activation by its track id",
    mark: "likely",
    source: HONOR_CALLER,
    send: (platforms) => honor(platforms, HONOR),
    answer: { json: { code: 0 } },
    counts: { key: "track-1", code: "10001", atMs: NOW_MS },
  },
  ...[10_003, 10_025, 70_008, 900_101].map(
    (conversionId): PlatformCall => ({
      shows: `the conversion ${conversionId} of Honor's list`,
      mark: "likely",
      source: HONOR_LIST,
      send: (platforms) => honor(platforms, { ...HONOR, conversionId }),
      answer: { json: { code: 0 } },
      counts: { code: String(conversionId) },
    }),
  ),
  {
    shows: "a conversion that is not in Honor's list",
    mark: "likely",
    source: HONOR_LIST,
    send: (platforms) => honor(platforms, { ...HONOR, conversionId: 10_026 }),
    answer: HONOR_REFUSED,
  },
  {
    shows: "a key action that names the app",
    mark: "likely",
    source: HONOR_CALLER,
    send: (platforms) => {
      const extra = JSON.stringify({ pkgName: "com.example.game", appName: "Game" });
      return honor(platforms, { ...HONOR, conversionId: 900_401, extra });
    },
    answer: { json: { code: 0 } },
    counts: { code: "900401" },
  },
  {
    shows: "a key action that does not name the app",
    mark: "likely",
    source: HONOR_CALLER,
    send: (platforms) => honor(platforms, { ...HONOR, conversionId: 900_401 }),
    answer: HONOR_REFUSED,
  },
  {
    shows: "no advertiser",
    mark: "likely",
    source: HONOR_CALLER,
    send: (platforms) => honor(platforms, changed(HONOR, "advertiserId", undefined)),
    answer: HONOR_REFUSED,
  },
  {
    shows: "a time in seconds",
    mark: "likely",
    source: HONOR_CALLER,
    send: (platforms) => honor(platforms, { ...HONOR, conversionTime: NOW_SECONDS }),
    answer: HONOR_REFUSED,
  },
];

const BILIBILI_PAGE = "Bilibili's document of API 2, in a public repository";
const BILIBILI = {
  conv_type: "APP_FIRST_ACTIVE",
  conv_time: NOW_MS,
  track_id: "WZNsJEC1cc2r2_01",
  client_ip: "203.0.113.8",
};
const bilibili = ({ bilibili: { url } }: Platforms, values: Record<string, string | number>): Sent => ({
  method: "GET",
  url: `${url}/conv/api/conversion/ad/cb/v1?${queryOf(values)}`,
});

export const BILIBILI_CALLS: readonly PlatformCall[] = [
  {
    shows: "a first activation",
    mark: "certain",
    source: BILIBILI_PAGE,
    send: (platforms) => bilibili(platforms, BILIBILI),
    answer: { json: { code: 0, data: "" } },
    counts: { key: "WZNsJEC1cc2r2_01", code: "APP_FIRST_ACTIVE", atMs: NOW_MS },
  },
  {
    shows: "no address of the user",
    mark: "likely",
    source: BILIBILI_PAGE,
    send: (platforms) => bilibili(platforms, changed(BILIBILI, "client_ip", undefined)),
    answer: { json: { code: 400 } },
  },
  {
    shows: "no track id",
    mark: "certain",
    source: BILIBILI_PAGE,
    send: (platforms) => bilibili(platforms, changed(BILIBILI, "track_id", undefined)),
    answer: { json: { code: 400 } },
  },
];
