import { cleanValue, md5 } from "../../domain/user/identity.ts";
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
import { lack, skip } from "../connector/prepared.ts";
import { get, withQuery } from "../connector/request.ts";
import { verdictOf } from "../connector/verdict.ts";
import { fieldsOf } from "../platform.ts";

const KEY_ACTION = "APP_ADDICTION";

const CODES: Codes = {
  activate: "APP_ACTIVE",
  register: "APP_REGISTER",
  pay: "APP_PAY",
  twice: "APP_RETENTION",
  key_active: KEY_ACTION,
  withdraw_iaa: null,
  create_role: null,
  login: null,
  customer_effective: null,
  wx_launch: null,
  re_active: null,
  retention_2d: null,
  retention_3d: "APP_RETENTION_3D",
  retention_4d: "APP_RETENTION_4D",
  retention_5d: "APP_RETENTION_5D",
  retention_6d: "APP_RETENTION_6D",
  retention_7d: "APP_RETENTION_7D",
  retention_14d: null,
  retention_30d: null,
  service_pay_success: "APP_PAY",
  complete_order: "APP_COMPLETE_ORDER",
  first_day_pay: "APP_FIRST_PAY",
  first_pay: "APP_FIRST_PAY",
  ad_quality: null,
  game_action: KEY_ACTION,
  action_valid: null,
};

export const xiaomiPostback: PostbackConnector = {
  fields: [
    { name: "app_id", hint: "The app's id at Xiaomi.", fallback: "" },
    { name: "customer_id", hint: "The advertiser; if not set, that of the touch.", fallback: "" },
    { name: "sign_key", hint: "The signing key.", fallback: "", isSecret: true },
    { name: "encrypt_key", hint: "The encryption key.", fallback: "", isSecret: true },
    { name: "key_action_target", hint: "How often the key action has to be done.", fallback: "1" },
    { name: "key_action_reach", hint: "How often the key action has been done when it is reported.", fallback: "1" },
    { name: "url", hint: "Address.", fallback: "https://trail.e.mi.com/global/log" },
    CODES_FIELD,
  ],
  prepare,
  read,
  tellsMoney: "no",
};

function prepare(conversion: Conversion, { account }: CallContext): Prepared {
  const code = codeOf(conversion, CODES, account("codes"));
  if (code.kind === "skip") return code;
  const lacking = lack(account, ["app_id", "sign_key", "encrypt_key"]);
  if (lacking) return lacking;
  const customerId = account("customer_id") || fieldsOf(conversion.adData)("customer_id");
  if (customerId === "") return skip("The account has no `customer_id`.");
  const { oaid, imeiMd5 } = deviceIdsOf(conversion);
  if (oaid === "" && imeiMd5 === "") return skip("Neither the device's oaid nor its imei is known.");
  const told: [string, string][] = [
    oaid === "" ? ["imei", imeiMd5] : ["oaid", oaid],
    ["conv_time", String(conversion.atMs)],
    ["client_ip", conversion.user.ip],
  ];
  const isKeyAction = code.code === KEY_ACTION;
  const url = withQuery(account("url"), {
    appId: account("app_id"),
    info: sealed(told, { signKey: account("sign_key"), encryptKey: account("encrypt_key") }),
    conv_type: code.code,
    customer_id: customerId,
    key_action_target: isKeyAction ? account("key_action_target") : "",
    key_action_reach: isKeyAction ? account("key_action_reach") : "",
  });
  return { kind: "request", dedupes: false, request: get(url) };
}

/** The sign covers the encoded text, but the text itself is encrypted. */
function sealed(told: readonly [string, string][], keys: { signKey: string; encryptKey: string }): string {
  const text = told
    .filter(([, value]) => value !== "")
    .map(([name, value]) => `${name}=${formEncoded(value)}`)
    .join("&");
  const sign = md5(`${keys.signKey}&${formEncoded(text)}`);
  const key = Buffer.from(keys.encryptKey);
  const bytes = Buffer.from(`${text}&sign=${sign}`).map((byte, index) => byte ^ key[index % key.length]!);
  return Buffer.from(bytes).toString("base64");
}

/** Form encoding, as Xiaomi uses it, which differs from URL encoding in a few characters. */
function formEncoded(text: string): string {
  return new URLSearchParams([["", text]]).toString().slice(1);
}

/**
 * That 1 means success is known from public callers; other codes are not documented and count as final: Xiaomi does not
 * dedupe, so a retry could count twice.
 */
function read(reply: HttpReply): ReplyVerdict {
  return verdictOf(reply, (body) => {
    const code = cleanValue(body.code);
    const text = cleanValue(body.failMsg) || cleanValue(body.message) || cleanValue(body.msg);
    return { code, text, kind: code === "1" ? "accepted" : "permanent" };
  });
}
