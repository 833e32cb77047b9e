import { createHash } from "node:crypto";
import type { Platforms } from "../../../sim/platforms/platforms.ts";
import { but, NOW_MS, NOW_SECONDS } from "../calls.ts";
import { type PlatformCall, posted, type Sent, YESTERDAY } from "./call.ts";

const UPLOAD_PAGE = "ocpx.baidu.com ocpc-doc api-interface";
const APP_PAGE = "ocpx.baidu.com ocpc-doc app-interface; bububa/baidu-marketing model/ocpc";
const REPORT_PAGE = "bububa/baidu-marketing model/report";

const ITEM = {
  logidUrl: "https://game.example.com/?bd_vid=vid-1",
  newType: 26,
  convertTime: NOW_SECONDS,
  convertValue: 600,
};
const upload = ({ baidu }: Platforms, items: readonly object[], token = baidu.token): Sent =>
  posted(`${baidu.url}/ocpcapi/api/uploadConvertData`, { token, conversionTypes: items });

/** The delivered address with its two macros replaced, what the caller adds, and the signature last. */
function callback({ baidu }: Platforms, { type, value, more }: { type: string; value: number; more: string }): Sent {
  const filled = baidu.callbackUrl("ext-1").replace("{{ATYPE}}", type).replace("{{AVALUE}}", String(value)) + more;
  const sign = createHash("md5").update(filled).update(baidu.akey).digest("hex");
  return { method: "GET", url: `${filled}&sign=${sign}` };
}

const report = ({ baidu }: Platforms, body: object): Sent =>
  posted(`${baidu.url}/json/sms/service/OpenApiReportService/getReportData`, {
    header: { userName: baidu.userName, accessToken: baidu.tokens.accessToken },
    body,
  });

const REPORT = {
  reportType: 2149145,
  timeUnit: "DAY",
  startDate: YESTERDAY,
  endDate: YESTERDAY,
  columns: ["date", "impression", "click", "cost"],
};

export const BAIDU_CALLS: readonly PlatformCall[] = [
  {
    shows: "a payment by the landing page's bd_vid",
    mark: "certain",
    source: UPLOAD_PAGE,
    send: (platforms) => upload(platforms, [ITEM]),
    answer: { json: { header: { status: 0 } } },
    counts: { key: "vid-1", code: "26", cents: 600, atMs: NOW_MS },
  },
  {
    shows: "a page without a bd_vid",
    mark: "certain",
    source: UPLOAD_PAGE,
    send: (platforms) => upload(platforms, [but(ITEM, "logidUrl", "https://game.example.com/")]),
    answer: { json: { header: { status: 2 } } },
  },
  {
    shows: "another account's token",
    mark: "likely",
    source: "a public self-test of the interface",
    send: (platforms) => upload(platforms, [ITEM], "guess"),
    answer: { json: { header: { status: 3 } } },
  },
  {
    shows: "a payment by an app's callback, with the id that matched",
    mark: "certain",
    source: APP_PAGE,
    send: (platforms) =>
      callback(platforms, { type: "orders", value: 1230, more: `&a_time=${NOW_SECONDS}&join_type=oaid` }),
    answer: { json: { error_code: 0 } },
    counts: { key: "ext-1", code: "orders", cents: 1230, atMs: NOW_MS },
  },
  {
    shows: "a key action of two kinds",
    mark: "likely",
    source: APP_PAGE,
    send: (platforms) =>
      callback(platforms, { type: "key_action", value: 0, more: "&action_type=1,3&action_value=5,120&join_type=OAID" }),
    answer: { json: { error_code: 0 } },
    counts: { code: "key_action", cents: null },
  },
  {
    shows: "a callback that does not say what matched",
    mark: "likely",
    source: APP_PAGE,
    send: (platforms) => callback(platforms, { type: "activate", value: 0, more: "" }),
    answer: { json: { error_code: 105 } },
  },
  {
    shows: "a callback with another signature",
    mark: "certain",
    source: APP_PAGE,
    send: (platforms) => {
      const { url } = callback(platforms, { type: "activate", value: 0, more: "&join_type=oaid" });
      return { method: "GET", url: url.replace(/sign=.*$/, `sign=${"0".repeat(32)}`) };
    },
    answer: { json: { error_code: 100 } },
  },
  {
    shows: "the account's total of a day, in yuan",
    mark: "certain",
    source: REPORT_PAGE,
    send: (platforms) => report(platforms, REPORT),
    answer: {
      json: { header: { status: 0 }, body: { data: { rows: [{ date: YESTERDAY, cost: 12.5 }], totalRowCount: 1 } } },
    },
  },
  {
    shows: "a report without columns",
    mark: "certain",
    source: REPORT_PAGE,
    send: (platforms) => report(platforms, but(REPORT, "columns", undefined)),
    answer: { json: { header: { status: 2 } } },
  },
];
