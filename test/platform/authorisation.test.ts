import { expect, test } from "vitest";
import { settingsOf } from "../../src/platform/connector/connector.ts";
import { AUTHORISED_PLATFORMS, authorisationOf, costConnectorOf } from "../../src/platform/registry.ts";

const BACK = "https://console.example/console/authorised";
const APPLICATION = { app_id: "1700000000000000001", app_secret: "s3", client_id: "1110", client_secret: "s3" };

const accountOf = (platform: string, values: Record<string, string> = {}) =>
  settingsOf(costConnectorOf(platform)!.fields, { ...APPLICATION, ...values });
const contextOf = (platform: string, values: Record<string, string> = {}) => ({
  account: accountOf(platform, values),
  nowMs: 1_700_000_000_000,
  nonce: "n".repeat(32),
});

test("four platforms have a page for authorisations, and fields that their accounts have", () => {
  expect([...AUTHORISED_PLATFORMS].sort()).toEqual(["baidu", "bytedance", "kuaishou", "tencent"]);
  for (const platform of AUTHORISED_PLATFORMS) {
    const names = costConnectorOf(platform)!.fields.map(({ name }) => name);
    for (const name of Object.values(authorisationOf(platform)!.client)) expect(names).toContain(name);
  }
});

/** The platforms' own pages, with the parameters of their documents. */
test.each([
  [
    "bytedance",
    "https://ad.oceanengine.com/openapi/audit/oauth.html",
    { app_id: APPLICATION.app_id, state: "st", redirect_uri: BACK },
  ],
  ["tencent", "https://developers.e.qq.com/oauth/authorize", { client_id: "1110", redirect_uri: BACK, state: "st" }],
  [
    "kuaishou",
    "https://developers.e.kuaishou.com/tools/authorize",
    {
      app_id: APPLICATION.app_id,
      scope: '["report_service","account_service","ad_query"]',
      redirect_uri: BACK,
      state: "st",
      oauth_type: "advertiser",
    },
  ],
  [
    "baidu",
    "https://u.baidu.com/oauth/page/index",
    { platformId: "4960345965958561794", appId: APPLICATION.app_id, scope: "71,72", state: "st", callback: BACK },
  ],
])("%s is asked on %s, without the secret", (platform, address, parameters) => {
  const account = accountOf(platform, platform === "baidu" ? { scope: "71,72" } : {});
  const page = new URL(authorisationOf(platform)!.page({ account, redirectUrl: BACK, state: "st" }));
  expect(page.origin + page.pathname).toBe(address);
  expect(Object.fromEntries(page.searchParams)).toEqual(parameters);
});

test.each([
  [
    "bytedance",
    "POST https://ad.oceanengine.com/open_api/oauth2/access_token/",
    `{"app_id":1700000000000000001,"secret":"s3","grant_type":"auth_code","auth_code":"c&d"}`,
  ],
  [
    "tencent",
    `GET https://api.e.qq.com/oauth/token?client_id=1110&client_secret=s3&grant_type=authorization_code&authorization_code=c%26d&redirect_uri=${encodeURIComponent(BACK)}`,
    undefined,
  ],
  [
    "kuaishou",
    "POST https://ad.e.kuaishou.com/rest/openapi/oauth2/authorize/access_token",
    `{"app_id":1700000000000000001,"secret":"s3","auth_code":"c&d"}`,
  ],
  [
    "baidu",
    "POST https://u.baidu.com/oauth/accessToken",
    `{"appId":"1700000000000000001","authCode":"c&d","secretKey":"s3","grantType":"auth_code","userId":46}`,
  ],
])("%s gets the code by %s", (platform, call, body) => {
  const returned = { code: "c&d", user: "46", redirectUrl: BACK };
  const request = authorisationOf(platform)!.exchange(returned, contextOf(platform));
  expect(`${request.method} ${request.url}`).toBe(call);
  expect(request.body).toBe(body);
});

const reply = (body: unknown) => ({ status: 200, body: typeof body === "string" ? body : JSON.stringify(body) });

test("Ocean Engine's list has ids beyond a double, invalid entries and other roles", () => {
  const { readAccounts } = authorisationOf("bytedance")!;
  const body = `{"code":0,"data":{"list":[
    {"advertiser_id":9007199254740993001,"advertiser_name":"A","is_valid":true,"account_role":"ADVERTISER"},
    {"advertiser_id":2,"advertiser_name":"B","is_valid":false,"account_role":"ADVERTISER"},
    {"advertiser_id":3,"advertiser_name":"C","account_role":"PLATFORM_ROLE_SHOP_ACCOUNT"},
    {"account_id":4,"account_name":"D","is_valid":true,"account_role":"CUSTOMER_OPERATOR"}]}}`;
  expect(readAccounts({ list: "authorised" }, reply(body))).toEqual({
    kind: "page",
    accounts: [{ advertiserId: "9007199254740993001", name: "A", values: {} }],
    leftOut: 2,
    next: [{ list: "workbench", id: "4", page: 1 }],
  });
});

test("Tencent's advertiser is asked for its name, anybody else for the accounts below", () => {
  const { read, request } = authorisationOf("tencent")!;
  const next = (authorizer_info: object) => {
    const grant = read(reply({ code: 0, data: { access_token: "a", authorizer_info } }), 0);
    return grant.kind === "token" ? grant.next : grant;
  };
  expect(next({ account_id: 5, account_role_type: "ACCOUNT_ROLE_TYPE_ADVERTISER" })).toEqual([
    { list: "advertiser", id: "5" },
  ]);
  expect(next({ account_id: 5, account_role_type: "ACCOUNT_ROLE_TYPE_AGENCY" })).toEqual([
    { list: "organisation", cursor: "" },
  ]);
  const { url } = request({ list: "organisation", cursor: "" }, contextOf("tencent", { access_token: "a" }));
  expect(url).toMatch(
    /^https:\/\/api\.e\.qq\.com\/v3\.0\/organization_account_relation\/get\?access_token=a&timestamp=/,
  );
  expect(url).toMatch(/&pagination_mode=PAGINATION_MODE_CURSOR&page_size=100$/);
});

test.each(["0", "1"])("Kuaishou's list is read with the code %s", (code) => {
  const { readAccounts } = authorisationOf("kuaishou")!;
  const question = { list: "authorised", page: 1 };
  const page = (isEnd: boolean) => readAccounts(question, reply({ code: Number(code), data: { details: [8], isEnd } }));
  expect(page(false)).toMatchObject({ accounts: [{ advertiserId: "8" }], next: [{ page: 2 }] });
  expect(page(true)).toMatchObject({ next: [] });
  expect(readAccounts(question, reply({ code: 402000, message: "access_token is invalid" }))).toMatchObject({
    kind: "token",
  });
});

test("Baidu's plain account is its own only account", () => {
  const { readAccounts } = authorisationOf("baidu")!;
  const data = { masterUid: 46, masterName: "shop", userAcctType: 1, hasNext: false };
  expect(readAccounts({ list: "accounts", user: "46", openId: "o", last: "1" }, reply({ code: 0, data }))).toEqual({
    kind: "page",
    accounts: [{ advertiserId: "46", name: "shop", values: { user_name: "shop" } }],
    leftOut: 0,
    next: [],
  });
});
