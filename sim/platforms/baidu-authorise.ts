import { type AuthoriseOptions, authorisePage, Codes } from "./authorise-page.ts";
import { type Answer, answer, type Call, idAt, jsonBody, parameter, Refusal, textAt, wholeAt } from "./call.ts";
import { type CostBook, numberId, withNumberIds } from "./costs.ts";
import type { Dialect, Route } from "./stand-in.ts";
import { randomText, type Tokens } from "./tokens.ts";

type Parts = AuthoriseOptions & {
  book: CostBook;
  tokens: Tokens;
  appId: string;
  secretKey: string;
  userName: string;
  dialect: Dialect;
};

/** Certain: the same for all applications. */
const PLATFORM_ID = "4960345965958561794";
/** Likely: ten minutes, as elsewhere. */
const CODE_SECONDS = 600;
/** The account that manages the others. */
const MANAGER = "46000001";

/** One account authorises itself; of several, the account that manages them does. */
export function baiduAuthoriseRoutes(parts: Parts): readonly Route[] {
  const { tokens, dialect, book } = parts;
  const codes = new Codes({ clock: parts.clock, lifeSeconds: CODE_SECONDS });
  const openId = randomText();
  const user = () => (book.accounts().length === 1 ? book.accounts()[0]! : MANAGER);
  const page = authorisePage(
    { path: "/oauth/page/index", client: "appId", redirect: "callback" },
    {
      ...parts,
      clientId: parts.appId,
      back: (redirect) => ({
        appId: parts.appId,
        authCode: codes.issue(redirect),
        userId: user(),
        timestamp: "1611216626171",
        signature: "0".repeat(64),
      }),
    },
  );
  return [
    {
      ...page,
      take(call, desk) {
        if (parameter(call.query, "platformId") !== PLATFORM_ID) throw new Refusal("platformId is unknown");
        return page.take(call, desk);
      },
    },
    {
      methods: ["POST"],
      path: "/oauth/accessToken",
      dialect,
      take(call) {
        const body = jsonBody(call);
        if (textAt(body, "appId") !== parts.appId || textAt(body, "secretKey") !== parts.secretKey)
          throw new Refusal("appId or secretKey is wrong");
        if (textAt(body, "grantType") !== "auth_code") throw new Refusal("grantType is not auth_code");
        codes.take(textAt(body, "authCode"));
        if (idAt(body, "userId") !== user()) throw new Refusal("userId is another one");
        tokens.grant();
        return shown({ ...baiduTokens(tokens, call.nowMs), userId: numberId(user()), openId });
      },
    },
    {
      methods: ["POST"],
      path: "/oauth/getUserInfo",
      dialect,
      take(call) {
        const body = jsonBody(call);
        tokens.assert(textAt(body, "accessToken"));
        if (textAt(body, "openId") !== openId || idAt(body, "userId") !== user()) throw new Refusal("no such user");
        return usersShown(call, parts, user());
      },
    },
  ];
}

/** Certain: at most 500 a page, and the next page begins after the largest id of this one; 1 begins the first. */
function usersShown(call: Call, { book, userName }: Parts, user: string): Answer {
  const body = jsonBody(call);
  const size = Math.min(wholeAt(body, "pageSize", { min: 1, max: 500 }), book.pageRows);
  const last = BigInt(idAt(body, "lastPageMaxUcId"));
  const isManager = user === MANAGER;
  const after = (isManager ? book.accounts() : [])
    .filter((id) => BigInt(id) > last)
    .sort((one, other) => (BigInt(one) < BigInt(other) ? -1 : 1));
  return shown({
    masterUid: numberId(user),
    masterName: isManager ? "manager" : userName,
    userAcctType: isManager ? 2 : 1,
    hasNext: after.length > size,
    subUserList: after.slice(0, size).map((id) => ({ ucId: numberId(id), ucName: book.accountName(id) })),
  });
}

export function baiduTokens(tokens: Tokens, nowMs: number): object {
  return {
    accessToken: tokens.accessToken,
    expiresIn: Math.floor((tokens.accessExpiresAtMs - nowMs) / 1000),
    refreshToken: tokens.refreshToken,
    refreshExpiresIn: Math.floor((tokens.refreshExpiresAtMs - nowMs) / 1000),
  };
}

function shown(data: object): Answer {
  const reply = answer({ code: 0, message: "success", data });
  return { ...reply, body: withNumberIds(reply.body) };
}
