import { createCipheriv } from "node:crypto";
import type { JsonObject } from "../../domain/json.ts";
import { md5 } from "../../domain/user/identity.ts";
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
import { jsonPost } from "../connector/request.ts";
import { answerBy, type Kinds, verdictOf } from "../connector/verdict.ts";
import { fieldsOf } from "../platform.ts";

/** Values of `dataType` for games: an app's payment is 7, a game's is 3. Retention begins with the third day. */
const CODES: Codes = {
  activate: "1",
  register: "2",
  pay: "3",
  twice: "4",
  key_active: "20",
  withdraw_iaa: null,
  create_role: null,
  login: null,
  customer_effective: null,
  wx_launch: null,
  re_active: "15",
  retention_2d: null,
  retention_3d: "9",
  retention_4d: "10",
  retention_5d: "11",
  retention_6d: "12",
  retention_7d: "13",
  retention_14d: null,
  retention_30d: null,
  service_pay_success: "7",
  complete_order: null,
  first_day_pay: "3",
  first_pay: "3",
  ad_quality: null,
  game_action: "20",
  action_valid: "8",
};

export const oppoPostback: PostbackConnector = {
  fields: [
    { name: "key", hint: "The key that encrypts device ids, 16 bytes in base64.", fallback: "", isSecret: true },
    { name: "salt", hint: "The salt of the signature.", fallback: "", isSecret: true },
    { name: "pkg", hint: "The app's package.", fallback: "" },
    { name: "app_type", hint: "1 for an app, 2 for a game, 3 for a quick app, 0 for others.", fallback: "2" },
    { name: "url", hint: "Address.", fallback: "https://api.ads.heytapmobi.com/api/uploadActiveData" },
    CODES_FIELD,
  ],
  prepare,
  read,
};

const KEY_BYTES = 16;

function prepare(conversion: Conversion, { account, nowMs }: CallContext): Prepared {
  const code = codeOf(conversion, CODES, account("codes"));
  if (code.kind === "skip") return code;
  if (!/^\d+$/.test(code.code)) return skip("OPPO's codes must be whole numbers.");
  const lacking = lack(account, ["key", "salt", "pkg"]);
  if (lacking) return lacking;
  const key = Buffer.from(account("key"), "base64");
  if (key.length !== KEY_BYTES) return skip("The account's `key` must be 16 bytes in base64.");
  if (!/^\d$/.test(account("app_type"))) return skip("The account's `app_type` must be one digit.");
  const { oaid } = deviceIdsOf(conversion);
  if (oaid === "") return skip("The device's oaid is not known.");
  const body = {
    ouId: encrypted(oaid, key),
    pkg: account("pkg"),
    dataType: Number(code.code),
    timestamp: conversion.atMs,
    channel: 1,
    type: 2,
    // 2 for games is likely.
    appType: Number(account("app_type")),
    // In fen (certain).
    ...(conversion.cents !== null && { payAmount: conversion.cents }),
    ...(conversion.orderId !== "" && { payId: conversion.orderId }),
    ...adOf(conversion),
    ...(conversion.user.ip !== "" && { clientIp: conversion.user.ip }),
  };
  const timestamp = String(nowMs);
  const signature = md5(JSON.stringify(body) + timestamp + account("salt"));
  return { kind: "request", dedupes: false, request: jsonPost(account("url"), body, { timestamp, signature }) };
}

/** The ad of the touch. When it is not known, OPPO attributes the conversion itself. */
function adOf({ adData }: Conversion): JsonObject {
  const id = fieldsOf(adData)("ad_id");
  if (!/^[1-9]\d*$/.test(id)) return {};
  return { ascribeType: 1, adId: Number.isSafeInteger(Number(id)) ? Number(id) : id };
}

function encrypted(text: string, key: Buffer): string {
  const cipher = createCipheriv("aes-128-ecb", key, null);
  return Buffer.concat([cipher.update(text, "utf8"), cipher.final()]).toString("base64");
}

const KINDS: Kinds = { "0": "accepted" };

function read(reply: HttpReply): ReplyVerdict {
  return verdictOf(reply, (body) => answerBy({ code: body.ret, text: body.msg ?? body.message }, KINDS));
}
