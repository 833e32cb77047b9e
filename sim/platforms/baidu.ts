import { createHash } from "node:crypto";
import type { AuthoriseOptions } from "./authorise-page.ts";
import { baiduCostRoutes } from "./baidu-costs.ts";
import {
  type Answer,
  answer,
  type Call,
  type Fields,
  isFields,
  jsonBody,
  listAt,
  optionalText,
  optionalWhole,
  Refusal,
  secondsAt,
  textAt,
  wholeAt,
} from "./call.ts";
import { CostBook, type CostOptions } from "./costs.ts";
import {
  type Desk,
  type Dialect,
  type NewConversion,
  type Route,
  type StandIn,
  type StandInOptions,
  startStandIn,
} from "./stand-in.ts";
import { randomText, Tokens } from "./tokens.ts";

export type BaiduOptions = StandInOptions &
  CostOptions &
  AuthoriseOptions & { token?: string; akey?: string; appId?: string; secretKey?: string; userName?: string };

export type BaiduStandIn = StandIn & {
  tokens: Tokens;
  /** The account's token, for conversions by bd_vid. */
  token: string;
  akey: string;
  appId: string;
  secretKey: string;
  userName: string;
  /** The decoded value of `__CALLBACK_URL__`, with two macros for the server to replace. */
  callbackUrl(extInfo: string): string;
};

const NEW_TYPES: ReadonlySet<number> = new Set([
  ...[1, 2, 3, 4, 5, 10, 14, 17, 18, 19, 20, 25, 26, 30, 35, 45, 46, 56, 67, 68, 71, 72, 73, 74, 75, 76, 77, 79, 90],
  112,
]);
const CART = 46;
const OUTER_EVENT_TYPES: ReadonlySet<string> = new Set(["custom_dedup", "quality_points_add"]);
const A_TYPES: ReadonlySet<string> = new Set([
  ...["activate", "register", "orders", "retain_1day", "retain_2day", "retain_3day", "retain_4day", "retain_5day"],
  ...["retain_6day", "retain_7day", "retain_14day", "user_defined", "ec_buy", "deep_page_access", "credit_granting"],
  ...["deeplink", "deep_link", "feed_deeplink", "add_to_desktop", "log_in", "order_submit_success", "pay_to_read"],
  ...["pay_to_watch", "enter_bookstore_read", "key_action", "derived_event", "apply", "payout", "follow_success"],
]);
const JOIN_TYPES: ReadonlySet<string> = new Set([
  ...["imei", "oaid", "android_id", "ip", "idfa", "caid", "mac", "bd_vid", "paid"],
]);

export async function startBaidu(options: BaiduOptions = {}): Promise<BaiduStandIn> {
  const { clock, token = randomText(), akey = randomText(), appId = randomText(), secretKey = randomText() } = options;
  const { userName = "stand-in" } = options;
  const tokens = new Tokens({ clock, accessSeconds: 86_400, refreshToken: "replaced" });
  const routes = [
    uploadRoute(token),
    actionRoute(akey),
    ...baiduCostRoutes(new CostBook(options), { ...options, tokens, appId, secretKey, userName }),
  ];
  const standIn = await startStandIn("baidu", { ...options, routes });
  const callbackUrl = (extInfo: string) =>
    `${standIn.url}/ocpcapi/cb/actionCb?a_type={{ATYPE}}&a_value={{AVALUE}}&ext_info=${encodeURIComponent(extInfo)}`;
  return Object.assign(standIn, { tokens, token, akey, appId, secretKey, userName, callbackUrl });
}

const STATUS = { accepted: 0, partly: 1, none: 2, badToken: 3, serverError: 4 };

type ItemError = { code: number; message: string; position: string };

function headed(status: number, errors: readonly ItemError[], desc = ""): Answer {
  return answer({ header: { status, desc, errors } });
}

const UPLOAD_DIALECT: Dialect = {
  refusal: ({ message, code = STATUS.none }) => headed(code, [], message),
  busy: headed(STATUS.serverError, [], "server error"),
  badToken: headed(STATUS.badToken, [], "token is invalid"),
};

/**
 * Conversions by bd_vid: fewer than a hundred items (certain), judged one by one, of which the valid ones are accepted
 * (likely). Times are in seconds, money in fen (certain).
 */
function uploadRoute(token: string): Route {
  return {
    methods: ["POST"],
    path: "/ocpcapi/api/uploadConvertData",
    dialect: UPLOAD_DIALECT,
    take(call, desk) {
      const body = jsonBody(call);
      if (optionalText(body, "token") !== token) throw new Refusal("token is invalid", STATUS.badToken);
      const items = listAt(body, "conversionTypes", { max: 99 });
      const errors = items.flatMap((item, index) => {
        const reason = takeItem(item, { call, desk });
        return reason === undefined ? [] : [{ code: 1, message: reason, position: `conversionTypes[${index}]` }];
      });
      if (errors.length === 0) return headed(STATUS.accepted, []);
      return headed(errors.length === items.length ? STATUS.none : STATUS.partly, errors);
    },
  };
}

/** Takes one item; returns why it was refused. */
function takeItem(item: unknown, { call, desk }: { call: Call; desk: Desk }): string | undefined {
  try {
    if (!isFields(item)) throw new Refusal("an item is not an object");
    desk.accept(call, readItem(item, { call, desk }));
    return undefined;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    desk.refuse(call, error.message);
    return error.message;
  }
}

function readItem(item: Fields, { call, desk }: { call: Call; desk: Desk }): NewConversion {
  const key = bdVidOf(textAt(item, "logidUrl"));
  if (!desk.isKey(key)) throw new Refusal("logidUrl has no bd_vid");
  const newType = wholeAt(item, "newType");
  if (!NEW_TYPES.has(newType)) throw new Refusal(`newType ${newType} is unknown`);
  const isTimed = item.convertTime !== undefined || newType === CART;
  const atMs = isTimed ? secondsAt(item, "convertTime") * 1000 : call.nowMs;
  const cents = optionalWhole(item, "convertValue");
  optionalWhole(item, "isConvert", { max: 1 });
  optionalWhole(item, "confidence", { max: 100 });
  optionalWhole(item, "deviceType", { max: 2 });
  optionalText(item, "deviceId");
  optionalWhole(item, "attributeSource", { max: 2 });
  optionalWhole(item, "interactionsType", { min: 1, max: 6 });
  const dedupeId = optionalText(item, "outerEventId");
  if (Buffer.byteLength(dedupeId) > 255) throw new Refusal("outerEventId has more than 255 bytes");
  const outerType = optionalText(item, "outerEventType");
  if (outerType !== "" && !OUTER_EVENT_TYPES.has(outerType))
    throw new Refusal(`outerEventType ${outerType} is unknown`);
  const sameBy = outerType === "quality_points_add" ? "" : dedupeId;
  return { key, code: String(newType), dedupeId, orderId: "", cents, atMs, sameBy };
}

function bdVidOf(logidUrl: string): string {
  if (logidUrl.length > 1024) throw new Refusal("logidUrl has more than 1024 characters");
  if (!URL.canParse(logidUrl)) throw new Refusal("logidUrl is not a URL");
  return new URL(logidUrl).searchParams.get("bd_vid") ?? "";
}

const ACTION_CODE = { sign: 100, extInfo: 101, typeOrValue: 102, joinType: 105, time: 110 };

function actionAnswer(code: number, message: string): Answer {
  return answer({ error_code: code, error_msg: message });
}

/** Apps: the delivered callback with its macros replaced, and a signature over the whole URL (certain), last (likely). */
function actionRoute(akey: string): Route {
  return {
    methods: ["GET"],
    path: "/ocpcapi/cb/actionCb",
    dialect: {
      refusal: ({ message, code = ACTION_CODE.extInfo }) => actionAnswer(code, message),
      busy: actionAnswer(500, "server busy"),
      badToken: actionAnswer(103, "akey is invalid"),
    },
    take(call, desk) {
      assertSign(call, akey);
      const { query } = call;
      const key = query.get("ext_info") ?? "";
      if (!desk.isKey(key)) throw new Refusal("ext_info is invalid", ACTION_CODE.extInfo);
      const code = query.get("a_type") ?? "";
      if (!A_TYPES.has(code)) throw new Refusal(`a_type ${code} is unknown`, ACTION_CODE.typeOrValue);
      const value = digits(query, { name: "a_value", pattern: /^\d{1,12}$/, code: ACTION_CODE.typeOrValue });
      const atMs = query.has("a_time") ? timeOf(query) : call.nowMs;
      if (atMs > call.nowMs) throw new Refusal("a_time is in the future", ACTION_CODE.time);
      // Likely: the document calls it mandatory, lists it in capitals and shows it in small letters.
      const joinType = query.get("join_type") ?? query.get("cb_join_type") ?? "";
      if (!JOIN_TYPES.has(joinType.toLowerCase()))
        throw new Refusal(`join_type ${joinType} is unknown`, ACTION_CODE.joinType);
      assertKeyAction(query);
      // The platform expects 0 where no money is involved.
      desk.accept(call, { key, code, dedupeId: "", orderId: "", cents: value === 0 ? null : value, atMs, sameBy: "" });
      return actionAnswer(0, "success");
    },
  };
}

function assertSign({ target, headers }: Call, akey: string): void {
  const signed = /^(.+)&sign=([0-9a-f]{32})$/.exec(target);
  if (signed === null) throw new Refusal("sign is missing or not last", ACTION_CODE.sign);
  const expected = createHash("md5").update(`http://${headers.host}${signed[1]}${akey}`).digest("hex");
  if (signed[2] !== expected) throw new Refusal("sign does not verify", ACTION_CODE.sign);
}

function timeOf(query: URLSearchParams): number {
  return digits(query, { name: "a_time", pattern: /^[1-9]\d{9}$/, code: ACTION_CODE.time }) * 1000;
}

/** One kind of key action or several, each with its value (likely). */
function assertKeyAction(query: URLSearchParams): void {
  if (!query.has("action_type") && !query.has("action_value")) return;
  const [types = [], values = []] = ["action_type", "action_value"].map((name) => (query.get(name) ?? "").split(","));
  const areWhole = types.every((type) => /^(?:\d|10)$/.test(type)) && values.every((value) => /^\d{1,12}$/.test(value));
  if (!areWhole || types.length !== values.length)
    throw new Refusal("action_type and action_value do not match", ACTION_CODE.typeOrValue);
}

function digits(
  query: URLSearchParams,
  { name, pattern, code }: { name: string; pattern: RegExp; code: number },
): number {
  const text = query.get(name) ?? "";
  if (!pattern.test(text)) throw new Refusal(`${name} is missing or malformed`, code);
  return Number(text);
}
