import { daysOf } from "../../domain/cost-schedule.ts";
import type { JsonValue } from "../../domain/json.ts";
import { cleanId, isClientId } from "../../domain/user/identity.ts";
import type { CallContext, HttpRequest } from "../connector/connector.ts";
import type { CostConnector, CostPage, CostQuestion, PlayerEarning } from "../connector/cost-connector.ts";
import { publisherFields, secretTokenRequest } from "../connector/publisher.ts";
import { answerOf, type Envelope, objectOf, objectsOf, textOf } from "../connector/reply.ts";
import { get, withQuery } from "../connector/request.ts";
import { tokenAnswerOf } from "../connector/token.ts";

/** Certain: at most 500 records per page, pages counted from 1. */
const PAGE_ROWS = 500;

/** Certain: the unit of `cost` is a hundred-thousandth of a yuan, which is ten millionths. */
const MICROS_PER_UNIT = 10;

/**
 * What the ads of a Douyin mini-game earned, one record per billed ad with the player's open id. The account is the
 * mini-game, by its app id (tt…).
 *
 * Certain: the address, the parameters, an empty `open_id` for all players, a day or an hour as `date_hour`, the pages,
 * `data.records[]` with `open_id`, `cost` and `event_time`, and the token's interface. Likely: three days back, as the
 * twin of this interface for mini-programs says; that a past day no longer grows; the codes. The twin also says that
 * records of ads that are neither for a key action nor for revenue cost 0, and that the sum can differ by some percent
 * from the bill.
 */
export const douyinRevenue: CostConnector = {
  platform: "Douyin",
  brings: "player_revenue",
  fields: publisherFields({
    hint: "Address of the mini-game platform's API",
    fallback: "https://minigame.zijieapi.com",
  }),
  // A day beyond the reach may come empty, and would then replace what is stored.
  spans: [{ reachDays: 3, daysMax: 1 }],
  reachZone: "Asia/Shanghai",
  start: (range) => daysOf(range).map((day): CostQuestion => ({ list: "records", day, page: 1 })),
  subjectOf: () => "costs",
  request,
  read,
  tokens: {
    request: secretTokenRequest("/mgplatform/api/apps/v2/token"),
    read: (reply, nowMs) =>
      tokenAnswerOf(reply, {
        envelope: ENVELOPE,
        nowMs,
        read: ({ data }) => {
          const { access_token, expires_in } = objectOf(data);
          return { accessToken: access_token, refreshToken: undefined, expiresInS: expires_in };
        },
      }),
  },
};

/** Likely, all of them: those of the open platform's other interfaces. */
const TOKEN_CODES: ReadonlySet<string> = new Set(["28001003", "28001008", "40002"]);
const PASSING_CODES: ReadonlySet<string> = new Set(["-1", "28001005", "28003018"]);

const ENVELOPE: Envelope = {
  platform: "Douyin",
  outcome: (body) => {
    const code = textOf(body.err_no);
    if (code === "") return undefined;
    return code === "0" ? "fine" : { code, message: textOf(body.err_tips) || textOf(body.err_msg) };
  },
  kindOf: ({ code }) => (TOKEN_CODES.has(code) ? "token" : PASSING_CODES.has(code) ? "retry" : undefined),
};

function request({ day = "", page = 1 }: CostQuestion, { account }: CallContext): HttpRequest {
  // Everybody's records; withQuery leaves out what is empty.
  return get(
    withQuery(`${account("base_url")}/mgplatform/api/apps/data/get_ecpm?open_id=`, {
      mp_id: account("advertiser_id"),
      date_hour: day,
      access_token: account("access_token"),
      page_no: page,
      page_size: PAGE_ROWS,
    }),
  );
}

/** Pages are asked for until one is empty: the answer holds no count that all callers rely on. */
function read(question: CostQuestion, reply: Parameters<CostConnector["read"]>[1], { account }: CallContext): CostPage {
  const answer = answerOf(reply, ENVELOPE);
  if (answer.kind !== "answer") return answer;
  const records = objectsOf(objectOf(answer.body.data).records);
  const earnings: PlayerEarning[] = [];
  for (const record of records) {
    const cost = textOf(record.cost);
    // Leaving out a record that cannot be read would lose revenue unnoticed.
    if (!/^\d{1,12}$/.test(cost))
      return { kind: "permanent", reason: "Douyin sent a record whose cost cannot be read." };
    const earned = { micros: Number(cost) * MICROS_PER_UNIT, currency: account("currency") };
    earnings.push({ day: String(question.day), openId: openIdOf(record.open_id), views: 1, ...earned });
  }
  const next = records.length === 0 ? [] : [{ ...question, page: Number(question.page) + 1 }];
  return { kind: "page", costs: [], earnings, names: [], next };
}

/** Empty for what is no id of anybody: its revenue is kept, and belongs to no known player. */
function openIdOf(value: JsonValue | undefined): string {
  const id = cleanId(value);
  return isClientId(id) ? id : "";
}
