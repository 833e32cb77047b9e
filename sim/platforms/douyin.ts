import { addDays, calendarOf, isDay } from "../../src/domain/calendar.ts";
import { answer, type Call, jsonBody, optionalWholeParameter, parameter, Refusal, textAt } from "./call.ts";
import { pageOf } from "./costs.ts";
import { type Dialect, type Route, type StandIn, type StandInOptions, startStandIn } from "./stand-in.ts";
import { randomText, Tokens } from "./tokens.ts";

/** An ad that was billed: to whom it was shown, when, and what it earned in hundred-thousandths of a yuan. */
export type AdRecord = { openId: string; atMs: number; cost: number };

export type DouyinOptions = StandInOptions & {
  /** Read for each call, so that a record that is added later is served. */
  records?: AdRecord[];
  appId?: string;
  secret?: string;
  /** The most records per page, whatever size is requested. */
  pageRows?: number;
};

export type DouyinStandIn = StandIn & { tokens: Tokens; appId: string; secret: string };

const CODE = { parameter: 28001007, token: 28001003, secret: 40015, busy: 28003018 };

/** Both interfaces answer with err_no (certain); the token's has err_tips (certain), the other err_msg (likely). */
const TOKEN_DIALECT: Dialect = {
  refusal: ({ message, code = CODE.parameter }) => answer({ err_no: code, err_tips: message, data: {} }),
  busy: answer({ err_no: -1, err_tips: "system error", data: {} }),
  badToken: answer({ err_no: CODE.secret, err_tips: "bad secret", data: {} }),
};
const RECORD_DIALECT: Dialect = {
  refusal: ({ message, code = CODE.parameter }) => answer({ err_no: code, err_msg: message, log_id: "sim" }),
  busy: answer({ err_no: CODE.busy, err_msg: "the request rate is too high", log_id: "sim" }),
  badToken: answer({ err_no: CODE.token, err_msg: "access_token is invalid", log_id: "sim" }),
};

/** Likely: the twin of this interface for mini-programs tells the last three days. */
const REACH_DAYS = 3;
const SHANGHAI = calendarOf("Asia/Shanghai");

/** A mini-game that shows Douyin's ads. A new token ends the earlier one only after a while (likely). */
export async function startDouyin(options: DouyinOptions = {}): Promise<DouyinStandIn> {
  const { clock, appId = "tt0123456789abcdef", secret = randomText(), records = [], pageRows = 500 } = options;
  const tokens = new Tokens({ clock, accessSeconds: 7_200, refreshToken: "kept" });
  const routes: Route[] = [
    {
      methods: ["POST"],
      path: "/mgplatform/api/apps/v2/token",
      dialect: TOKEN_DIALECT,
      take: (call) => newToken(call, { tokens, appId, secret }),
    },
    {
      methods: ["GET"],
      path: "/mgplatform/api/apps/data/get_ecpm",
      dialect: RECORD_DIALECT,
      take: (call) => recordsOf(call, { tokens, appId, records, pageRows }),
    },
  ];
  const standIn = await startStandIn("douyin", { ...options, routes });
  return Object.assign(standIn, { tokens, appId, secret });
}

function newToken(call: Call, { tokens, appId, secret }: Pick<DouyinStandIn, "tokens" | "appId" | "secret">) {
  const body = jsonBody(call);
  if (textAt(body, "grant_type") !== "client_credential")
    throw new Refusal("grant_type is not client_credential", 40020);
  if (textAt(body, "appid") !== appId) throw new Refusal("bad appid", 40014);
  if (textAt(body, "secret") !== secret) throw new Refusal("bad secret", CODE.secret);
  if (tokens.accessExpiresAtMs <= call.nowMs) tokens.renew();
  const expires_in = Math.floor((tokens.accessExpiresAtMs - call.nowMs) / 1000);
  return answer({ err_no: 0, err_tips: "success", data: { access_token: tokens.accessToken, expires_in } });
}

type Book = { tokens: Tokens; appId: string; records: readonly AdRecord[]; pageRows: number };

/** All players when `open_id` is empty; then the page must be named (both certain). */
function recordsOf(call: Call, { tokens, appId, records, pageRows }: Book) {
  const { query } = call;
  tokens.assert(query.get("access_token") ?? undefined, { unknown: CODE.token, expired: CODE.token });
  if (parameter(query, "mp_id") !== appId) throw new Refusal("mp_id is not this token's mini-game");
  const [day = "", hour] = parameter(query, "date_hour").split(" ");
  if (!isDay(day) || (hour !== undefined && !/^([01]\d|2[0-3])$/.test(hour)))
    throw new Refusal("date_hour is neither YYYY-MM-DD nor YYYY-MM-DD HH");
  if (day < addDays(SHANGHAI.dayOf(call.nowMs), 1 - REACH_DAYS)) throw new Refusal("date_hour is too long ago");
  const openId = query.get("open_id");
  if (openId === null) throw new Refusal("open_id is missing");
  const page = optionalWholeParameter(query, "page_no", { min: 1 });
  const pageSize = optionalWholeParameter(query, "page_size", { min: 1, max: 500 });
  if ((openId === "" || hour === undefined) && (page === undefined || pageSize === undefined))
    throw new Refusal("page_no and page_size are required without an open_id or an hour");
  const told = records
    .filter((record) => openId === "" || record.openId === openId)
    .map((record) => ({ ...record, time: timeText(record.atMs) }))
    .filter(({ time }) => time.startsWith(parameter(query, "date_hour")));
  const { items } = pageOf(told, { page: page ?? 1, pageSize: pageSize ?? 500, pageRows });
  const shown = items.map(({ openId: open_id, cost, time }) => ({
    aid: "1128",
    cost,
    event_name: "union_ad_show",
    event_time: time,
    open_id,
  }));
  return answer({ err_no: 0, err_msg: "", log_id: "sim", data: { records: shown } });
}

/** Times are in Shanghai's zone (likely), which has no summer time. */
function timeText(atMs: number): string {
  return new Date(atMs + 8 * 3_600_000).toISOString().slice(0, 19).replace("T", " ");
}
