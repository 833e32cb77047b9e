import { type AuthorisationFlow, grantOf, seenAccounts } from "../connector/authorisation.ts";
import { answerOf, type Envelope, objectOf, textOf } from "../connector/reply.ts";
import { idJson, jsonTextPost, objectJson, withQuery } from "../connector/request.ts";
import { ENVELOPE, kuaishouCosts } from "./cost.ts";

/** Certain: the largest page of today's document; an older one allows 1,000. */
const PAGE_ROWS = 200;
/** What the cost pull needs: reports, accounts, and the names of campaigns and units. */
const SCOPE = ["report_service", "account_service", "ad_query"];

/** Kuaishou lists ids without names, which come with the first costs. */
export const kuaishouAuthorisation: AuthorisationFlow = {
  client: { id: "app_id", secret: "app_secret" },
  returned: { code: "auth_code" },
  page: ({ account, redirectUrl, state }) =>
    withQuery(account("authorise_url"), {
      app_id: account("app_id"),
      scope: JSON.stringify(SCOPE),
      redirect_uri: redirectUrl,
      state,
      oauth_type: "advertiser",
    }),
  exchange: ({ code }, { account }) =>
    jsonTextPost(
      `${account("base_url")}/oauth2/authorize/access_token`,
      objectJson({
        app_id: idJson(account("app_id")),
        secret: JSON.stringify(account("app_secret")),
        auth_code: JSON.stringify(code),
      }),
    ),
  read: (reply, nowMs) => grantOf(kuaishouCosts.tokens!.read(reply, nowMs), [{ list: "authorised", page: 1 }]),
  request: (question, { account }) =>
    jsonTextPost(
      `${account("base_url")}/oauth2/authorize/approval/list`,
      objectJson({
        app_id: idJson(account("app_id")),
        secret: JSON.stringify(account("app_secret")),
        access_token: JSON.stringify(account("access_token")),
        page_no: String(question.page),
        page_size: String(PAGE_ROWS),
      }),
    ),
  readAccounts: (question, reply) => {
    const answer = answerOf(reply, LIST_ENVELOPE);
    if (answer.kind !== "answer") return answer;
    const { details, isEnd } = objectOf(answer.body.data);
    const ids = Array.isArray(details) ? details.map(textOf) : [];
    const next = ids.length > 0 && isEnd !== true ? [{ ...question, page: Number(question.page) + 1 }] : [];
    return { kind: "page", accounts: seenAccounts(ids.map((id) => ({ id, name: "" }))), leftOut: 0, next };
  },
};

/** Likely: the document shows the code 1 for success, and callers read 0. */
const LIST_ENVELOPE: Envelope = {
  ...ENVELOPE,
  outcome: (body) => (textOf(body.code) === "1" ? "fine" : ENVELOPE.outcome(body)),
};
