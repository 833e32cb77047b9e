import type { JsonObject } from "../../domain/json.ts";
import { cleanValue } from "../../domain/user/identity.ts";
import { CODES_FIELD, type Codes, codeOf } from "../connector/codes.ts";
import type {
  AccountField,
  CallContext,
  Conversion,
  HttpReply,
  PostbackConnector,
  Prepared,
  ReplyVerdict,
  TokenFlow,
} from "../connector/connector.ts";
import { deviceIdsOf } from "../connector/device-ids.ts";
import { known, lack, skip } from "../connector/prepared.ts";
import { get, jsonPost, withQuery } from "../connector/request.ts";
import { CLIENT_TOKEN_FIELDS, dataTokenOf, newToken } from "../connector/token.ts";
import { valueIn, valueUnitField } from "../connector/value-unit.ts";
import { answerBy, type Kinds, verdictOf } from "../connector/verdict.ts";
import { fieldsOf } from "../platform.ts";

/** vivo's names (certain). An amount goes with each single payment, not with PAY, which counts payers (likely). */
const CODES: Codes = {
  activate: "ACTIVATION",
  register: "REGISTER",
  pay: "PAY_ONETIME",
  twice: "RETENTION_1",
  key_active: null,
  withdraw_iaa: null,
  create_role: null,
  login: "LOGIN",
  customer_effective: null,
  wx_launch: null,
  re_active: "REACTIVATION",
  retention_2d: "RETENTION_2",
  retention_3d: "RETENTION_3",
  retention_4d: "RETENTION_4",
  retention_5d: "RETENTION_5",
  retention_6d: "RETENTION_6",
  retention_7d: "RETENTION_7",
  retention_14d: "RETENTION_14",
  retention_30d: "RETENTION_30",
  service_pay_success: "PAY_ONETIME",
  complete_order: "IN_APP_ORDER",
  first_day_pay: "FIRST_PAY",
  first_pay: "FIRST_PAY",
  ad_quality: "LT_ROI",
  game_action: null,
  action_valid: null,
};

/** A WeChat mini-game has its own names (likely), and is registered once: it has no activation. */
const MINI_GAME_CODES: Codes = {
  ...CODES,
  activate: null,
  register: "WECHATGAME_REGISTER",
  pay: "WECHATGAME_PAY",
};

const BASE = "https://marketing-api.vivo.com.cn/openapi";

const FIELDS: readonly AccountField[] = [
  {
    name: "route",
    hint: "auto, v2 (knows a click by its id), or v1 (the older upload, by request and creative).",
    fallback: "auto",
  },
  ...CLIENT_TOKEN_FIELDS,
  { name: "src_id", hint: "The data source, from the console.", fallback: "" },
  { name: "src_type", hint: "Kind of the advertised product: APP, Quickapp, Web or offline.", fallback: "APP" },
  { name: "pkg_name", hint: "The package of an app or quick app.", fallback: "" },
  { name: "page", hint: "The landing page, if src_type is Web.", fallback: "" },
  { name: "url", hint: "Address for v2.", fallback: `${BASE}/v2/advertiser/behavior/upload` },
  { name: "v1_url", hint: "Address for v1.", fallback: `${BASE}/v1/advertiser/behavior/upload` },
  { name: "token_url", hint: "Address for new tokens.", fallback: `${BASE}/v1/oauth2/refreshToken` },
  valueUnitField("payAmount"),
  CODES_FIELD,
];

export const vivoPostback: PostbackConnector = { fields: FIELDS, prepare, read, tokens: tokenFlow() };

function prepare(conversion: Conversion, { account, nowMs, nonce }: CallContext): Prepared {
  const route = routeOf(conversion, account("route"));
  if (!route) return skip("The account's `route` must be auto, v2 or v1.");
  const user = userOf(conversion);
  const code = codeOf(conversion, user?.userIdType === "OPENID" ? MINI_GAME_CODES : CODES, account("codes"));
  if (code.kind === "skip") return code;
  const isWeb = account("src_type").toLowerCase() === "web";
  const lacking = lack(account, ["access_token", "src_id", isWeb ? "page" : "pkg_name"]);
  if (lacking) return lacking;
  const value = valueIn(account("value_unit"), conversion.cents);
  if (value === undefined) return skip("The account's `value_unit` is neither fen nor yuan.");
  const click = CLICKS[route](conversion);
  if (!user && !click.isKnown)
    return skip(`Neither the device's oaid or imei nor the click's ${click.name} are known.`);
  const field = fieldsOf(conversion.adData);
  const url = withQuery(account(route === "v2" ? "url" : "v1_url"), {
    access_token: account("access_token"),
    timestamp: nowMs,
    nonce,
    advertiser_id: field("advertiser_id"),
  });
  const behavior = {
    ...user,
    cvType: code.code,
    cvTime: conversion.atMs,
    ...click.told,
    ...(value !== "" && { extParam: { payAmount: value } }),
  };
  const body = {
    srcType: account("src_type"),
    ...(isWeb ? { pageUrl: account("page") } : { pkgName: account("pkg_name") }),
    srcId: account("src_id"),
    ...click.match,
    dataList: [behavior],
  };
  return { kind: "request", dedupes: false, request: jsonPost(url, body) };
}

/** The version that knows the click by what the touch brought; the newer one when neither does. */
function routeOf(conversion: Conversion, route: string): "v2" | "v1" | undefined {
  if (route === "v2" || route === "v1") return route;
  if (route !== "auto") return undefined;
  return CLICKS.v1(conversion).isKnown && !CLICKS.v2(conversion).isKnown ? "v1" : "v2";
}

/** How each version names the click, and how it is to match a conversion to one. */
type Click = { name: string; told: JsonObject; match: JsonObject; isKnown: boolean };

const CLICKS: Readonly<Record<"v2" | "v1", (conversion: Conversion) => Click>> = {
  // A conversion of vivo's own ads (dataFrom 1) needs its click; without it vivo matches by the device (likely).
  v2: ({ adData }) => {
    const clickId = fieldsOf(adData)("click_id") || fieldsOf(adData)("clickId");
    const isKnown = clickId !== "";
    const match = { dataFrom: "1", dataFor: isKnown ? "0" : "1" };
    return { name: "id", told: known({ clickId }), match, isKnown };
  },
  v1: ({ adData }) => {
    const field = fieldsOf(adData);
    const told = known({ requestId: field("request_id") || field("requestId"), creativeId: field("creative_id") });
    return { name: "request and creative", told, match: {}, isKnown: Object.keys(told).length === 2 };
  },
};

/** A mini-game knows no device, only the open id. */
function userOf(conversion: Conversion): { userIdType: string; userId: string } | undefined {
  const { oaidMd5, imeiMd5 } = deviceIdsOf(conversion);
  if (oaidMd5 !== "") return { userIdType: "OAID_MD5", userId: oaidMd5 };
  if (imeiMd5 !== "") return { userIdType: "IMEI_MD5", userId: imeiMd5 };
  const { wxOpenid } = conversion.user;
  return wxOpenid === "" ? undefined : { userIdType: "OPENID", userId: wxOpenid };
}

/** 70100 is a wrong parameter (likely). */
const KINDS: Kinds = { "0": "accepted", "70100": "permanent" };

/** vivo's codes for an expired token are not documented, but its messages mention the token. */
function read(reply: HttpReply): ReplyVerdict {
  return verdictOf(reply, (body) => {
    const answer = answerBy({ code: body.code, text: body.message }, KINDS);
    return { ...answer, kind: answer.kind ?? (/token/i.test(answer.text) ? "token" : undefined) };
  });
}

function tokenFlow(): TokenFlow {
  return {
    request({ account }) {
      if (lack(account, ["client_id", "client_secret", "refresh_token"])) return undefined;
      return get(
        withQuery(account("token_url"), {
          client_id: account("client_id"),
          client_secret: account("client_secret"),
          refresh_token: account("refresh_token"),
        }),
      );
    },
    read: (reply, nowMs) =>
      dataTokenOf(reply, (data) => {
        // The time of expiry, in milliseconds.
        const expiresAtMs = Number(cleanValue(data.token_date));
        return newToken({
          accessToken: cleanValue(data.access_token),
          refreshToken: cleanValue(data.refresh_token),
          expiresAtMs: expiresAtMs > nowMs ? expiresAtMs : null,
          refreshExpiresAtMs: null,
        });
      }),
  };
}
