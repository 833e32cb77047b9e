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
  ...["PAY_ONETIME", "SUBMIT"],
  ...["WECHATGAME_REGISTER", "WECHATGAME_PAY", "LT_ROI", "PURCHASE_ROI", "GAME_FIGHT_TIMES", "REACTIVATION", "OTHER"],
]);
const ID_TYPES: ReadonlySet<string> = new Set(["OAID_MD5", "OAID", "IMEI_MD5", "IMEI", "OPENID", "OTHER"]);
const SOURCE_KINDS: ReadonlySet<string> = new Set(["app", "web", "quickapp", "offline"]);
/** Certain. */
const ITEMS_MAX = 100;
/** Certain: the code of wrong parameters, from a recorded answer. The other two are unseen. */
const CODE = { parameter: 70100, unknown: 10002, expired: 10003 };

const DIALECT: Dialect = {
  refusal: ({ message, code = CODE.parameter }) => answer({ code, message }),
  busy: answer({ code: 500, message: "system busy" }),
  badToken: answer({ code: CODE.unknown, message: "access_token is invalid" }),
};

export async function startVivo(options: VivoOptions = {}): Promise<VivoStandIn> {
  const { clock, srcId = "ds-202600001" } = options;
  const client = clientOf(options);
  const tokens = new Tokens({ clock, accessSeconds: 86_400, refreshSeconds: 365 * 86_400, refreshToken: "replaced" });
  const routes = [
    uploadRoute("v1", { tokens, srcId }),
    uploadRoute("v2", { tokens, srcId }),
    refreshRoute(tokens, client),
  ];
  const standIn = await startStandIn("vivo", { ...options, routes });
  return Object.assign(standIn, { ...client, tokens, srcId });
}

type Version = "v1" | "v2";

function uploadRoute(version: Version, { tokens, srcId }: { tokens: Tokens; srcId: string }): Route {
  return {
    methods: ["POST"],
    path: `/openapi/${version}/advertiser/behavior/upload`,
    dialect: DIALECT,
    take(call, desk) {
      tokens.assert(call.query.get("access_token") ?? undefined, CODE);
      millisParameter(call.query, "timestamp");
      parameter(call.query, "nonce");
      const body = jsonBody(call);
      const source = sourceOf(body, version);
      if (textAt(body, "srcId") !== srcId) throw new Refusal("srcId is unknown");
      const conversions = listAt(body, "dataList", { max: ITEMS_MAX }).map((item) => readItem(item, source));
      for (const { key } of conversions) if (!desk.isKey(key)) throw new Refusal("requestId is invalid");
      for (const conversion of conversions) desk.accept(call, conversion);
      return answer({ code: 0, message: "success" });
    },
  };
}

/** What the items of a call need by the kind of their source. */
type Source = { needsUser: boolean; needsClick: boolean };

function sourceOf(body: Fields, version: Version): Source {
  // Certain: the kind in any case; an app has a package, a page an address.
  const kind = memberOf(SOURCE_KINDS, { name: "srcType", value: textAt(body, "srcType").toLowerCase() });
  if (kind === "app" || kind === "quickapp") textAt(body, "pkgName");
  if (kind === "web") textAt(body, "pageUrl");
  const from = optionalText(body, "dataFrom") || "1";
  const accuracy = optionalText(body, "dataFor") || "0";
  // Likely: an event of vivo's own, matched exactly, names its click.
  const needsClick = version === "v2" && from === "1" && accuracy === "0";
  return { needsUser: kind === "app", needsClick };
}

function readItem(item: unknown, { needsUser, needsClick }: Source): NewConversion {
  if (!isFields(item)) throw new Refusal("an item of dataList is not an object");
  const userId = needsUser || item.userIdType !== undefined ? userIdOf(item) : "";
  const code = memberOf(CV_TYPES, { name: "cvType", value: textAt(item, "cvType") });
  const atMs = millisAt(item, "cvTime");
  const clickId = needsClick ? textAt(item, "clickId") : optionalText(item, "clickId");
  const requestId = optionalText(item, "requestId");
  optionalText(item, "creativeId");
  // Likely: a text, in fen.
  const amount = optionalText(optionalObject(item, "extParam"), "payAmount", /^\d{1,15}$/);
  const cents = amount === "" ? null : Number(amount);
  return { key: clickId || requestId || userId, code, dedupeId: "", orderId: "", cents, atMs, sameBy: "" };
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
