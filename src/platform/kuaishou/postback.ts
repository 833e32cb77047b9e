import { cleanValue } from "../../domain/user/identity.ts";
import { addressOf, callbackHostsField, isAddress } from "../connector/callback.ts";
import { CODES_FIELD, type Codes, codeOf } from "../connector/codes.ts";
import type {
  AccountSettings,
  CallContext,
  Conversion,
  HttpReply,
  PostbackConnector,
  Prepared,
  ReplyVerdict,
} from "../connector/connector.ts";
import { skip, yuanOf } from "../connector/prepared.ts";
import { get, withQuery } from "../connector/request.ts";
import { verdictOf } from "../connector/verdict.ts";
import { fieldsOf } from "../platform.ts";

const CODES: Codes = {
  activate: "1",
  register: "2",
  pay: "3",
  twice: "7",
  key_active: "143",
  withdraw_iaa: null,
  create_role: null,
  login: "5",
  customer_effective: "44",
  wx_launch: "84",
  re_active: null,
  retention_2d: "102",
  retention_3d: "103",
  retention_4d: "104",
  retention_5d: "105",
  retention_6d: "106",
  retention_7d: "8",
  retention_14d: "107",
  retention_30d: "108",
  service_pay_success: "15",
  complete_order: "14",
  first_day_pay: "3",
  first_pay: "3",
  ad_quality: "85",
  game_action: "144",
  action_valid: "6",
};

/** Kuaishou strongly recommends a category and a threshold with a key action (certain); its numbers are the account's. */
const KEY_ACTION = "143";

/** Kuaishou refuses these without an amount. */
const NEED_AMOUNT: ReadonlySet<string> = new Set(["3", "12", "13", "14", "15"]);

export const kuaishouPostback: PostbackConnector = {
  fields: [
    {
      name: "url",
      hint: "Address for callbacks that came as a token.",
      fallback: "https://ad.partner.gifshow.com/track/activate",
    },
    callbackHostsField("ad.partner.gifshow.com"),
    { name: "key_action_category", hint: "Kind of the key action, by Kuaishou's list (code 143).", fallback: "" },
    { name: "key_action_threshold", hint: "Count, level or amount that makes it a key action.", fallback: "" },
    CODES_FIELD,
  ],
  prepare,
  read,
};

function prepare(conversion: Conversion, { account }: CallContext): Prepared {
  const { eventType, atMs, cents, adData } = conversion;
  const code = codeOf(conversion, CODES, account("codes"));
  if (code.kind === "skip") return code;
  const [type = "", ...parts] = code.code.split(":");
  if (cents === null && NEED_AMOUNT.has(type)) return skip(`Kuaishou accepts ${eventType} only with an amount.`);
  // The token is passed on unchanged: Kuaishou cannot decode a part of it.
  const callback = fieldsOf(adData)("callback");
  const address =
    callback === "" || isAddress(callback)
      ? addressOf({ callback, hosts: account("callback_hosts") })
      : { kind: "address" as const, url: withQuery(account("url"), { callback }) };
  if (address.kind === "skip") return address;
  const url = withQuery(address.url, {
    event_type: type,
    event_time: atMs,
    purchase_amount: cents === null ? "" : yuanOf(cents),
    ...(type === KEY_ACTION && keyActionOf(parts, account)),
  });
  return { kind: "request", dedupes: false, request: get(url) };
}

/** `143:2:10` is a key action of category 2 from 10 on; what a code leaves out, the account's fields say. */
function keyActionOf([category = "", threshold = ""]: readonly string[], account: AccountSettings) {
  return {
    key_action_category: category || account("key_action_category"),
    key_action_threshold: threshold || account("key_action_threshold"),
  };
}

/** Fields beside a result other than 1 are not documented, except for one text that means a permanent failure. */
function read(reply: HttpReply): ReplyVerdict {
  return verdictOf(reply, (body) => {
    const code = cleanValue(body.result);
    const text =
      cleanValue(body.error_msg) || cleanValue(body.message) || cleanValue(body.msg) || cleanValue(body.error);
    const isDamaged = /decode\w*\s+fail/i.test(reply.body);
    return { code, text, kind: code === "1" ? "accepted" : isDamaged ? "permanent" : undefined };
  });
}
