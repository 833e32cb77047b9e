import { CODES_FIELD, type Codes, codeOf } from "../connector/codes.ts";
import type {
  CallContext,
  Conversion,
  HttpReply,
  PostbackConnector,
  Prepared,
  ReplyVerdict,
} from "../connector/connector.ts";
import { skip } from "../connector/prepared.ts";
import { get, withQuery } from "../connector/request.ts";
import { valueIn, valueUnitField } from "../connector/value-unit.ts";
import { answerBy, type Kinds, verdictOf } from "../connector/verdict.ts";
import { fieldsOf } from "../platform.ts";

const CODES: Codes = {
  activate: "APP_FIRST_ACTIVE",
  register: "USER_REGISTER",
  pay: "USER_COST",
  twice: "RETENTION",
  key_active: null,
  withdraw_iaa: null,
  create_role: null,
  login: "APP_ACTIVE",
  customer_effective: null,
  wx_launch: "APP_CALLUP",
  re_active: null,
  retention_2d: null,
  retention_3d: null,
  retention_4d: null,
  retention_5d: null,
  retention_6d: null,
  retention_7d: null,
  retention_14d: null,
  retention_30d: null,
  service_pay_success: "USER_COST",
  complete_order: "ORDER_PLACE",
  first_day_pay: "USER_COST",
  first_pay: "USER_COST",
  ad_quality: null,
  game_action: null,
  action_valid: null,
};

export const bilibiliPostback: PostbackConnector = {
  fields: [
    { name: "url", hint: "Address.", fallback: "https://cm.bilibili.com/conv/api/conversion/ad/cb/v1" },
    valueUnitField("conv_value"),
    CODES_FIELD,
  ],
  prepare,
  read,
};

function prepare(conversion: Conversion, { account }: CallContext): Prepared {
  const { atMs, cents, adData, user } = conversion;
  const code = codeOf(conversion, CODES, account("codes"));
  if (code.kind === "skip") return code;
  const field = fieldsOf(adData);
  const trackId = field("track_id") || field("click_id");
  if (trackId === "") return skip("The touch brought no track_id.");
  // Likely: the document's answers call it mandatory, its table of fields does not name it.
  if (user.ip === "") return skip("The user's address is not known.");
  const value = valueIn(account("value_unit"), cents);
  if (value === undefined) return skip("The account's `value_unit` is neither fen nor yuan.");
  const url = withQuery(account("url"), {
    conv_type: code.code,
    conv_time: atMs,
    conv_value: value,
    track_id: trackId,
    client_ip: user.ip,
  });
  return { kind: "request", dedupes: false, request: get(url) };
}

const KINDS: Kinds = { "0": "accepted", "400": "permanent" };

function read(reply: HttpReply): ReplyVerdict {
  return verdictOf(reply, (body) => answerBy({ code: body.code, text: body.message }, KINDS));
}
