import {
  type Call,
  type Fields,
  isFields,
  jsonBody,
  listAt,
  MD5_HEX,
  memberOf,
  optionalObject,
  optionalText,
  optionalWhole,
  Refusal,
  secondsAt,
  textAt,
  wholeAt,
} from "./call.ts";
import type { Desk } from "./stand-in.ts";

/** How an action was sent: by a delivered callback, by a click id or data source, or by the WeChat interface. */
export type Origin = { kind: "callback"; cb: string; source: string } | { kind: "direct" } | { kind: "wechat" };

export type Action = {
  /** The data source, within which the caller's id must be unique. */
  source: string;
  key: string;
  type: string;
  outerActionId: string;
  cents: number | null;
  atMs: number;
};

/** Certain: the size of a body, the names of types and of keys, hashes in small letters, times in seconds. */
const BODY_BYTES_MAX = 50 * 1024;
const ACTION_TYPES: ReadonlySet<string> = new Set([
  ...["ACTIVATE_APP", "REGISTER", "PURCHASE", "COMPLETE_ORDER", "START_APP", "ONE_DAY_LEAVE", "CREATE_ROLE", "LOGIN"],
  ...["TUTORIAL_FINISH", "UPDATE_LEVEL", "QUEST", "RE_ACTIVE", "VIEW_CONTENT", "CONFIRM_EFFECTIVE_LEADS"],
  ...["UNSUBSCRIBE_SERVICE", "AD_CLICK", "AD_IMPRESSION", "AD_PURCHASE", "CUSTOM"],
]);
const ATTRIBUTE_KEYS: ReadonlySet<string> = new Set([
  ...["CLICK_ID", "IMEI", "MAC", "OAID", "IDFA", "CAID", "IPV4", "IPV6", "IPV4_UA", "IPV6_UA", "ANDROID_ID"],
  ...["CHANNEL_PACKAGE", "OUTER_USER_ID", "PHONE_NUMBER"],
]);
const HASHES = ["hash_imei", "hash_idfa", "hash_android_id", "hash_oaid"] as const;
/** SHA-256 over the hexadecimal MD5. */
const DOUBLE_HASHES = ["md5_sha256_imei", "md5_sha256_idfa", "md5_sha256_oaid"] as const;
const SHA256_HEX = /^[0-9a-f]{64}$/;
const PLAIN_IDS = ["caid", "wechat_openid", "wechat_unionid"] as const;

/** All actions of a call; throws a refusal of the whole call. */
export function readActions(call: Call, origin: Origin): Action[] {
  if (Buffer.byteLength(call.body) > BODY_BYTES_MAX) throw new Refusal("the body has more than 50 KB");
  const body = jsonBody(call);
  const setId = origin.kind === "direct" ? dataSourceOf(body) : "";
  return listAt(body, "actions", { max: 50 }).map((action) => {
    if (!isFields(action)) throw new Refusal("an action is not an object");
    return readAction(action, { origin, setId });
  });
}

export function acceptActions(call: Call, { desk, actions }: { desk: Desk; actions: readonly Action[] }): void {
  for (const { source, key, type, outerActionId, cents, atMs } of actions) {
    const sameBy = outerActionId === "" ? "" : `${source} ${type} ${outerActionId}`;
    desk.accept(call, { key, code: type, dedupeId: outerActionId, orderId: "", cents, atMs, sameBy });
  }
}

/** The data source, or an empty text if none is named and each action needs its click id. */
function dataSourceOf(body: Fields): string {
  if (body.user_action_set_id === undefined && body.account_id === undefined) return "";
  wholeAt(body, "account_id", { min: 1 });
  return String(wholeAt(body, "user_action_set_id", { min: 1 }));
}

function readAction(action: Fields, { origin, setId }: { origin: Origin; setId: string }): Action {
  const type = memberOf(ACTION_TYPES, { name: "action_type", value: textAt(action, "action_type") });
  if (type === "CUSTOM") textAt(action, "custom_action");
  const atMs = secondsAt(action, "action_time") * 1000;
  const outerActionId = optionalText(action, "outer_action_id", /^[A-Za-z0-9_-]{1,255}$/);
  const attributeKey = optionalText(action, "attribute_key");
  if (attributeKey !== "") memberOf(ATTRIBUTE_KEYS, { name: "attribute_key", value: attributeKey });
  const clickId = optionalText(optionalObject(action, "trace"), "click_id");
  const userId = readUserId(optionalObject(action, "user_id"));
  if (clickId === "" && userId === "") throw new Refusal("neither user_id nor click_id");
  const cents = readActionParam(optionalObject(action, "action_param"));
  const known = { type, outerActionId, cents, atMs };
  switch (origin.kind) {
    case "callback":
      return { ...known, source: origin.source, key: origin.cb };
    case "direct":
      if (setId === "" && clickId === "") throw new Refusal("trace.click_id is missing");
      return { ...known, source: setId, key: clickId || userId };
    case "wechat": {
      if (clickId === "") throw new Refusal("trace.click_id is missing");
      textAt(action, "url");
      return { ...known, source: String(wholeAt(action, "user_action_set_id", { min: 1 })), key: clickId };
    }
  }
}

/** The first id present. */
function readUserId(user: Fields): string {
  const hashes = HASHES.map((name) => optionalText(user, name, MD5_HEX));
  const doubleHashes = DOUBLE_HASHES.map((name) => optionalText(user, name, SHA256_HEX));
  const ids = PLAIN_IDS.map((name) => optionalText(user, name));
  if (ids[0] !== "") wholeAt(user, "caid_version", { min: 20_000_000, max: 99_999_999 });
  if (ids[1] !== "" || ids[2] !== "") textAt(user, "wechat_app_id");
  return [...hashes, ...doubleHashes, ...ids].find((id) => id !== "") ?? "";
}

/** Money in fen (certain). `arpu` goes with AD_PURCHASE (likely), its unit unseen. */
function readActionParam(param: Fields): number | null {
  if (param.arpu !== undefined && typeof param.arpu !== "number") throw new Refusal("arpu is not a number");
  optionalWhole(param, "claim_type", { max: 7 });
  optionalWhole(param, "length_of_stay", { min: 1, max: 7 });
  return optionalWhole(param, "value");
}
