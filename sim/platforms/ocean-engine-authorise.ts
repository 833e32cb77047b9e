import { type AuthoriseOptions, authorisePage, Codes } from "./authorise-page.ts";
import { type Answer, idAt, jsonBody, parameter, Refusal, textAt } from "./call.ts";
import { type CostBook, numberId, pageAsked } from "./costs.ts";
import type { Dialect, Route } from "./stand-in.ts";
import type { Tokens } from "./tokens.ts";

export type WorkbenchOptions = {
  /** Accounts that are authorised through a workbench (纵横组织), by its id. The others are authorised themselves. */
  workbenches?: Readonly<Record<string, readonly string[]>>;
};

type Parts = AuthoriseOptions &
  WorkbenchOptions & {
    book: CostBook;
    tokens: Tokens;
    appId: string;
    secret: string;
    base: string;
    dialect: Dialect;
    enveloped: (envelope: { code: number; message: string; data: unknown }) => Answer;
    refusals: { unknown: number; expired: number; permission: number };
  };

/** Certain: a code lives ten minutes and is good for one exchange; one pair of tokens serves all accounts. */
const CODE_SECONDS = 600;

export function oceanEngineAuthoriseRoutes(parts: Parts): readonly Route[] {
  const { base, dialect, tokens, refusals } = parts;
  const codes = new Codes({ clock: parts.clock, lifeSeconds: CODE_SECONDS });
  const page = { path: "/openapi/audit/oauth.html", client: "app_id", redirect: "redirect_uri" };
  return [
    authorisePage(page, {
      ...parts,
      clientId: parts.appId,
      back: (redirect) => ({ auth_code: codes.issue(redirect) }),
    }),
    {
      methods: ["POST"],
      path: `${base}/oauth2/access_token/`,
      dialect,
      take(call) {
        const body = jsonBody(call);
        if (idAt(body, "app_id") !== parts.appId || textAt(body, "secret") !== parts.secret)
          throw new Refusal("app_id or secret is wrong", refusals.permission);
        if (textAt(body, "grant_type") !== "auth_code") throw new Refusal("grant_type is not auth_code");
        codes.take(textAt(body, "auth_code"), refusals.permission);
        tokens.grant();
        return parts.enveloped({
          code: 0,
          message: "OK",
          data: { ...tokensShown(tokens, call.nowMs), advertiser_ids: authorised(parts).map(({ id }) => numberId(id)) },
        });
      },
    },
    {
      methods: ["GET"],
      path: `${base}/oauth2/advertiser/get/`,
      dialect,
      take({ query }) {
        tokens.assert(query.get("access_token") ?? undefined, refusals);
        const list = authorised(parts).map(({ id, name, role }) => ({
          advertiser_id: numberId(id),
          advertiser_name: name,
          is_valid: true,
          account_role: role,
        }));
        return parts.enveloped({ code: 0, message: "OK", data: { list } });
      },
    },
    workbenchRoute(parts),
  ];
}

function workbenchRoute({ base, dialect, tokens, refusals, book, workbenches = {}, enveloped }: Parts): Route {
  return {
    methods: ["GET"],
    path: `${base}/2/customer_center/advertiser/list/`,
    dialect,
    take({ query, headers }) {
      tokens.assert(headers["access-token"] as string | undefined, refusals);
      const members = workbenches[parameter(query, "cc_account_id")];
      if (members === undefined) throw new Refusal("cc_account_id is not authorised", refusals.permission);
      if ((query.get("account_source") ?? "AD") !== "AD") throw new Refusal("account_source is not served here");
      const page = pageAsked(query, { items: members, sizeMax: 100, pageRows: book.pageRows });
      const list = page.items.map((id) => ({ advertiser_id: numberId(id), advertiser_name: book.accountName(id) }));
      const page_info = { page: page.page, page_size: page.pageSize, total_number: page.total, total_page: page.pages };
      return enveloped({ code: 0, message: "OK", data: { list, page_info } });
    },
  };
}

/** What a person ticks: accounts, workbenches, and an agency, which is no advertiser. */
function authorised({ book, workbenches = {} }: Parts): { id: string; name: string; role: string }[] {
  const members = new Set(Object.values(workbenches).flat());
  const own = book.accounts().filter((id) => !members.has(id));
  return [
    ...own.map((id) => ({ id, name: book.accountName(id), role: "ADVERTISER" })),
    ...Object.keys(workbenches).map((id) => ({ id, name: `Workbench ${id}`, role: "CUSTOMER_ADMIN" })),
    { id: "1699", name: "Agency", role: "AGENT" },
  ];
}

export function tokensShown(tokens: Tokens, nowMs: number): object {
  return {
    access_token: tokens.accessToken,
    expires_in: Math.floor((tokens.accessExpiresAtMs - nowMs) / 1000),
    refresh_token: tokens.refreshToken,
    refresh_token_expires_in: Math.floor((tokens.refreshExpiresAtMs - nowMs) / 1000),
  };
}
