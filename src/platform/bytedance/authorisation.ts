import type { JsonObject } from "../../domain/json.ts";
import { type AuthorisationFlow, grantOf, seenAccounts } from "../connector/authorisation.ts";
import { answerOf, countOf, objectOf, objectsOf, textOf } from "../connector/reply.ts";
import { get, idJson, jsonTextPost, objectJson, withQuery } from "../connector/request.ts";
import { bytedanceCosts, ENVELOPE } from "./cost.ts";

const PAGE_ROWS = 100;

/**
 * One authorisation covers all accounts that the person ticks (certain), and a workbench (纵横组织) among them stands for
 * the accounts in it. Without a scope, the application asks for all its permissions (certain).
 */
export const bytedanceAuthorisation: AuthorisationFlow = {
  client: { id: "app_id", secret: "app_secret" },
  returned: { code: "auth_code" },
  page: ({ account, redirectUrl, state }) =>
    withQuery(account("authorise_url"), { app_id: account("app_id"), state, redirect_uri: redirectUrl }),
  exchange: ({ code }, { account }) =>
    jsonTextPost(
      `${account("oauth_url")}/access_token/`,
      objectJson({
        app_id: idJson(account("app_id")),
        secret: JSON.stringify(account("app_secret")),
        grant_type: '"auth_code"',
        auth_code: JSON.stringify(code),
      }),
    ),
  read: (reply, nowMs) => grantOf(bytedanceCosts.tokens!.read(reply, nowMs), [{ list: "authorised" }]),
  request: (question, { account }) => {
    const token = account("access_token");
    // Certain: this list takes the token in its query, unlike the others.
    if (question.list === "authorised")
      return get(withQuery(`${account("oauth_url")}/advertiser/get/`, { access_token: token }));
    const query = { cc_account_id: question.id!, account_source: "AD", page: question.page!, page_size: PAGE_ROWS };
    return get(withQuery(`${account("base_url")}/2/customer_center/advertiser/list/`, query), {
      "Access-Token": token,
    });
  },
  readAccounts: (question, reply) => {
    const answer = answerOf(reply, ENVELOPE);
    if (answer.kind !== "answer") return answer;
    const data = objectOf(answer.body.data);
    const list = objectsOf(data.list);
    if (question.list !== "authorised") {
      const page = Number(question.page);
      const isMore = list.length > 0 && page < countOf(objectOf(data.page_info).total_page);
      const next = isMore ? [{ ...question, page: page + 1 }] : [];
      return { kind: "page", accounts: seenAccounts(list.map(named)), leftOut: 0, next };
    }
    const valid = list.filter(({ is_valid }) => is_valid !== false);
    const own = valid.filter((entry) => ["", "ADVERTISER"].includes(textOf(entry.account_role)));
    const workbenches = valid.filter((entry) => /^CUSTOMER_/.test(textOf(entry.account_role)));
    return {
      kind: "page",
      accounts: seenAccounts(own.map(named)),
      leftOut: list.length - own.length - workbenches.length,
      next: workbenches.map((entry) => ({ list: "workbench", id: named(entry).id, page: 1 })),
    };
  },
};

function named(entry: JsonObject): { id: string; name: string } {
  return {
    id: textOf(entry.advertiser_id) || textOf(entry.account_id),
    name: textOf(entry.advertiser_name) || textOf(entry.account_name),
  };
}
