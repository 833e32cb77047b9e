import { answer, type Call, jsonBody, memberOf, parameter, Refusal, textAt } from "./call.ts";
import { assertDays, CostBook, type CostOptions, type CostRow, pageAsked, sumBy } from "./costs.ts";
import { type Dialect, type Route, type StandIn, type StandInOptions, startStandIn } from "./stand-in.ts";
import { randomText, Tokens } from "./tokens.ts";

/** What ad units earned, as rows of costs: the ad is the unit, and its cost what it earned. */
export type WechatOptions = StandInOptions & CostOptions & { appId?: string; secret?: string };

export type WechatStandIn = StandIn & { tokens: Tokens; appId: string; secret: string };

const CODE = { token: 40001, expired: 42001, appId: 40013, secret: 40125, busy: -1, parameter: 45010, publisher: 2009 };

/** The token's interface answers with errcode (certain), publisher data with base_resp (certain). */
const TOKEN_DIALECT: Dialect = {
  refusal: ({ message, code = CODE.parameter }) => answer({ errcode: code, errmsg: message }),
  busy: answer({ errcode: CODE.busy, errmsg: "system error" }),
  badToken: answer({ errcode: CODE.secret, errmsg: "invalid appsecret" }),
};
const STAT_DIALECT: Dialect = {
  refusal: ({ message, code = CODE.parameter }) =>
    code === CODE.token || code === CODE.expired
      ? answer({ errcode: code, errmsg: message })
      : answer({ base_resp: { ret: code, err_msg: message } }),
  busy: answer({ base_resp: { ret: 45009, err_msg: "reach max api daily quota limit" } }),
  badToken: answer({ errcode: CODE.token, errmsg: "invalid credential, access_token is invalid or not latest" }),
};

const ACTIONS: ReadonlySet<string> = new Set(["publisher_adunit_general", "publisher_adpos_general"]);

/** A mini-game that shows WeChat's ads. Asking for the stable token gives the one that is valid (certain). */
export async function startWechat(options: WechatOptions = {}): Promise<WechatStandIn> {
  const { clock, appId = "wx0123456789abcdef", secret = randomText() } = options;
  const tokens = new Tokens({ clock, accessSeconds: 7_200, refreshToken: "kept" });
  const book = new CostBook({ ...options, accounts: [appId] });
  const routes: Route[] = [
    {
      methods: ["POST"],
      path: "/cgi-bin/stable_token",
      dialect: TOKEN_DIALECT,
      take: (call) => stableToken(call, { tokens, appId, secret }),
    },
    {
      methods: ["GET"],
      path: "/publisher/stat",
      dialect: STAT_DIALECT,
      take: (call) => unitsOf(call, { tokens, appId, book }),
    },
  ];
  const standIn = await startStandIn("wechat", { ...options, routes });
  return Object.assign(standIn, { tokens, appId, secret });
}

function stableToken(call: Call, { tokens, appId, secret }: Pick<WechatStandIn, "tokens" | "appId" | "secret">) {
  const body = jsonBody(call);
  if (textAt(body, "grant_type") !== "client_credential") throw new Refusal("invalid grant_type", 40002);
  if (textAt(body, "appid") !== appId) throw new Refusal("invalid appid", CODE.appId);
  if (textAt(body, "secret") !== secret) throw new Refusal("invalid appsecret", CODE.secret);
  if (tokens.accessExpiresAtMs <= call.nowMs) tokens.renew();
  const expires_in = Math.floor((tokens.accessExpiresAtMs - call.nowMs) / 1000);
  return answer({ access_token: tokens.accessToken, expires_in });
}

/** Pages of at most 90 rows, days of at most 90, money in whole fen (all certain). */
function unitsOf(call: Call, { tokens, appId, book }: { tokens: Tokens; appId: string; book: CostBook }) {
  const { query } = call;
  tokens.assert(query.get("access_token") ?? undefined, { unknown: CODE.token, expired: CODE.expired });
  const action = memberOf(ACTIONS, { name: "action", value: parameter(query, "action") });
  const firstDay = parameter(query, "start_date");
  const days = assertDays({ firstDay, lastDay: parameter(query, "end_date"), daysMax: 90 });
  const isByUnit = action === "publisher_adunit_general";
  const rows = book.between(appId, days);
  // A row without an ad is what the mini-game earned beyond its units.
  const served = isByUnit ? rows.filter(({ adId }) => adId !== "") : sumBy(rows, ({ day }) => day);
  const { items, total } = pageAsked(query, { items: served, sizeMax: 90, pageRows: book.pageRows });
  const list = items.map((row) =>
    isByUnit ? { ad_unit_id: row.adId, ad_unit_name: row.adName, stat_item: statOf(row) } : statOf(row),
  );
  return answer({ base_resp: { err_msg: "ok", ret: 0 }, list, total_num: total });
}

function statOf({ day, impressions, clicks, cents }: CostRow): object {
  return {
    ad_slot: "SLOT_ID_WEAPP_REWARD_VIDEO",
    slot_id: 30_300,
    date: day,
    req_succ_count: impressions * 2,
    exposure_count: impressions,
    exposure_rate: 0.5,
    click_count: clicks,
    click_rate: impressions === 0 ? 0 : clicks / impressions,
    income: cents,
    ecpm: impressions === 0 ? 0 : (cents * 1000) / impressions,
  };
}
