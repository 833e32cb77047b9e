import { afterAll, beforeAll, expect, test } from "vitest";
import { linksOf } from "../../../sim/platforms/authorise-page.ts";
import { type OceanEngineStandIn, startOceanEngine } from "../../../sim/platforms/ocean-engine.ts";
import { accountListAnswer } from "../../../src/contract/setting/account.ts";
import {
  authoriseFormAnswer,
  begunAnswer,
  chosenAnswer,
  returnedAnswer,
} from "../../../src/contract/setting/authorisation.ts";
import type { App } from "../../../src/db/app.ts";
import { AdminCaller, consoleUser, dataOf, refused } from "../../support/admin-caller.ts";
import { call } from "../../support/call.ts";
import { sharedServer } from "../../support/shared-server.ts";

const server = sharedServer();
const token = new AdminCaller(server);
const mei = consoleUser(server, "admin");
const tom = consoleUser(server, "admin");
const ann = consoleUser(server, "analyst");
let app: App;
let engine: OceanEngineStandIn;

beforeAll(async () => {
  engine = await startOceanEngine({ accounts: ["7001", "7002"] });
  app = await server.createApp();
});
afterAll(() => engine.close());

const application = () => ({
  app_id: app.appId,
  ad_platform: "bytedance",
  settings: {
    app_id: engine.appId,
    base_url: `${engine.url}/open_api`,
    oauth_url: `${engine.url}/open_api/oauth2`,
    authorise_url: `${engine.url}/openapi/audit/oauth.html`,
  },
  secrets: { app_secret: engine.secret },
});

test("the platforms and the path of the redirect are told to everybody who is signed in", async () => {
  const form = dataOf(await ann.get("accounts/authorise"), authoriseFormAnswer);
  expect(form.redirect_path).toBe("/console/authorised");
  expect(form.platforms).toContainEqual({ ad_platform: "baidu", fields: ["app_id", "app_secret", "scope"] });
  const page = await fetch(`${server.url}${form.redirect_path}?state=s&auth_code=c`);
  expect([page.status, page.headers.get("content-type"), page.headers.get("referrer-policy")]).toEqual([
    200,
    "text/html; charset=utf-8",
    "no-referrer",
  ]);
});

test("an admin authorises, comes back and chooses; the account is there", async () => {
  const begun = dataOf(await mei.post("accounts/authorise", application()), begunAnswer);
  expect(begun.redirect_url).toBe(`${server.url}/console/authorised`);
  const { authorise } = linksOf(await (await fetch(begun.url)).text());
  expect(authorise.origin + authorise.pathname).toBe(begun.redirect_url);
  const returned = Object.fromEntries(authorise.searchParams);
  expect(await tom.post("accounts/authorise/return", { returned })).toMatchObject(refused(/another session/));
  expect(await ann.post("accounts/authorise/return", { returned })).toMatchObject(refused(/Your role/, 2004));
  expect(await token.post("accounts/authorise/return", { returned })).toMatchObject(refused(/sign in/, 2004));
  const seen = dataOf(await mei.post("accounts/authorise/return", { returned }), returnedAnswer);
  expect(seen).toMatchObject({ app_id: app.appId, accounts: [{ name: "Account 7001" }, { name: "Account 7002" }] });
  expect(await mei.post("accounts/authorise/return", { returned })).toMatchObject(refused(/used already/));
  const wish = { authorisation_id: seen.authorisation_id, advertiser_ids: ["7002"] };
  expect(await tom.post("accounts/authorise/choose", wish)).toMatchObject(refused(/another session/));
  const chosen = dataOf(await mei.post("accounts/authorise/choose", wish), chosenAnswer);
  const listed = dataOf(await mei.get("accounts", { app_id: app.appId }), accountListAnswer);
  expect(listed).toEqual(chosen);
  expect(listed.accounts).toMatchObject([
    { advertiser_id: "7002", secrets: ["access_token", "app_secret", "refresh_token"], refresh_state: "lasts" },
  ]);
});

test("the redirect is at the address of the page that asks, and at no other", async () => {
  const from = (origin: string, base_url?: string) =>
    call(`${server.url}/admin/api/v1/accounts/authorise`, {
      method: "POST",
      headers: { ...mei.headers, origin },
      body: JSON.stringify({ ...application(), base_url }),
    });
  const { redirect_url } = dataOf(await from("https://ads.example"), begunAnswer);
  expect(redirect_url).toBe("https://ads.example/console/authorised");
  const same = dataOf(await from("https://ads.example", "https://ads.example/"), begunAnswer);
  expect(same.redirect_url).toBe(redirect_url);
  const other = await from("https://ads.example", "https://evil.example");
  expect(other).toMatchObject(refused(/^base_url must be the address of this console, https:\/\/ads\.example/));
});
