import type { JsonObject } from "../../domain/json.ts";
import type { PostbackEventType } from "../../domain/postback/postback.ts";
import { cleanValue } from "../../domain/user/identity.ts";
import { addressOf, callbackHostsField, isAddress } from "../connector/callback.ts";
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
import { lack, secondsOf, skip } from "../connector/prepared.ts";
import { get, jsonPost, withQuery } from "../connector/request.ts";
import { CLIENT_TOKEN_FIELDS, dataTokenOf, newToken } from "../connector/token.ts";
import { answerBy, type Kinds, verdictOf } from "../connector/verdict.ts";
import { fieldsOf } from "../platform.ts";
import { REFRESH_LIFE_MS } from "./refresh-life.ts";
import { tencentUserId } from "./user-id.ts";

/** `CUSTOM:name` is a custom action with that name. */
const CODES: Codes = {
  activate: "ACTIVATE_APP",
  register: "REGISTER",
  pay: "PURCHASE",
  twice: "START_APP",
  key_active: "CUSTOM",
  withdraw_iaa: "UNSUBSCRIBE_SERVICE",
  create_role: "CREATE_ROLE",
  login: "LOGIN",
  customer_effective: "CONFIRM_EFFECTIVE_LEADS",
  wx_launch: "START_APP",
  re_active: "RE_ACTIVE",
  retention_2d: "START_APP",
  retention_3d: "START_APP",
  retention_4d: "START_APP",
  retention_5d: "START_APP",
  retention_6d: "START_APP",
  retention_7d: "START_APP",
  retention_14d: null,
  retention_30d: null,
  service_pay_success: "PURCHASE",
  complete_order: "COMPLETE_ORDER",
  first_day_pay: "PURCHASE",
  first_pay: "PURCHASE",
  ad_quality: "AD_PURCHASE",
  game_action: "QUEST",
  action_valid: "CUSTOM",
};

/** A retention is a start of the app, this many days after the activation. */
const STAY_DAYS: Readonly<Partial<Record<PostbackEventType, number>>> = {
  twice: 1,
  retention_2d: 2,
  retention_3d: 3,
  retention_4d: 4,
  retention_5d: 5,
  retention_6d: 6,
  retention_7d: 7,
};
const CLAIM_ACTIVATE = 4;

/** It cannot read reports, and the tokens that can are renewed: they are two credentials (certain). */
const OWN_KEY = "postback_key";

const FIELDS: readonly AccountField[] = [
  {
    name: "route",
    hint: "auto, callback (the address delivered with the click), click_id, or wechat (the WeChat interface).",
    fallback: "auto",
  },
  {
    name: OWN_KEY,
    hint: "Permanent key of the data source (DataNexus), for postbacks; without it, the access token is used.",
    fallback: "",
    isSecret: true,
  },
  ...CLIENT_TOKEN_FIELDS,
  {
    name: "token_header",
    hint: "The header that carries key or token, if it is not access-token (callback) or access_token (click_id).",
    fallback: "",
  },
  { name: "dedupe_field", hint: "The field by which repeated actions are detected.", fallback: "outer_action_id" },
  { name: "wechat_app_id", hint: "App id of the mini-game; users' open ids are sent only with it.", fallback: "" },
  { name: "wechat_access_token", hint: "WeChat's token, for the route wechat.", fallback: "", isSecret: true },
  { name: "user_action_set_id", hint: "The data source, for the route wechat.", fallback: "" },
  { name: "page", hint: "The landing page, if a web page is advertised.", fallback: "" },
  { name: "url", hint: "Address for the route click_id.", fallback: "https://api.e.qq.com/v3.0/user_actions/add" },
  {
    name: "wechat_url",
    hint: "Address for the route wechat.",
    fallback: "https://api.weixin.qq.com/marketing/user_actions/add",
  },
  { name: "token_url", hint: "Address for new tokens.", fallback: "https://api.e.qq.com/oauth/token" },
  callbackHostsField("api.e.qq.com,tracking.e.qq.com"),
  CODES_FIELD,
];

export const tencentPostback: PostbackConnector = {
  fields: FIELDS,
  prepare,
  read,
  tokens: tokenFlow(),
  ownKey: OWN_KEY,
};

function prepare(conversion: Conversion, context: CallContext): Prepared {
  const code = codeOf(conversion, CODES, context.account("codes"));
  if (code.kind === "skip") return code;
  const action = actionOf(conversion, context, code.code);
  const route = routeOf(conversion, context);
  switch (route) {
    case "callback":
      return byCallback(conversion, context, action);
    case "click_id":
      return byClickId(conversion, context, action);
    case "wechat":
      return byWechat(conversion, context, action);
    default:
      return skip("The account's `route` must be auto, callback, click_id or wechat.");
  }
}

function routeOf({ adData }: Conversion, { account }: CallContext): string {
  if (account("route") !== "auto") return account("route");
  const field = fieldsOf(adData);
  if (isAddress(field("callback"))) return "callback";
  const hasWechat = account("wechat_access_token") !== "" && account("user_action_set_id") !== "";
  return hasWechat && field("gdt_vid") !== "" ? "wechat" : "click_id";
}

/** Calls the address as delivered: whether it needs a token, and which route it is, is Tencent's choice. */
function byCallback({ adData }: Conversion, context: CallContext, action: JsonObject): Prepared {
  const field = fieldsOf(adData);
  const address = addressOf({ callback: field("callback"), hosts: context.account("callback_hosts") });
  if (address.kind === "skip") return address;
  const { url } = address;
  // Addresses that need a token are https. A token is never sent unencrypted, whatever a click asks for.
  const headers = /^https:/i.test(url) ? tokenHeaders(context, "access-token") : {};
  const clickId = field("click_id");
  const actions = [{ ...action, ...(clickId !== "" && { trace: { click_id: clickId } }) }];
  return { kind: "request", dedupes: true, request: jsonPost(url, { actions }, headers) };
}

function byClickId({ adData }: Conversion, context: CallContext, action: JsonObject): Prepared {
  const field = fieldsOf(adData);
  const clickId = field("click_id") || field("gdt_vid") || field("qz_gdt");
  if (clickId === "") return skip("The touch brought neither a callback nor a click id.");
  const actions = [{ ...action, ...page(context), trace: { click_id: clickId } }];
  const request = jsonPost(context.account("url"), { actions }, tokenHeaders(context, "access_token"));
  return { kind: "request", dedupes: true, request };
}

function byWechat({ adData }: Conversion, context: CallContext, action: JsonObject): Prepared {
  const { account } = context;
  const lacking = lack(account, ["wechat_access_token", "user_action_set_id"]);
  if (lacking) return lacking;
  const clickId = fieldsOf(adData)("gdt_vid");
  if (clickId === "") return skip("The launch brought no gdt_vid.");
  // Known callers of this interface send a number.
  const setId = Number(account("user_action_set_id"));
  if (!Number.isSafeInteger(setId)) return skip("The account's `user_action_set_id` must be a whole number.");
  const actions = [{ user_action_set_id: setId, ...action, ...page(context), trace: { click_id: clickId } }];
  const url = withQuery(account("wechat_url"), { version: "v1.0", access_token: account("wechat_access_token") });
  return { kind: "request", dedupes: true, request: jsonPost(url, { actions }) };
}

function actionOf(conversion: Conversion, { account }: CallContext, code: string): JsonObject {
  const { eventType, atMs, cents, dedupeId } = conversion;
  const [type = "", name = ""] = code.split(":", 2);
  const userId = tencentUserId(conversion, account("wechat_app_id"));
  const days = type === "START_APP" ? STAY_DAYS[eventType] : undefined;
  const parameters = {
    ...(cents !== null && { value: cents }),
    // A user's ad revenue, in fen (likely; that it is a whole number is certain).
    ...(cents !== null && type === "AD_PURCHASE" && { arpu: cents }),
    ...(days !== undefined && { claim_type: CLAIM_ACTIVATE, length_of_stay: days }),
  };
  return {
    [account("dedupe_field")]: dedupeId,
    action_time: secondsOf(atMs),
    action_type: type,
    ...(type === "CUSTOM" && { custom_action: name || eventType }),
    ...(Object.keys(userId).length > 0 && { user_id: userId }),
    ...(Object.keys(parameters).length > 0 && { action_param: parameters }),
  };
}

function page({ account }: CallContext): JsonObject {
  return account("page") === "" ? {} : { url: account("page") };
}

/** The two routes spell the header differently (certain, from Tencent's own pages). */
function tokenHeaders(
  { account, nowMs, nonce }: CallContext,
  header: "access-token" | "access_token",
): Record<string, string> {
  const token = account(OWN_KEY) || account("access_token");
  if (token === "") return {};
  return { [account("token_header") || header]: token, timestamp: String(secondsOf(nowMs)), nonce };
}

const KINDS: Kinds = {
  "0": "accepted",
  // Busy, under maintenance, internal error, too many calls.
  "10000": "retry",
  "10001": "retry",
  "30000": "retry",
  "11008": "retry",
  "11016": "retry",
  "11017": "retry",
  "11018": "retry",
  "11019": "retry",
  "11000": "token",
  "11002": "token",
  "11004": "token",
  "11005": "token",
  // The callback is damaged, or belongs to no conversion that Tencent knows.
  "20001": "permanent",
  "20002": "permanent",
  "20006": "permanent",
};

/** WeChat's token comes from the app's own server; Tencent's tokens have nothing to do with it. */
const WECHAT_KINDS: Kinds = {
  "0": "accepted",
  "40001": "retry",
  "42001": "retry",
  "40014": "retry",
  // The app may not use this interface.
  "48001": "permanent",
};

function read(reply: HttpReply): ReplyVerdict {
  return verdictOf(reply, (body) =>
    body.errcode === undefined
      ? answerBy({ code: body.code, text: cleanValue(body.message) || cleanValue(body.message_cn) }, KINDS)
      : answerBy({ code: body.errcode, text: body.errmsg }, WECHAT_KINDS),
  );
}

function tokenFlow(): TokenFlow {
  return {
    request({ account }) {
      if (lack(account, ["client_id", "client_secret", "refresh_token"])) return undefined;
      return get(
        withQuery(account("token_url"), {
          client_id: account("client_id"),
          client_secret: account("client_secret"),
          grant_type: "refresh_token",
          refresh_token: account("refresh_token"),
        }),
      );
    },
    read: (reply, nowMs) =>
      dataTokenOf(reply, (data) => {
        const lifeSeconds = Number(cleanValue(data.access_token_expires_in));
        return newToken({
          accessToken: cleanValue(data.access_token),
          refreshToken: cleanValue(data.refresh_token),
          expiresAtMs: lifeSeconds > 0 ? nowMs + lifeSeconds * 1000 : null,
          refreshExpiresAtMs: nowMs + REFRESH_LIFE_MS,
        });
      }),
  };
}
