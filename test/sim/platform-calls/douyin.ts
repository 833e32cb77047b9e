import type { AdRecord } from "../../../sim/platforms/douyin.ts";
import type { Platforms } from "../../../sim/platforms/platforms.ts";
import { NOW_MS } from "../calls.ts";
import { type PlatformCall, posted, type Sent, YESTERDAY } from "./call.ts";

const CALLERS = "several public callers of mgplatform/api/apps/data/get_ecpm";
const TOKEN_CALLERS = "several public callers of mgplatform/api/apps/v2/token";
const TWIN_PAGE = "developer.open-douyin.com real-time-ecpm-data, for mini-programs";

const DAY_MS = 86_400_000;

/** Three ads of yesterday, two of one player. */
export const DOUYIN_RECORDS: AdRecord[] = [
  { openId: "o1", atMs: NOW_MS - DAY_MS, cost: 12_345 },
  { openId: "o2", atMs: NOW_MS - DAY_MS, cost: 1 },
  { openId: "o1", atMs: NOW_MS - DAY_MS + 1, cost: 5 },
];

function records({ douyin }: Platforms, change: Record<string, string> = {}): Sent {
  const query = new URLSearchParams({
    open_id: "",
    mp_id: douyin.appId,
    date_hour: YESTERDAY,
    access_token: douyin.tokens.accessToken,
    page_no: "1",
    page_size: "500",
    ...change,
  });
  return { method: "GET", url: `${douyin.url}/mgplatform/api/apps/data/get_ecpm?${query}` };
}

function token({ douyin }: Platforms, secret: string): Sent {
  const body = { appid: douyin.appId, secret, grant_type: "client_credential" };
  return posted(`${douyin.url}/mgplatform/api/apps/v2/token`, body);
}

export const DOUYIN_CALLS: readonly PlatformCall[] = [
  {
    shows: "what the ads of a day earned, one record each",
    mark: "certain",
    source: CALLERS,
    send: (platforms) => records(platforms),
    answer: {
      json: {
        err_no: 0,
        data: {
          records: [
            { open_id: "o1", cost: 12_345 },
            { open_id: "o2", cost: 1 },
            { open_id: "o1", cost: 5 },
          ],
        },
      },
    },
  },
  {
    shows: "the second page of two records",
    mark: "certain",
    source: CALLERS,
    send: (platforms) => records(platforms, { page_no: "2", page_size: "2" }),
    answer: { json: { err_no: 0, data: { records: [{ cost: 5 }] } } },
  },
  {
    shows: "one player's records",
    mark: "certain",
    source: CALLERS,
    send: (platforms) => records(platforms, { open_id: "o2" }),
    answer: { json: { err_no: 0, data: { records: [{ open_id: "o2", cost: 1 }] } } },
  },
  {
    shows: "pages of more than 500 records",
    mark: "certain",
    source: CALLERS,
    send: (platforms) => records(platforms, { page_size: "501" }),
    answer: { json: { err_no: 28001007 } },
  },
  {
    shows: "a day beyond the last three",
    mark: "likely",
    source: TWIN_PAGE,
    send: (platforms) => records(platforms, { date_hour: "2025-01-01" }),
    answer: { json: { err_no: 28001007 } },
  },
  {
    shows: "a token that was never given out",
    mark: "likely",
    source: TWIN_PAGE,
    send: (platforms) => records(platforms, { access_token: "guess" }),
    answer: { json: { err_no: 28001003 } },
  },
  {
    shows: "an access token",
    mark: "certain",
    source: TOKEN_CALLERS,
    send: (platforms) => token(platforms, platforms.douyin.secret),
    answer: { json: { err_no: 0, data: { expires_in: 7200 } } },
  },
  {
    shows: "a wrong secret",
    mark: "likely",
    source: TOKEN_CALLERS,
    send: (platforms) => token(platforms, "guess"),
    answer: { json: { err_no: 40015 } },
  },
];
