import { cleanValue, md5 } from "../../domain/user/identity.ts";
import { CODES_FIELD, type Codes, codeOf } from "../connector/codes.ts";
import type {
  AccountSettings,
  CallContext,
  Conversion,
  HttpReply,
  HttpRequest,
  PostbackConnector,
  Prepared,
  ReplyVerdict,
} from "../connector/connector.ts";
import { deviceIdsOf } from "../connector/device-ids.ts";
import { lack, skip } from "../connector/prepared.ts";
import { encoded, get, withQuery } from "../connector/request.ts";
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
    {
      name: "route",
      hint: "auto, callback (of the click), or log (without one).",
      fallback: "auto",
    },
    { name: "app_id", hint: "The app's id at Xiaomi, for log.", fallback: "" },
    { name: "customer_id", hint: "The advertiser, for log; if not set, that of the touch.", fallback: "" },
    { name: "sign_key", hint: "The signing key.", fallback: "", isSecret: true },
    { name: "encrypt_key", hint: "The encryption key, for log.", fallback: "", isSecret: true },
    { name: "key_action_target", hint: "How often the key action has to be done.", fallback: "1" },
    { name: "key_action_reach", hint: "How often the key action has been done when it is reported.", fallback: "1" },
    { name: "url", hint: "Address for log.", fallback: "https://trail.e.mi.com/global/log" },
    { name: "callback_url", hint: "Address for callback.", fallback: "https://trail.e.mi.com/api/callback" },
    CODES_FIELD,
  ],
  prepare,
  read,
  tellsMoney: "no",
};

function prepare(conversion: Conversion, context: CallContext): Prepared {
  const { account } = context;
  const code = codeOf(conversion, CODES, account("codes"));
  if (code.kind === "skip") return code;
  const { oaid, imeiMd5 } = deviceIdsOf(conversion);
  if (oaid === "" && imeiMd5 === "") return skip("Neither the device's oaid nor its imei is known.");
  const call: Call = {
    conversion,
    code: code.code,
    callback: fieldsOf(conversion.adData)("callback"),
    device: oaid === "" ? ["imei", imeiMd5] : ["oaid", oaid],
  };
  switch (account("route") === "auto" ? (call.callback === "" ? "log" : "callback") : account("route")) {
    case "callback":
      return byCallback(call, context);
    case "log":
      return byLog(call, context);
    default:
      return skip("The account's `route` must be auto, callback or log.");
  }
}

type Call = { conversion: Conversion; code: string; callback: string; device: [name: string, id: string] };

/** The click's callback is answered at an address of its own (likely). The sign leaves out the event. */
function byCallback({ conversion, code, callback, device }: Call, { account }: CallContext): Prepared {
  const lacking = lack(account, ["sign_key"]);
  if (lacking) return lacking;
  if (callback === "") return skip("The touch brought no callback.");
  const [name, id] = device;
  const signed = `callback=${encoded(callback)}&${name}=${encoded(id)}&conv_time=${conversion.atMs}`;
  const address = account("callback_url");
  const url = withQuery(`${address}${address.includes("?") ? "&" : "?"}${signed}`, {
    convType: code,
    ...keyActionOf(code, account),
    sign: md5(signed + account("sign_key")),
  });
  return { kind: "request", dedupes: false, request: get(url) };
}

function byLog({ conversion, code, device }: Call, { account }: CallContext): Prepared {
  const lacking = lack(account, ["app_id", "sign_key", "encrypt_key"]);
  if (lacking) return lacking;
  const customerId = account("customer_id") || fieldsOf(conversion.adData)("customer_id");
  if (customerId === "") return skip("The account has no `customer_id`.");
  const told: [string, string][] = [device, ["conv_time", String(conversion.atMs)], ["client_ip", conversion.user.ip]];
  const url = withQuery(account("url"), {
    appId: account("app_id"),
    info: sealed(told, { signKey: account("sign_key"), encryptKey: account("encrypt_key") }),
    conv_type: code,
    customer_id: customerId,
    ...keyActionOf(code, account),
  });
  return { kind: "request", dedupes: false, request: get(url) };
}

function keyActionOf(code: string, account: AccountSettings): Record<string, string> {
  const [target, reach] = [account("key_action_target"), account("key_action_reach")];
  return code === KEY_ACTION ? { key_action_target: target, key_action_reach: reach } : {};
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
 * Success is 0 where a callback is answered, and 1 at the log (likely, from public callers). Other codes are not
 * documented and count as final: Xiaomi does not dedupe, so a retry could count twice.
 */
function read(reply: HttpReply, request: HttpRequest): ReplyVerdict {
  const success = new URL(request.url).searchParams.has("callback") ? "0" : "1";
  return verdictOf(reply, (body) => {
    const code = cleanValue(body.code);
    const text = cleanValue(body.failMsg) || cleanValue(body.message) || cleanValue(body.msg);
    return { code, text, kind: code === success ? "accepted" : "permanent" };
  });
}
