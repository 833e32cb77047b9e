import { type AuthoriseOptions, authorisePage, Codes } from "./authorise-page.ts";
import { type Answer, answer, type Call, type Fields, idAt, jsonBody, Refusal, textAt, wholeAt } from "./call.ts";
import { type CostBook, numberId, withNumberIds } from "./costs.ts";
import type { Dialect, Route } from "./stand-in.ts";
import type { Tokens } from "./tokens.ts";

type Parts = AuthoriseOptions & {
  book: CostBook;
  tokens: Tokens;
  appId: string;
  secret: string;
  base: string;
  dialect: Dialect;
  refusals: { unknown: number; expired: number; permission: number };
};

/** Certain: a code lives ten minutes. */
const CODE_SECONDS = 600;
const TYPES: ReadonlySet<string> = new Set(["advertiser", "agent", "ad_social", "series"]);

export function kuaishouAuthoriseRoutes(parts: Parts): readonly Route[] {
  const { base, dialect, tokens, refusals } = parts;
  const codes = new Codes({ clock: parts.clock, lifeSeconds: CODE_SECONDS });
  const page = authorisePage(
    { path: "/tools/authorize", client: "app_id", redirect: "redirect_uri" },
    { ...parts, clientId: parts.appId, back: (redirect) => ({ auth_code: codes.issue(redirect) }) },
  );
  return [
    {
      ...page,
      take(call, desk) {
        assertAsked(call);
        return page.take(call, desk);
      },
    },
    {
      methods: ["POST"],
      path: `${base}/oauth2/authorize/access_token`,
      dialect,
      take(call) {
        codes.take(textAt(bodyOfClient(call, parts), "auth_code"), refusals.permission);
        tokens.grant();
        const ids = parts.book.accounts().map(numberId);
        const data = {
          access_token: tokens.accessToken,
          access_token_expires_in: Math.floor((tokens.accessExpiresAtMs - call.nowMs) / 1000),
          refresh_token: tokens.refreshToken,
          refresh_token_expires_in: Math.floor((tokens.refreshExpiresAtMs - call.nowMs) / 1000),
          advertiser_id: ids[0] ?? 0,
          advertiser_ids: ids,
        };
        return shown({ code: 0, message: "OK", data });
      },
    },
    {
      methods: ["POST"],
      path: `${base}/oauth2/authorize/approval/list`,
      dialect,
      take(call) {
        const body = bodyOfClient(call, parts);
        tokens.assert(textAt(body, "access_token"), refusals);
        return approvals(body, parts.book);
      },
    },
  ];
}

/** Certain: the scope is a list as JSON, and the type one of four. */
function assertAsked({ query }: Call): void {
  const type = query.get("oauth_type") ?? "advertiser";
  if (!TYPES.has(type)) throw new Refusal(`oauth_type ${type} is unknown`);
  if (!/^\[(?:"\w+",?)+\]$/.test(query.get("scope") ?? "")) throw new Refusal("scope is not a list");
}

function bodyOfClient(call: Call, { appId, secret, refusals }: Parts): Fields {
  const body = jsonBody(call);
  if (idAt(body, "app_id") !== appId || textAt(body, "secret") !== secret)
    throw new Refusal("app_id or secret is wrong", refusals.permission);
  return body;
}

/** Certain: ids without names, at most 200 a page, and the end is told by a page beyond the last. Likely: the code 1. */
function approvals(body: Fields, book: CostBook): Answer {
  const page = wholeAt(body, "page_no", { min: 1 });
  const size = Math.min(wholeAt(body, "page_size", { min: 1, max: 200 }), book.pageRows);
  const details = book.accounts().slice((page - 1) * size, page * size);
  return shown({ code: 1, message: "成功", data: { details: details.map(numberId), isEnd: details.length === 0 } });
}

function shown(value: object): Answer {
  const reply = answer(value);
  return { ...reply, body: withNumberIds(reply.body) };
}
