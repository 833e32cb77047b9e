import { mediaTokenBody } from "../../sim/fuzz/world.ts";
import type { App } from "../../src/db/app.ts";
import { type Row, track } from "./fixture.ts";

/** A valid request to an endpoint. */
export type Call = { query?: Record<string, string>; body?: Row };
export type Endpoint = { method: "GET" | "POST"; path: string; call: (app: App, clientId: string) => Call };

/** Every collection endpoint with an access token, and a request that it answers with 0 for a registered client. */
export const ENDPOINTS: readonly Endpoint[] = [
  { method: "POST", path: "event/collect", call: (_, id) => ({ body: { client_id: id, event_list: [track("e")] } }) },
  {
    method: "POST",
    path: "eventv2/collect",
    call: (_, id) => ({
      body: { client_id: id, type: "track", event_list: [{ event: "e", time: Date.now(), properties: {} }] },
    }),
  },
  { method: "POST", path: "user/register", call: (_, id) => ({ body: registration(id) }) },
  { method: "POST", path: "user/register/attributed", call: (_, id) => ({ body: attributedRegistration(id) }) },
  { method: "POST", path: "user/initialize", call: (_, id) => ({ body: registration(id) }) },
  {
    method: "POST",
    path: "user/device_info",
    call: (_, id) => ({ query: { client_id: id }, body: { data: { os_name: "android", imei: "866000000000001" } } }),
  },
  { method: "POST", path: "user/get", call: (_, id) => ({ body: { user_list: [id] } }) },
  { method: "GET", path: "user/get", call: (_, id) => ({ query: { client_id: id } }) },
  { method: "POST", path: "base/wx/access_token/refresh", call: (app) => ({ body: refresh(app, "token") }) },
  { method: "POST", path: "base/media/access_token/refresh", call: (app) => ({ body: refresh(app, "token") }) },
  {
    method: "POST",
    path: "event/consumer_event",
    call: (_, id) => ({ query: { client_id: id }, body: { event_type: "START", ts: Date.now() } }),
  },
  {
    method: "POST",
    path: "event/handle_event",
    call: (_, id) => ({ query: { client_id: id }, body: { event_type: "activate", properties: {} } }),
  },
  {
    method: "POST",
    path: "user/reset_client_id",
    call: (_, id) => ({ query: { client_id: id }, body: { new_client_id: `${id}-new` } }),
  },
  {
    method: "POST",
    path: "user/update_data",
    call: (_, id) => ({ query: { client_id: id }, body: { wx_openid: "o1" } }),
  },
  { method: "GET", path: "event/postback_info", call: (_, id) => ({ query: { client_id: id } }) },
  { method: "POST", path: "event/postback_info", call: (_, id) => ({ query: { client_id: id }, body: {} }) },
];

export const REGISTRATION_ENDPOINTS = ["user/register", "user/initialize", "user/register/attributed"];

export function registration(clientId: string): Row {
  return { client_id: clientId, name: "Ann", channel: "base_channel", version: 1 };
}

export function attributedRegistration(clientId: string): Row {
  return {
    client_id: clientId,
    name: "Ann",
    channel: "store",
    version: 3,
    turbo_promoted_object_id: "0123456789abcdef",
    active_time: Date.now() - 60_000,
    active_ip: "1.2.3.4",
    click_time: Date.now() - 120_000,
    click_ip: "1.2.3.5",
    click_company: "tencent",
    ad_data: {
      tencent: { account_id: "t-account", adgroup_id: "t-adgroup", ad_id: "t-ad", campaign_id: "t-campaign" },
    },
    os_type: "android",
  };
}

/** Ten seconds are allowed either way; at this much ahead, the call itself may take longer. */
const AHEAD_S = 8;

export function refresh(
  app: Pick<App, "appKey">,
  token: string,
  currentTime = Math.floor(Date.now() / 1000) + AHEAD_S,
): Row {
  return mediaTokenBody({ appKey: app.appKey, token, atMs: currentTime * 1000 });
}
