import { CODES_FIELD, type Codes, codeOf } from "../connector/codes.ts";
import type {
  CallContext,
  Conversion,
  HttpReply,
  PostbackConnector,
  Prepared,
  ReplyVerdict,
} from "../connector/connector.ts";
import { deviceIdsOf } from "../connector/device-ids.ts";
import { skip } from "../connector/prepared.ts";
import { get, withQuery } from "../connector/request.ts";
import { answerBy, type Kinds, verdictOf } from "../connector/verdict.ts";
import { fieldsOf } from "../platform.ts";

/**
 * Honor's numbers, from a copy of its list and three callers (likely). A key action is Honor's custom event for apps; a
 * quick app's is 900401.
 */
const CODES: Codes = {
  activate: "10001",
  register: "10002",
  pay: "10004",
  twice: "10003",
  key_active: "900101",
  withdraw_iaa: null,
  create_role: "70003",
  login: "10009",
  customer_effective: "20005",
  wx_launch: null,
  re_active: "10022",
  retention_2d: null,
  retention_3d: "10013",
  retention_4d: null,
  retention_5d: null,
  retention_6d: null,
  retention_7d: "10014",
  retention_14d: null,
  retention_30d: null,
  service_pay_success: "10004",
  complete_order: "10007",
  first_day_pay: "10025",
  first_pay: "10017",
  ad_quality: "10023",
  game_action: "70008",
  action_valid: null,
};

const QUICK_APP_ACTION = "900401";

export const honorPostback: PostbackConnector = {
  fields: [
    {
      name: "url",
      hint: "Address.",
      fallback: "https://ads-drcn.platform.hihonorcloud.com/api/ad-tracking/v1/conversion",
    },
    { name: "pkg_name", hint: "The quick app's package, for 900401.", fallback: "" },
    { name: "app_name", hint: "The quick app's name, for 900401.", fallback: "" },
    CODES_FIELD,
  ],
  prepare,
  read,
  tellsMoney: "no",
};

/** No signature and no amount are known (likely). */
function prepare(conversion: Conversion, { account }: CallContext): Prepared {
  const code = codeOf(conversion, CODES, account("codes"));
  if (code.kind === "skip") return code;
  const field = fieldsOf(conversion.adData);
  const trackId = field("track_id") || field("click_id");
  if (trackId === "") return skip("The touch brought no track_id.");
  const advertiserId = field("advertiser_id") || account("advertiser_id");
  if (advertiserId === "") return skip("Neither the touch nor the account names the advertiser.");
  const quickApp = { pkgName: account("pkg_name"), appName: account("app_name") };
  const url = withQuery(account("url"), {
    trackId,
    conversionId: code.code,
    conversionTime: conversion.atMs,
    advertiserId,
    oaid: deviceIdsOf(conversion).oaid,
    extra: code.code === QUICK_APP_ACTION ? JSON.stringify(quickApp) : "",
  });
  return { kind: "request", dedupes: false, request: get(url) };
}

const KINDS: Kinds = { "0": "accepted" };

function read(reply: HttpReply): ReplyVerdict {
  return verdictOf(reply, (body) => answerBy({ code: body.code, text: body.message }, KINDS));
}
