import { hashOf } from "../../domain/attribution/touch-key.ts";
import { isObject, type JsonObject, type JsonValue } from "../../domain/json.ts";
import { cleanId, cleanValue, md5 } from "../../domain/user/identity.ts";
import { addressOf, callbackHostsField } from "../connector/callback.ts";
import { CODES_FIELD, codeOf } from "../connector/codes.ts";
import type {
  AccountField,
  CallContext,
  Conversion,
  HttpReply,
  PostbackConnector,
  Prepared,
  ReplyVerdict,
} from "../connector/connector.ts";
import { deviceIdsOf, osOf } from "../connector/device-ids.ts";
import { lack, secondsOf, skip } from "../connector/prepared.ts";
import { encoded, get, jsonPost, withQuery } from "../connector/request.ts";
import { type Answer, answerBy, type Kinds, verdictOf } from "../connector/verdict.ts";
import { fieldsOf } from "../platform.ts";
import { BAIDU_APP_CODES, BAIDU_CODES } from "./codes.ts";

const FIELDS: readonly AccountField[] = [
  {
    name: "route",
    hint: "auto, bd_vid (web and mini-games), or app (the callback of an app's click).",
    fallback: "auto",
  },
  { name: "token", hint: "The account's token, for bd_vid.", fallback: "", isSecret: true },
  { name: "page", hint: "The registered landing page, for bd_vid.", fallback: "" },
  {
    name: "url",
    hint: "Address for bd_vid.",
    fallback: "https://ocpc.baidu.com/ocpcapi/api/uploadConvertData",
  },
  { name: "akey", hint: "The key that signs callbacks, for app.", fallback: "", isSecret: true },
  { name: "join_type_name", hint: "Name of the parameter for the matched id, for app.", fallback: "join_type" },
  callbackHostsField("als.baidu.com,ocpc.baidu.com"),
  CODES_FIELD,
  { ...CODES_FIELD, name: "codes_app", hint: 'As codes, for app: {"key_active":"key_action"}.' },
];

export const baiduPostback: PostbackConnector = { fields: FIELDS, prepare, read };

function prepare(conversion: Conversion, context: CallContext): Prepared {
  const route = routeOf(conversion, context);
  switch (route) {
    case "bd_vid":
      return byBdVid(conversion, context);
    case "app":
      return byCallback(conversion, context);
    default:
      return skip("The account's `route` must be auto, bd_vid or app.");
  }
}

function routeOf({ adData }: Conversion, { account }: CallContext): string {
  if (account("route") !== "auto") return account("route");
  return fieldsOf(adData)("callback") === "" ? "bd_vid" : "app";
}

const PAGE_LENGTH_MAX = 1024;

function byBdVid(conversion: Conversion, { account }: CallContext): Prepared {
  const { atMs, cents, dedupeId, adData } = conversion;
  const code = codeOf(conversion, BAIDU_CODES, account("codes"));
  if (code.kind === "skip") return code;
  if (!/^\d+$/.test(code.code)) return skip("Baidu's codes for bd_vid must be whole numbers.");
  const lacking = lack(account, ["token", "page"]);
  if (lacking) return lacking;
  const bdVid = fieldsOf(adData)("bd_vid");
  if (bdVid === "") return skip("The touch brought neither a callback nor a bd_vid.");
  const logidUrl = withQuery(account("page"), { bd_vid: bdVid });
  if (logidUrl.length > PAGE_LENGTH_MAX)
    return skip(`The page with its bd_vid is longer than ${PAGE_LENGTH_MAX} characters.`);
  const item = {
    logidUrl,
    newType: Number(code.code),
    convertTime: secondsOf(atMs),
    ...(cents !== null && { convertValue: cents }),
    ...deviceOf(conversion),
    outerEventId: dedupeId,
    outerEventType: "custom_dedup",
  };
  const request = jsonPost(account("url"), { token: account("token"), conversionTypes: [item] });
  return { kind: "request", dedupes: true, request };
}

const DEVICE_TYPES = { android: 0, ios: 1, harmony: 2, unknown: 2 } as const;

function deviceOf(conversion: Conversion): JsonObject {
  const os = osOf(conversion);
  const id = os === "ios" ? deviceIdsOf(conversion).idfa : os === "android" ? imeiMd5Of(conversion) : "";
  return { deviceType: DEVICE_TYPES[os], ...(id !== "" && { deviceId: id }) };
}

/** Baidu hashes an imei as it is read, whatever its case. */
function imeiMd5Of({ user, adData }: Conversion): string {
  return user.device?.imei ? md5(user.device.imei) : (hashOf(fieldsOf(adData)("imei_md5")) ?? "");
}

const TYPE_MACRO = /(?:\{\{|%7B%7B)ATYPE(?:\}\}|%7D%7D)/gi;
const VALUE_MACRO = /(?:\{\{|%7B%7B)AVALUE(?:\}\}|%7D%7D)/gi;

/** `key_action:2` is a key action measured by Baidu's second figure, the revenue of a user. */
function byCallback(conversion: Conversion, { account, nowMs }: CallContext): Prepared {
  const { atMs, cents, adData } = conversion;
  const code = codeOf(conversion, BAIDU_APP_CODES, account("codes_app"));
  if (code.kind === "skip") return code;
  const lacking = lack(account, ["akey"]);
  if (lacking) return lacking;
  const address = addressOf({ callback: fieldsOf(adData)("callback"), hosts: account("callback_hosts") });
  if (address.kind === "skip") return address;
  const [type = "", figure = ""] = code.code.split(":", 2);
  const value = String(cents ?? 0);
  const filled = address.url.replace(TYPE_MACRO, () => encoded(type)).replace(VALUE_MACRO, () => value);
  const has = (name: string) => new URL(filled).searchParams.has(name);
  const isMeasured = figure !== "" && cents !== null;
  const unsigned = withQuery(filled, {
    a_type: has("a_type") ? "" : type,
    a_value: has("a_value") ? "" : value,
    // Baidu refuses a time in the future, and a client's clock can be ahead.
    a_time: secondsOf(Math.min(atMs, nowMs)),
    [account("join_type_name")]: joinTypeOf(conversion),
    action_type: isMeasured ? figure : "",
    action_value: isMeasured ? value : "",
  });
  // The sign covers the address as sent, which a URL parser may write differently from the delivered one.
  const url = new URL(unsigned).href;
  return { kind: "request", dedupes: false, request: get(`${url}&sign=${md5(url + account("akey"))}`) };
}

/** The id that touch and user provably share, in Baidu's order of preference; else bd_vid or the address. */
function joinTypeOf(conversion: Conversion): string {
  const field = fieldsOf(conversion.adData);
  const { device } = conversion.user;
  const { oaidMd5, androidIdMd5, idfaMd5 } = deviceIdsOf(conversion);
  const shared = JOIN_IDS.find((id) => {
    if (!device?.[id]) return false;
    const own = { oaid: oaidMd5, imei: md5(device.imei), android_id: androidIdMd5, idfa: idfaMd5 }[id];
    const raw = cleanId(field(id));
    return own === hashOf(field(`${id}_md5`)) || (raw !== "" && own === md5(id === "idfa" ? raw.toUpperCase() : raw));
  });
  return shared ?? (field("bd_vid") === "" ? "ip" : "bd_vid");
}

const JOIN_IDS = ["oaid", "imei", "android_id", "idfa"] as const;

const CALLBACK_KINDS: Kinds = {
  "0": "accepted",
  // Wrong sign, data, type or value, akey, search id, join type or time: a retry would not help.
  "100": "permanent",
  "101": "permanent",
  "102": "permanent",
  "103": "permanent",
  "104": "permanent",
  "105": "permanent",
  "110": "permanent",
};

/** Conversions are sent one at a time, so "partly failed" means this one. */
const UPLOAD_KINDS: Kinds = { "0": "accepted", "1": "permanent", "2": "permanent", "3": "token", "4": "retry" };

function read(reply: HttpReply): ReplyVerdict {
  return verdictOf(reply, (body) =>
    isObject(body.header)
      ? uploadAnswer(body.header)
      : answerBy({ code: body.error_code, text: body.error_msg }, CALLBACK_KINDS),
  );
}

function uploadAnswer(header: JsonObject): Answer {
  const errors: JsonValue[] = Array.isArray(header.errors) ? header.errors : [];
  const first = isObject(errors[0]) ? errors[0] : {};
  const detail = [cleanValue(first.code), cleanValue(first.message)].filter((text) => text !== "").join(" ");
  return answerBy({ code: header.status, text: detail || header.desc }, UPLOAD_KINDS);
}
