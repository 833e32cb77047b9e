import { type AccountQuestion, type AuthorisationFlow, grantOf, seenAccounts } from "../connector/authorisation.ts";
import { answerOf, objectOf, objectsOf, textOf } from "../connector/reply.ts";
import { get, withQuery } from "../connector/request.ts";
import { ENVELOPE, tencentCosts } from "./cost.ts";

const PAGE_ROWS = 100;

/**
 * The answer to the code names one account (certain). Unless that is an advertiser's, it is an organisation's or an
 * agency's, and the accounts below it are listed.
 */
export const tencentAuthorisation: AuthorisationFlow = {
  client: { id: "client_id", secret: "client_secret" },
  returned: { code: "authorization_code" },
  page: ({ account, redirectUrl, state }) =>
    withQuery(account("authorise_url"), { client_id: account("client_id"), redirect_uri: redirectUrl, state }),
  exchange: ({ code, redirectUrl }, { account }) =>
    get(
      withQuery(`${account("base_url")}/oauth/token`, {
        client_id: account("client_id"),
        client_secret: account("client_secret"),
        grant_type: "authorization_code",
        authorization_code: code,
        redirect_uri: redirectUrl,
      }),
    ),
  read: (reply, nowMs) => {
    const answer = answerOf(reply, ENVELOPE);
    const data = answer.kind === "answer" ? objectOf(answer.body.data) : {};
    const authoriser = objectOf(data.authorizer_info);
    const [id, role] = [textOf(authoriser.account_id), textOf(authoriser.account_role_type)];
    const isAdvertiser = id !== "" && (role === "" || role.endsWith("_ADVERTISER"));
    const question: AccountQuestion = isAdvertiser ? { list: "advertiser", id } : { list: "organisation", cursor: "" };
    return grantOf(tencentCosts.tokens!.read(reply, nowMs), [question]);
  },
  request: (question, { account, nowMs, nonce }) => {
    const signed = { access_token: account("access_token"), timestamp: Math.floor(nowMs / 1_000), nonce };
    if (question.list === "advertiser") {
      const fields = JSON.stringify(["account_id", "corporation_name", "memo"]);
      const query = { ...signed, account_id: question.id!, fields };
      return get(withQuery(`${account("base_url")}/v3.0/advertiser/get`, query));
    }
    // Certain: by pages, no row after the thousandth is shown.
    const paging = { pagination_mode: "PAGINATION_MODE_CURSOR", cursor: question.cursor!, page_size: PAGE_ROWS };
    return get(withQuery(`${account("base_url")}/v3.0/organization_account_relation/get`, { ...signed, ...paging }));
  },
  readAccounts: (question, reply) => {
    const answer = answerOf(reply, ENVELOPE);
    if (answer.kind !== "answer") return answer;
    const data = objectOf(answer.body.data);
    const list = objectsOf(data.list);
    const found = seenAccounts(
      list.map((entry) => ({
        id: textOf(entry.account_id),
        name: textOf(entry.corporation_name) || textOf(entry.memo),
      })),
    );
    if (question.list === "advertiser") {
      const own = found.filter(({ advertiserId }) => advertiserId === question.id);
      return { kind: "page", accounts: own, leftOut: 0, next: [] };
    }
    const { has_more, cursor } = objectOf(data.cursor_page_info);
    const isMore = list.length > 0 && has_more === true && textOf(cursor) !== "";
    const next = isMore ? [{ ...question, cursor: textOf(cursor) }] : [];
    return { kind: "page", accounts: found, leftOut: 0, next };
  },
};
