import type { JsonObject } from "../../domain/json.ts";
import { type AuthorisationFlow, grantOf, type SeenAccount } from "../connector/authorisation.ts";
import { answerOf, objectOf, objectsOf, textOf } from "../connector/reply.ts";
import { idJson, jsonTextPost, objectJson, withQuery } from "../connector/request.ts";
import { baiduCosts, TOKEN_ENVELOPE } from "./cost.ts";

/** Certain: the same in the links of all applications. */
const PLATFORM_ID = "4960345965958561794";
const PAGE_ROWS = 500;
/** The type of an account that manages others and runs no ads itself. */
const MANAGER = "2";

/**
 * A manager's authorisation covers the accounts that it manages. Their tokens are refreshed in the manager's name, and
 * each call carries the name of the account that it is about. Baidu also signs what it sends back, in a way that is
 * known from one caller only; the state and the exchange prove as much, so the sign is not read.
 */
export const baiduAuthorisation: AuthorisationFlow = {
  client: { id: "app_id", secret: "app_secret", scope: "scope" },
  returned: { code: "authCode", user: "userId" },
  page: ({ account, redirectUrl, state }) =>
    withQuery(account("authorise_url"), {
      platformId: PLATFORM_ID,
      appId: account("app_id"),
      scope: account("scope"),
      state,
      callback: redirectUrl,
    }),
  exchange: ({ code, user }, { account }) =>
    jsonTextPost(
      `${account("oauth_url")}/accessToken`,
      objectJson({
        appId: JSON.stringify(account("app_id")),
        authCode: JSON.stringify(code),
        secretKey: JSON.stringify(account("app_secret")),
        grantType: '"auth_code"',
        userId: idJson(user),
      }),
    ),
  read: (reply, nowMs) => {
    const answer = answerOf(reply, TOKEN_ENVELOPE);
    const data = answer.kind === "answer" ? objectOf(answer.body.data) : {};
    const [user, openId] = [textOf(data.userId), textOf(data.openId)];
    const grant = grantOf(baiduCosts.tokens!.read(reply, nowMs), [{ list: "accounts", user, openId, last: "1" }]);
    return grant.kind === "token" ? { ...grant, values: { ...grant.values, user_id: user } } : grant;
  },
  request: (question, { account }) =>
    jsonTextPost(
      `${account("oauth_url")}/getUserInfo`,
      objectJson({
        openId: JSON.stringify(question.openId),
        accessToken: JSON.stringify(account("access_token")),
        userId: idJson(String(question.user)),
        needSubList: "true",
        pageSize: String(PAGE_ROWS),
        lastPageMaxUcId: idJson(String(question.last)),
      }),
    ),
  readAccounts: (question, reply) => {
    const answer = answerOf(reply, TOKEN_ENVELOPE);
    if (answer.kind !== "answer") return answer;
    const data = objectOf(answer.body.data);
    const managed = objectsOf(data.subUserList).flatMap((entry) => seen(entry, ["ucId", "ucName"]));
    const own = textOf(data.userAcctType) === MANAGER ? [] : seen(data, ["masterUid", "masterName"]);
    const last = managed.at(-1);
    const next = last && data.hasNext === true ? [{ ...question, last: last.advertiserId }] : [];
    return { kind: "page", accounts: [...own, ...managed], leftOut: 0, next };
  },
};

function seen(entry: JsonObject, [id, name]: readonly [id: string, name: string]): SeenAccount[] {
  const account = { advertiserId: textOf(entry[id]), name: textOf(entry[name]) };
  return account.advertiserId === "" ? [] : [{ ...account, values: { user_name: account.name } }];
}
