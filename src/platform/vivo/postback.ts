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
import { verdictOf } from "../connector/verdict.ts";
import { fieldsOf } from "../platform.ts";

const CODES: Codes = {
  activate: "ACTIVATION",
  register: "REGISTER",
  pay: "PAY",
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
  service_pay_success: "PAY",
  complete_order: "IN_APP_ORDER",
  first_day_pay: "FIRST_PAY",
  first_pay: "FIRST_PAY",
  ad_quality: "LT_ROI",
  game_action: null,
  action_valid: null,
};

const BASE = "https://marketing-api.vivo.com.cn/openapi/v1";

const FIELDS: readonly AccountField[] = [
  ...CLIENT_TOKEN_FIELDS,
  { name: "src_id", hint: "The data source, from the console.", fallback: "" },
  { name: "src_type", hint: "Kind of the advertised product.", fallback: "APP" },
  { name: "pkg_name", hint: "The app's package.", fallback: "" },
  { name: "url", hint: "Address.", fallback: `${BASE}/advertiser/behavior/upload` },
  { name: "token_url", hint: "Address for new tokens.", fallback: `${BASE}/oauth2/refreshToken` },
  valueUnitField("payAmount"),
  CODES_FIELD,
];

export const vivoPostback: PostbackConnector = { fields: FIELDS, prepare, read, tokens: tokenFlow() };

function prepare(conversion: Conversion, { account, nowMs, nonce }: CallContext): Prepared {
  const code = codeOf(conversion, CODES, account("codes"));
  if (code.kind === "skip") return code;
  const lacking = lack(account, ["access_token", "src_id", "pkg_name"]);
  if (lacking) return lacking;
  const value = valueIn(account("value_unit"), conversion.cents);
  if (value === undefined) return skip("The account's `value_unit` is neither fen nor yuan.");
  const field = fieldsOf(conversion.adData);
  const click = known({ requestId: field("request_id") || field("requestId"), creativeId: field("creative_id") });
  const user = userOf(conversion);
  if (!user && Object.keys(click).length < 2) {
    return skip("Neither the device's oaid or imei nor the click's request and creative are known.");
  }
  const behavior = {
    ...user,
    cvType: code.code,
    cvTime: conversion.atMs,
    ...click,
    ...(value !== "" && { extParam: { payAmount: value } }),
  };
  const url = withQuery(account("url"), {
    access_token: account("access_token"),
    timestamp: nowMs,
    nonce,
    advertiser_id: field("advertiser_id"),
  });
  const body = {
    srcType: account("src_type"),
    pkgName: account("pkg_name"),
    srcId: account("src_id"),
    dataList: [behavior],
  };
  return { kind: "request", dedupes: false, request: jsonPost(url, body) };
}

function userOf(conversion: Conversion): { userIdType: string; userId: string } | undefined {
  const { oaidMd5, imeiMd5 } = deviceIdsOf(conversion);
  if (oaidMd5 !== "") return { userIdType: "OAID_MD5", userId: oaidMd5 };
  return imeiMd5 === "" ? undefined : { userIdType: "IMEI_MD5", userId: imeiMd5 };
}

/** vivo's codes for an expired token are not documented, but its messages mention the token. */
function read(reply: HttpReply): ReplyVerdict {
  return verdictOf(reply, (body) => {
    const [code, text] = [cleanValue(body.code), cleanValue(body.message)];
    return { code, text, kind: code === "0" ? "accepted" : /token/i.test(text) ? "token" : undefined };
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
        });
      }),
  };
}
