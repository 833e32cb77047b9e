import type { AuthoriseOptions } from "./authorise-page.ts";
import { type Answer, answer, type Call, parameter, Refusal } from "./call.ts";
import { CostBook, type CostOptions } from "./costs.ts";
import { type Desk, type Dialect, type Route, type StandIn, type StandInOptions, startStandIn } from "./stand-in.ts";
import { acceptActions, type Origin, readActions } from "./tencent-actions.ts";
import { type TencentAuthorisation, tencentAuthorisation } from "./tencent-authorise.ts";
import { type Gate, tencentCostRoutes } from "./tencent-costs.ts";
import { assertClient, clientOf, Nonces, type OAuthClient, randomText, Tokens } from "./tokens.ts";

export type TencentOptions = StandInOptions &
  Partial<OAuthClient> &
  CostOptions &
  AuthoriseOptions & {
    /** Whether delivered callbacks need a token, as all do since the console's switch for this was retired. */
    callbacks?: "authenticated" | "open";
    dataSourceKey?: string;
    /** Calls per minute for each reading interface. */
    readsPerMinute?: number;
  };

export type TencentStandIn = StandIn &
  OAuthClient & {
    tokens: Tokens;
    /** The key of a data source: it never expires, reports conversions, and may not read reports. */
    dataSourceKey: string;
    /** The WeChat app's token: the app's own server renews and reports it. */
    wechatTokens: Tokens;
    /** The decoded value of `__CALLBACK__`. */
    callbackUrl(cb: string): string;
  };

const CODE = {
  expired: 11000,
  permission: 11003,
  unknown: 11004,
  busy: 10000,
  parameter: 18001,
  badCallback: 20001,
  badConvId: 20002,
};

const DIALECT: Dialect = {
  refusal: ({ message, code = CODE.parameter }) => refused(code, message),
  busy: refused(CODE.busy, "system busy"),
  badToken: refused(CODE.unknown, "access_token is invalid"),
};

function refused(code: number, message: string): Answer {
  return answer({ code, message, message_cn: message, errors: [] });
}

const WECHAT_DIALECT: Dialect = {
  refusal: ({ message, code = 900351000 }) => answer({ errcode: code, errmsg: message }),
  busy: answer({ errcode: -1, errmsg: "system error" }),
  badToken: answer({ errcode: 40001, errmsg: "invalid credential, access_token is invalid or not latest" }),
};

export async function startTencent(options: TencentOptions = {}): Promise<TencentStandIn> {
  const { clock, callbacks = "authenticated", dataSourceKey = randomText() } = options;
  const client = clientOf(options);
  const tokens = new Tokens({ clock, accessSeconds: 86_400, refreshToken: "kept" });
  const wechatTokens = new Tokens({ clock, accessSeconds: 7200, refreshToken: "kept" });
  const gates = gatesOf(tokens, dataSourceKey);
  const book = new CostBook(options);
  const authorisation = tencentAuthorisation({
    ...options,
    book,
    client,
    tokens,
    dialect: DIALECT,
    gate: gates.ofReports,
  });
  const routes: Route[] = [
    callbackRoute("/conv", callbacks === "authenticated" ? gates.ofCallbacks : () => {}),
    userActionsRoute(gates),
    wechatRoute(wechatTokens),
    tokenRoute({ tokens, client, authorisation }),
    ...authorisation.routes,
    ...tencentCostRoutes(book, {
      dialect: DIALECT,
      gate: gates.ofReports,
      perMinute: options.readsPerMinute ?? 1000,
    }),
  ];
  const standIn = await startStandIn("tencent", { ...options, routes });
  const callbackUrl = (cb: string) => `${standIn.url}/conv?cb=${encodeURIComponent(cb)}&conv_id=1001`;
  return Object.assign(standIn, { ...client, tokens, dataSourceKey, wechatTokens, callbackUrl });
}

type Gates = { ofCallbacks: Gate; ofActions: Gate; ofReports: Gate };

/** Reads a header or a query parameter of a call. */
type Reader = (name: string) => string | undefined;

/**
 * The same three values everywhere, but under the name of the token that the interface's own page shows: a delivered
 * callback has `access-token` (certain), actions sent without one have `access_token` in the headers (certain) or in
 * the query, reports have it in the query alone.
 */
function gatesOf(tokens: Tokens, dataSourceKey: string): Gates {
  const nonces = new Nonces();
  const assert = (call: Call, at: Reader, token: { name: string; key: "taken" | "refused" }) => {
    const sent = at(token.name);
    if (sent !== dataSourceKey) tokens.assert(sent, { expired: CODE.expired, unknown: CODE.unknown });
    // Certain: a data source's key has no right to read reports; likely: the code.
    else if (token.key === "refused") throw new Refusal("the key may not read reports", CODE.permission);
    const timestamp = at("timestamp") ?? "";
    if (!/^\d{10}$/.test(timestamp)) throw new Refusal("timestamp is not in seconds");
    if (Math.abs(Number(timestamp) * 1000 - call.nowMs) > 300_000)
      throw new Refusal("timestamp is more than 300 s off");
    nonces.assert(at("nonce"));
  };
  return {
    ofCallbacks: (call) => assert(call, headersOf(call), { name: "access-token", key: "taken" }),
    ofActions: (call) => {
      const at = call.query.has("access_token") ? queryOf(call) : headersOf(call);
      assert(call, at, { name: "access_token", key: "taken" });
    },
    ofReports: (call) => assert(call, queryOf(call), { name: "access_token", key: "refused" }),
  };
}

function headersOf({ headers }: Call): Reader {
  return (name) => headers[name] as string | undefined;
}

function queryOf({ query }: Call): Reader {
  return (name) => query.get(name) ?? undefined;
}

function callbackRoute(path: string, gate: Gate): Route {
  return {
    methods: ["POST"],
    path,
    dialect: DIALECT,
    take(call, desk) {
      gate(call);
      const origin = callbackOrigin(call);
      if (!desk.isKey(origin.cb)) throw new Refusal("CB_CONTENT_ERROR", CODE.badCallback);
      return accept(call, { desk, origin });
    },
  };
}

function callbackOrigin(call: Call): Origin & { kind: "callback" } {
  const source = call.query.get("conv_id") ?? call.query.get("link_id") ?? "";
  if (!/^\d+$/.test(source)) throw new Refusal("CONV_ID_ILLEGAL", CODE.badConvId);
  return { kind: "callback", cb: call.query.get("cb") ?? "", source };
}

/** One path for three routes: a delivered callback, a click id in the action, or a data source of the account. */
function userActionsRoute({ ofCallbacks, ofActions }: Gates): Route {
  const callback = callbackRoute("", ofCallbacks);
  return {
    methods: ["POST"],
    path: "/v3.0/user_actions/add",
    dialect: DIALECT,
    take(call, desk) {
      if (call.query.has("cb")) return callback.take(call, desk);
      ofActions(call);
      const origin: Origin = { kind: "direct" };
      return accept(call, { desk, origin });
    },
  };
}

function wechatRoute(tokens: Tokens): Route {
  return {
    methods: ["POST"],
    path: "/marketing/user_actions/add",
    dialect: WECHAT_DIALECT,
    take(call, desk) {
      if (call.query.get("version") !== "v1.0") throw new Refusal("version is not v1.0");
      tokens.assert(call.query.get("access_token") ?? undefined, { expired: 42001, unknown: 40001 });
      const origin: Origin = { kind: "wechat" };
      return accept(call, { desk, origin });
    },
  };
}

function accept(call: Call, { desk, origin }: { desk: Desk; origin: Origin }): Answer {
  acceptActions(call, { desk, actions: readActions(call, origin) });
  return answer({ code: 0, message: "" });
}

function tokenRoute({
  tokens,
  client,
  authorisation,
}: {
  tokens: Tokens;
  client: OAuthClient;
  authorisation: TencentAuthorisation;
}): Route {
  return {
    methods: ["GET"],
    path: "/oauth/token",
    dialect: DIALECT,
    take(call) {
      const { query, nowMs } = call;
      assertClient(query, client, 11001);
      if (parameter(query, "grant_type") === "authorization_code") return authorisation.exchange(call);
      if (parameter(query, "grant_type") !== "refresh_token") throw new Refusal("grant_type is not served here");
      tokens.refresh(parameter(query, "refresh_token"), { unknown: 11005, expired: 11005 });
      // A refresh returns no new refresh token: the one used stays valid for longer.
      const expiresIn = Math.floor((tokens.accessExpiresAtMs - nowMs) / 1000);
      return answer({
        code: 0,
        message: "",
        data: { access_token: tokens.accessToken, access_token_expires_in: expiresIn },
      });
    },
  };
}
