import { type AuthoriseOptions, authorisePage, Codes } from "./authorise-page.ts";
import { type Answer, answer, type Call, memberOf, optionalWholeParameter, parameter, Refusal } from "./call.ts";
import { type CostBook, numberId, withNumberIds } from "./costs.ts";
import type { Dialect, Route } from "./stand-in.ts";
import type { Gate } from "./tencent-costs.ts";
import type { OAuthClient, Tokens } from "./tokens.ts";

type Parts = AuthoriseOptions & {
  book: CostBook;
  client: OAuthClient;
  tokens: Tokens;
  dialect: Dialect;
  gate: Gate;
};

/** Certain: five minutes on today's page of the interface. */
const CODE_SECONDS = 300;
const BAD_CODE = 11012;
const MODES: ReadonlySet<string> = new Set(["PAGINATION_MODE_NORMAL", "PAGINATION_MODE_CURSOR"]);
/** The account of a business manager, who runs no ads with it. */
const MANAGER = "9000001";

export type TencentAuthorisation = { routes: readonly Route[]; exchange(call: Call): Answer };

/** One account authorises itself; of several, their business manager does. */
export function tencentAuthorisation(parts: Parts): TencentAuthorisation {
  const codes = new Codes({ clock: parts.clock, lifeSeconds: CODE_SECONDS });
  const page = { path: "/oauth/authorize", client: "client_id", redirect: "redirect_uri" };
  const routes: Route[] = [
    authorisePage(page, {
      ...parts,
      clientId: parts.client.clientId,
      back: (redirect) => ({ authorization_code: codes.issue(redirect) }),
    }),
    {
      methods: ["GET"],
      path: "/v3.0/organization_account_relation/get",
      dialect: parts.dialect,
      take(call) {
        parts.gate(call);
        return accountsShown(call, parts.book);
      },
    },
  ];
  return { routes, exchange: (call) => exchanged(call, codes, parts) };
}

function exchanged({ query, nowMs }: Call, codes: Codes, { book, tokens }: Parts): Answer {
  const redirect = codes.take(parameter(query, "authorization_code"), BAD_CODE);
  // Certain: the same address as on the authorise page.
  if (parameter(query, "redirect_uri") !== redirect) throw new Refusal("redirect_uri is another one", BAD_CODE);
  tokens.grant();
  const [own = MANAGER, ...more] = book.accounts();
  const isAdvertiser = own !== MANAGER && more.length === 0;
  return shown({
    access_token: tokens.accessToken,
    access_token_expires_in: Math.floor((tokens.accessExpiresAtMs - nowMs) / 1000),
    refresh_token: tokens.refreshToken,
    refresh_token_expires_in: Math.floor((tokens.refreshExpiresAtMs - nowMs) / 1000),
    authorizer_info: {
      account_id: numberId(isAdvertiser ? own : MANAGER),
      account_role_type: isAdvertiser ? "ACCOUNT_ROLE_TYPE_ADVERTISER" : "ACCOUNT_ROLE_TYPE_BUSINESS_MANAGER",
      scope_list: [],
    },
  });
}

/** Certain: by pages only the first thousand can be reached; the cursor of the first page is left out. */
function accountsShown({ query }: Call, book: CostBook): Answer {
  const mode = memberOf(MODES, { name: "pagination_mode", value: parameter(query, "pagination_mode") });
  if (mode !== "PAGINATION_MODE_CURSOR") throw new Refusal("pagination_mode is not served here");
  const from = optionalWholeParameter(query, "cursor", { min: 1 }) ?? 0;
  const size = Math.min(optionalWholeParameter(query, "page_size", { min: 1, max: 100 }) ?? 10, book.pageRows);
  const all = book.accounts();
  const list = all.slice(from, from + size).map((id) => ({
    account_id: numberId(id),
    corporation_name: book.accountName(id),
    comment_list: [],
  }));
  const until = from + list.length;
  const more = until < all.length ? { has_more: true, cursor: until } : { has_more: false };
  return shown({ list, cursor_page_info: { page_size: size, total_number: all.length, ...more } });
}

function shown(data: object): Answer {
  const reply = answer({ code: 0, message: "", message_cn: "", data });
  return { ...reply, body: withNumberIds(reply.body) };
}
