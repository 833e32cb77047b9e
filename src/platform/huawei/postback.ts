import { createHmac } from "node:crypto";
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
import { known, lack, secondsOf, skip, yuanOf } from "../connector/prepared.ts";
import { jsonPost } from "../connector/request.ts";
import { answerBy, type Kinds, verdictOf } from "../connector/verdict.ts";
import { fieldsOf } from "../platform.ts";

/** Names from two public callers (likely). */
const CODES: Codes = {
  activate: "activate",
  register: "register",
  pay: "paid",
  twice: "retain",
  key_active: "custom",
  withdraw_iaa: null,
  create_role: "createRole",
  login: "login",
  customer_effective: "custom_acquisit",
  wx_launch: null,
  re_active: "reEngage",
  retention_2d: null,
  retention_3d: "threeDayRetain",
  retention_4d: null,
  retention_5d: null,
  retention_6d: null,
  retention_7d: "sevenDayRetain",
  retention_14d: null,
  retention_30d: null,
  service_pay_success: "paid",
  complete_order: "preOrder",
  first_day_pay: "paid",
  first_pay: "firstPurchase",
  ad_quality: null,
  game_action: "custom",
  action_valid: null,
};

export const huaweiPostback: PostbackConnector = {
  fields: [
    {
      name: "url",
      hint: "Upload address for the account's region; it ends with actionupload.",
      // China, version 2 (likely).
      fallback: "https://ppscrowd-drcn.op.cloud.huawei.com/action-lib-track/hiad/v2/actionupload",
    },
    { name: "secret_key", hint: "The signing key.", fallback: "", isSecret: true },
    CODES_FIELD,
  ],
  prepare,
  read,
};

/**
 * The names in the body and the header come from public callers, not from Huawei's documentation (likely): every value
 * is a text, the conversion's time is in seconds, the call's time in milliseconds, and the price in yuan. The oaid and
 * whether the device may be tracked are sent even when they are empty.
 */
function prepare(conversion: Conversion, { account, nowMs }: CallContext): Prepared {
  const { atMs, cents, adData, user } = conversion;
  const code = codeOf(conversion, CODES, account("codes"));
  if (code.kind === "skip") return code;
  const lacking = lack(account, ["secret_key"]);
  if (lacking) return lacking;
  const field = fieldsOf(adData);
  if (field("callback") === "") return skip("The touch brought no callback.");
  const request = jsonPost(account("url"), {
    oaid: deviceIdsOf(conversion).oaid,
    tracking_enabled: field("tracking_enabled"),
    ...known({
      callback: field("callback"),
      conversion_type: code.code,
      conversion_time: String(secondsOf(atMs)),
      timestamp: String(nowMs),
      content_id: field("content_id"),
      campaign_id: field("campaign_id"),
      ip: user.ip,
      conversion_price: cents === null ? "" : yuanOf(cents),
    }),
  });
  const response = createHmac("sha256", account("secret_key")).update(request.body!).digest("hex");
  const headers = { ...request.headers, authorization: `Digest validTime="${nowMs}", response="${response}"` };
  return { kind: "request", dedupes: false, request: { ...request, headers } };
}

const KINDS: Kinds = { "0": "accepted" };

function read(reply: HttpReply): ReplyVerdict {
  return verdictOf(reply, (body) => answerBy({ code: body.resultCode, text: body.resultMessage }, KINDS));
}
