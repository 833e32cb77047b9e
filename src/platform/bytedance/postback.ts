import type { JsonObject } from "../../domain/json.ts";
import { callbackToken } from "../connector/callback.ts";
import { CODES_FIELD, type Code, codeOf } from "../connector/codes.ts";
import type {
  AccountField,
  AccountSettings,
  CallContext,
  Conversion,
  HttpReply,
  PostbackConnector,
  Prepared,
  ReplyVerdict,
} from "../connector/connector.ts";
import { deviceIdsOf, osOf } from "../connector/device-ids.ts";
import { known, secondsOf, skip } from "../connector/prepared.ts";
import { get, jsonPost, withQuery } from "../connector/request.ts";
import { answerBy, type Kinds, verdictOf } from "../connector/verdict.ts";
import { fieldsOf } from "../platform.ts";
import { byClueGateway, CLUE_FIELDS, hasClueGateway, readClueReply } from "./clue.ts";
import { BYTEDANCE_CODES, BYTEDANCE_V1_CODES } from "./codes.ts";

const FIELDS: readonly AccountField[] = [
  {
    name: "route",
    hint: "auto, v2 (the event manager), v1 (track/activate), or clue (WeChat mini-games).",
    fallback: "auto",
  },
  { name: "url", hint: "Address for v2.", fallback: "https://analytics.oceanengine.com/api/v2/conversion" },
  { name: "v1_url", hint: "Address for v1.", fallback: "https://ad.oceanengine.com/track/activate/" },
  ...CLUE_FIELDS,
  CODES_FIELD,
  { ...CODES_FIELD, name: "codes_v1", hint: 'As codes, for v1 and clue: {"login":"21"}.' },
];

export const bytedancePostback: PostbackConnector = { fields: FIELDS, prepare, read };

function prepare(conversion: Conversion, context: CallContext): Prepared {
  const route = routeOf(conversion, context);
  if (!["v2", "v1", "clue"].includes(route)) return skip("The account's `route` must be auto, v2, v1 or clue.");
  const { account } = context;
  const code =
    route === "v2" ? v2CodeOf(conversion, account) : codeOf(conversion, BYTEDANCE_V1_CODES, account("codes_v1"));
  if (code.kind === "skip") return code;
  if (route === "clue") return byClueGateway(conversion, context, code.code);
  const callback = callbackOf(conversion);
  if (callback === "") return skip("The touch brought no callback.");
  const request = { conversion, code: code.code, callback, url: account(route === "v2" ? "url" : "v1_url") };
  return { kind: "request", dedupes: true, request: route === "v2" ? v2Request(request) : v1Request(request) };
}

function routeOf(conversion: Conversion, { account }: CallContext): string {
  if (account("route") !== "auto") return account("route");
  return hasClueGateway(conversion, account) ? "clue" : "v2";
}

/** The revenue of one ad in a mini-game (certain); its amount under the name of other amounts, in fen, is likely. */
const MINI_GAME_AD = "micro_game_ltv";

function v2CodeOf(conversion: Conversion, account: AccountSettings): Code {
  const isMiniGame = fieldsOf(conversion.adData)("clickid") !== "";
  const codes = isMiniGame ? { ...BYTEDANCE_CODES, ad_quality: MINI_GAME_AD } : BYTEDANCE_CODES;
  const code = codeOf(conversion, codes, account("codes"));
  return code.kind === "code" && code.code === MINI_GAME_AD && conversion.moment !== "each_ad"
    ? skip("Ocean Engine takes a mini-game's ad revenue one ad at a time: the rule's moment must be each_ad.")
    : code;
}

/**
 * A mini-game in the platform's own apps is opened with a `clickid`, which is its callback, even if a link was called.
 */
function callbackOf({ adData }: Conversion): string {
  const field = fieldsOf(adData);
  return field("clickid") || callbackToken(field("callback")) || field("click_id");
}

type Call = { conversion: Conversion; code: string; callback: string; url: string };

const MATCH_TYPES = { click: 0, impression: 1 } as const;

function v2Request({ conversion, code, callback, url }: Call) {
  const { atMs, cents, orderId, dedupeId, touchKind } = conversion;
  const ids = deviceIdsOf(conversion);
  const os = osOf(conversion);
  const device = known({
    platform: os === "android" || os === "ios" ? os : "",
    imei: ids.imeiMd5,
    idfa: ids.idfa,
    oaid: ids.oaid,
    android_id_md5: ids.androidIdMd5,
  });
  const properties: JsonObject = known({ pay_amount: cents ?? "", order_id: orderId });
  return jsonPost(url, {
    event_type: code,
    timestamp: atMs,
    outer_event_id: dedupeId,
    context: {
      ad: { callback, match_type: MATCH_TYPES[touchKind] },
      ...(Object.keys(device).length > 0 && { device }),
    },
    ...(Object.keys(properties).length > 0 && { properties }),
  });
}

/** HarmonyOS as in the links (likely). */
const OS_NUMBERS = { android: 0, ios: 1, harmony: 2, unknown: "" } as const;

function v1Request({ conversion, code, callback, url }: Call) {
  const { atMs, cents, touchKind } = conversion;
  const ids = deviceIdsOf(conversion);
  return get(
    withQuery(url, {
      callback,
      event_type: code,
      conv_time: secondsOf(atMs),
      os: OS_NUMBERS[osOf(conversion)],
      imei: ids.imeiMd5,
      idfa: ids.idfa,
      oaid: ids.oaid,
      oaid_md5: ids.oaidMd5,
      match_type: MATCH_TYPES[touchKind],
      props: cents === null ? "" : JSON.stringify({ pay_amount: cents }),
    }),
  );
}

/** The meaning of 128 is not documented; the platform's own library does not treat it as an error. */
const KINDS: Kinds = { "0": "accepted", "128": "accepted" };

function read(reply: HttpReply): ReplyVerdict {
  return verdictOf(reply, (body) => {
    if (body.code === undefined && body.ret === undefined) return readClueReply(body);
    return answerBy({ code: body.code ?? body.ret, text: body.message ?? body.msg }, KINDS);
  });
}
