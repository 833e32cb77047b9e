import {
  answer,
  type Fields,
  isFields,
  jsonBody,
  listAt,
  MD5_HEX,
  memberOf,
  millisAt,
  millisParameter,
  optionalObject,
  optionalText,
  parameter,
  Refusal,
  textAt,
} from "./call.ts";
import {
  type Dialect,
  type NewConversion,
  type Route,
  type StandIn,
  type StandInOptions,
  startStandIn,
} from "./stand-in.ts";
import { assertClient, clientOf, type OAuthClient, Tokens } from "./tokens.ts";

export type VivoOptions = StandInOptions & Partial<OAuthClient> & { srcId?: string };
export type VivoStandIn = StandIn & OAuthClient & { tokens: Tokens; srcId: string };

const CV_TYPES: ReadonlySet<string> = new Set([
  ...["ACTIVATION", "REGISTER", "PAY", "RETENTION_1", "RETENTION_2", "RETENTION_3", "RETENTION_4", "RETENTION_5"],
  ...["RETENTION_6", "RETENTION_7", "RETENTION_14", "RETENTION_30", "FIRST_PAY", "LOGIN", "IN_APP_ORDER"],
  ...["WECHATGAME_REGISTER", "WECHATGAME_PAY", "LT_ROI", "PURCHASE_ROI", "GAME_FIGHT_TIMES", "REACTIVATION", "OTHER"],
]);
const ID_TYPES: ReadonlySet<string> = new Set(["OAID_MD5", "OAID", "IMEI_MD5", "IMEI", "OPENID", "OTHER"]);
const ITEMS_MAX = 100;
const CODE = { parameter: 10000, unknown: 10002, expired: 10003 };

const DIALECT: Dialect = {
  refusal: ({ message, code = CODE.parameter }) => answer({ code, message }),
  busy: answer({ code: 500, message: "system busy" }),
  badToken: answer({ code: CODE.unknown, message: "access_token is invalid" }),
};

export async function startVivo(options: VivoOptions = {}): Promise<VivoStandIn> {
  const { clock, srcId = "ds-202600001" } = options;
  const client = clientOf(options);
  const tokens = new Tokens({ clock, accessSeconds: 86_400, refreshSeconds: 365 * 86_400, refreshToken: "replaced" });
  const routes = [uploadRoute({ tokens, srcId }), refreshRoute(tokens, client)];
  const standIn = await startStandIn("vivo", { ...options, routes });
  return Object.assign(standIn, { ...client, tokens, srcId });
}

function uploadRoute({ tokens, srcId }: { tokens: Tokens; srcId: string }): Route {
  return {
    methods: ["POST"],
    path: "/openapi/v1/advertiser/behavior/upload",
    dialect: DIALECT,
    take(call, desk) {
      tokens.assert(call.query.get("access_token") ?? undefined, CODE);
      millisParameter(call.query, "timestamp");
      parameter(call.query, "nonce");
      const body = jsonBody(call);
      if (textAt(body, "srcType") === "APP") textAt(body, "pkgName");
      if (textAt(body, "srcId") !== srcId) throw new Refusal("srcId is unknown");
      const conversions = listAt(body, "dataList", { max: ITEMS_MAX }).map(readItem);
      for (const { key } of conversions) if (!desk.isKey(key)) throw new Refusal("requestId is invalid");
      for (const conversion of conversions) desk.accept(call, conversion);
      return answer({ code: 0, message: "success" });
    },
  };
}

function readItem(item: unknown): NewConversion {
  if (!isFields(item)) throw new Refusal("an item of dataList is not an object");
  const userId = userIdOf(item);
  const code = memberOf(CV_TYPES, { name: "cvType", value: textAt(item, "cvType") });
  const atMs = millisAt(item, "cvTime");
  const requestId = optionalText(item, "requestId");
  optionalText(item, "creativeId");
  // The unit is the account's choice; the tests use fen.
  const amount = optionalText(optionalObject(item, "extParam"), "payAmount", /^\d{1,15}$/);
  const cents = amount === "" ? null : Number(amount);
  return { key: requestId || userId, code, dedupeId: "", orderId: "", cents, atMs, sameBy: "" };
}

function userIdOf(item: Fields): string {
  const type = memberOf(ID_TYPES, { name: "userIdType", value: textAt(item, "userIdType") });
  const userId = textAt(item, "userId");
  if (type.endsWith("_MD5") && !MD5_HEX.test(userId)) throw new Refusal("userId is not an md5 in lower hex");
  return userId;
}

function refreshRoute(tokens: Tokens, client: OAuthClient): Route {
  return {
    methods: ["GET"],
    path: "/openapi/v1/oauth2/refreshToken",
    dialect: DIALECT,
    take({ query }) {
      assertClient(query, client);
      tokens.refresh(parameter(query, "refresh_token"), CODE);
      return answer({
        code: 0,
        message: "success",
        data: {
          access_token: tokens.accessToken,
          refresh_token: tokens.refreshToken,
          token_date: tokens.accessExpiresAtMs,
          refresh_token_date: tokens.refreshExpiresAtMs,
        },
      });
    },
  };
}
