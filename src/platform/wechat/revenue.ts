import type { CallContext, HttpRequest } from "../connector/connector.ts";
import type { CostConnector, CostPage, CostQuestion } from "../connector/cost-connector.ts";
import { publisherFields, secretTokenRequest } from "../connector/publisher.ts";
import { subjectOf } from "../connector/question.ts";
import { answerOf, countOf, type Envelope, objectOf, objectsOf, textOf } from "../connector/reply.ts";
import { costsOf } from "../connector/report-row.ts";
import { get, withQuery } from "../connector/request.ts";
import { tokenAnswerOf } from "../connector/token.ts";

/** Certain: at most 90 rows per page. */
const PAGE_ROWS = 90;

/** Both certain: what units earned, and what the mini-game earned by kinds of ads. */
const ACTIONS: Readonly<Record<string, string>> = {
  report: "publisher_adunit_general",
  totals: "publisher_adpos_general",
};

/**
 * What the ads of a mini-game earned, by ad unit and day (流量主). The account is the mini-game, by its WeChat app id.
 * Certain: the parameters, the pages, `ad_unit_id`, `stat_item` and `income`, and that money is in fen. Likely: that units
 * add up to the kinds of ads. What comes here are WeChat's estimates, which it settles twice a month.
 */
export const wechatRevenue: CostConnector = {
  platform: "WeChat",
  brings: "unit_revenue",
  fields: publisherFields({ hint: "Address of WeChat's API", fallback: "https://api.weixin.qq.com" }),
  // Certain: a question covers 90 days, and data reach back to 2016.
  spans: [{ reachDays: Number.POSITIVE_INFINITY, daysMax: 90 }],
  start: ({ fromDay, toDay }) =>
    Object.keys(ACTIONS).map((list): CostQuestion => ({ list, from: fromDay, to: toDay, page: 1 })),
  subjectOf,
  request,
  read,
  tokens: {
    // The stable token: asking for it does not end the tokens that the game's own servers use.
    request: secretTokenRequest("/cgi-bin/stable_token"),
    read: (reply, nowMs) =>
      tokenAnswerOf(reply, {
        envelope: ENVELOPE,
        nowMs,
        read: (body) => ({ accessToken: body.access_token, refreshToken: undefined, expiresInS: body.expires_in }),
      }),
  },
};

/** The token's codes are those of all WeChat interfaces; 45009 says that a quota is used up. */
const TOKEN_CODES: ReadonlySet<string> = new Set(["40001", "40014", "41001", "42001"]);
const PASSING_CODES: ReadonlySet<string> = new Set(["-1", "45009", "45011"]);

const ENVELOPE: Envelope = {
  platform: "WeChat",
  outcome: (body) => {
    const [{ ret, err_msg }, code] = [objectOf(body.base_resp), textOf(body.errcode)];
    if (code !== "" && code !== "0") return { code, message: textOf(body.errmsg) };
    if (textOf(ret) !== "" && textOf(ret) !== "0") return { code: textOf(ret), message: textOf(err_msg) };
    return textOf(ret) === "0" || "access_token" in body ? "fine" : undefined;
  },
  kindOf: ({ code }) => (TOKEN_CODES.has(code) ? "token" : PASSING_CODES.has(code) ? "retry" : undefined),
};

function request({ list = "", from = "", to = "", page = 1 }: CostQuestion, { account }: CallContext): HttpRequest {
  return get(
    withQuery(`${account("base_url")}/publisher/stat`, {
      action: ACTIONS[list] ?? "",
      access_token: account("access_token"),
      page,
      page_size: PAGE_ROWS,
      start_date: from,
      end_date: to,
    }),
  );
}

function read(question: CostQuestion, reply: Parameters<CostConnector["read"]>[1], { account }: CallContext): CostPage {
  const answer = answerOf(reply, ENVELOPE);
  if (answer.kind !== "answer") return answer;
  const list = objectsOf(answer.body.list);
  const isTotal = subjectOf(question) === "totals";
  const rows = list.map((row) => {
    const stat = isTotal ? row : objectOf(row.stat_item);
    return {
      day: stat.date,
      gid: "",
      aid: isTotal ? "" : row.ad_unit_id,
      impressions: stat.exposure_count,
      clicks: stat.click_count,
      cost: stat.income,
    };
  });
  const money = { unitDecimals: 2, currency: account("currency") };
  const read = costsOf(rows, { platform: ENVELOPE.platform, money });
  if (read.kind !== "costs") return read;
  const page = Number(question.page);
  const isMore = list.length > 0 && page * PAGE_ROWS < countOf(answer.body.total_num);
  const next = isMore ? [{ ...question, page: page + 1 }] : [];
  if (isTotal) return { kind: "page", costs: [], totals: read.costs, names: [], next };
  return { kind: "page", costs: read.costs, names: [], next };
}
