import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { addPerson } from "../../src/admin/session/people.ts";
import { setAccount } from "../../src/admin/setting/accounts.ts";
import { createSession } from "../../src/db/console-session.ts";
import { loadAccount, loadAccounts } from "../../src/db/platform-account.ts";
import { LIMITS } from "../../src/limits.ts";
import { refreshToken } from "../../src/outbound/account-token.ts";
import { Sender } from "../../src/outbound/sender.ts";
import { accountFieldsOf } from "../../src/platform/account.ts";
import { costConnectorOf } from "../../src/platform/registry.ts";
import { vault } from "../db/temp-database.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { AuthoriseStage, REDIRECT, SIDES, type Side, type SideName } from "./authorise-stage.ts";

const stage = new AuthoriseStage();
const NOW_MS = stage.nowMs;
const DAY_MS = 86_400_000;
const MINUTE_MS = 60_000;
beforeEach(() => {
  stage.nowMs = NOW_MS;
});

const accountOf = (adPlatform: string, advertiserId: string, appId = stage.appId) =>
  loadAccount(stage.pool, vault, { appId, adPlatform, advertiserId });

/** How each platform lists accounts. Of several accounts at Tencent and Baidu, a manager has authorised. */
const LISTS: readonly [SideName, { advertiser_id: string; name: string }[], object][] = [
  ["bytedance", [named("7001"), named("7002"), named("7003")], { left_out: 1 }],
  ["tencent", [named("7001"), named("7002"), named("7003")], { left_out: 0 }],
  ["kuaishou", ["7001", "7002", "7003"].map((id) => ({ advertiser_id: id, name: "" })), { left_out: 0 }],
  ["baidu", [named("7001"), named("7002"), named("7003")], { left_out: 0 }],
];

function named(id: string) {
  return { advertiser_id: id, name: `Account ${id}` };
}

describe.each(LISTS)("%s", (platform, listed, more) => {
  let side: Side;
  beforeAll(async () => {
    stage.appId = await stage.newApp();
    // In pages of two, and at Ocean Engine one of the accounts in a workbench.
    const options = { clock: stage.clock, accounts: ["7001", "7002", "7003"], pageRows: 2 };
    side = await SIDES[platform]({ ...options, workbenches: { "8001": ["7003"] } });
  });
  afterAll(() => side.close());

  test("an authorisation lists its accounts, and those chosen are connected with sealed tokens", async () => {
    const { authorisation_id, ...returned } = await stage.authorise(platform, side);
    const accounts = listed.map((account) => ({ ...account, is_known: false }));
    expect(returned).toEqual({ app_id: stage.appId, ad_platform: platform, accounts, trouble: "", ...more });
    const { accounts: chosen } = await stage.choose(authorisation_id, ["7003", "7001", "7001"]);
    expect(chosen.map(({ advertiser_id }) => advertiser_id)).toEqual(["7001", "7003"]);
    expect(chosen[0]).toMatchObject({ ad_platform: platform, postbacks: "off", costs: "on", refresh_state: "lasts" });
    expect(await accountOf(platform, "7002")).toBeUndefined();
    for (const id of ["7001", "7003"]) {
      expect(await accountOf(platform, id)).toMatchObject({
        settings: side.access.settings,
        secrets: {
          ...side.access.secrets,
          access_token: side.tokens.accessToken,
          refresh_token: side.tokens.refreshToken,
        },
        tokenExpiresAtMs: NOW_MS + DAY_MS,
        refreshExpiresAtMs: NOW_MS + 30 * DAY_MS,
      });
    }
    expect(await stage.count("authorisation")).toBe(0);
  });

  test("accounts of one authorisation share their tokens: a new one for one is the new one for all", async () => {
    const connector = costConnectorOf(platform)!;
    const sender = new Sender({ deadlineMs: PATIENCE_MS, connectionsMax: 1, mayCall: () => true });
    stage.nowMs += 2 * DAY_MS;
    const options = { flow: connector.tokens!, fields: connector.fields, used: side.tokens.accessToken };
    const deps = { pool: stage.pool, vault, clock: stage.clock, sender };
    const key = (advertiserId: string) => ({ appId: stage.appId, adPlatform: platform, advertiserId });
    expect(await refreshToken(deps, key("7003"), options)).toMatchObject({ kind: "refreshed" });
    const calls = side.calls;
    expect(await refreshToken(deps, key("7001"), options)).toMatchObject({ kind: "refreshed" });
    expect(side.calls, "the second has the new token already").toBe(calls);
    for (const account of await loadAccounts(stage.pool, vault, stage.appId)) {
      expect(account.secrets).toMatchObject({
        access_token: side.tokens.accessToken,
        refresh_token: side.tokens.refreshToken,
      });
      expect(account.refreshExpiresAtMs).toBe(NOW_MS + 32 * DAY_MS);
    }
    sender.close();
  });

  test("an account that is connected again keeps its other fields, and is named as known", async () => {
    const account = { app_id: stage.appId, ad_platform: platform, advertiser_id: "7001" };
    await setAccount(
      { ...stage.desk, mayCallPrivate: true },
      { ...account, settings: { currency: "USD" }, costs: "off" },
    );
    const again = await stage.authorise(platform, side, { advertiser_id: "7003" });
    expect(again.accounts.filter(({ is_known }) => is_known).map(({ advertiser_id }) => advertiser_id)).toEqual([
      "7001",
      "7003",
    ]);
    const { accounts } = await stage.choose(again.authorisation_id, ["7001"]);
    expect(accounts).toMatchObject([{ costs: "off", settings: { currency: "USD" } }]);
    const [one, other] = await Promise.all([accountOf(platform, "7001"), accountOf(platform, "7003")]);
    expect(one!.secrets.access_token).toBe(side.tokens.accessToken);
    expect(one!.authorisationId).not.toBe(other!.authorisationId);
  });

  test("a person who refuses, and a code that the platform does not take, connect nothing", async () => {
    const denied = await stage.visit((await stage.begin(platform, side.access)).url, "deny");
    await expect(stage.return(denied)).rejects.toThrow(
      "The platform gave no authorisation: access_denied. Begin again.",
    );
    await expect(stage.return(denied)).rejects.toThrow(/was used already/);
    const late = await stage.visit((await stage.begin(platform, side.access)).url);
    stage.nowMs += 11 * MINUTE_MS;
    const refusal = (await stage.return(late).catch((error: Error) => error)) as Error;
    expect(refusal.message).toMatch(/ answered .*the code has expired. Begin again.$/);
    for (const secret of [...Object.values(side.access.secrets), ...Object.values(late)])
      expect(refusal.message).not.toContain(secret);
    expect(await stage.count("authorisation")).toBe(0);
  });
});

describe("a state", () => {
  let side: Side;
  beforeAll(async () => {
    stage.appId = await stage.newApp();
    side = await SIDES.bytedance({ clock: stage.clock, accounts: ["7001"] });
  });
  afterAll(() => side.close());

  const GONE = /begun in another session, was used already, or took too long/;
  const begun = async () => stage.visit((await stage.begin("bytedance", side.access)).url);

  test("belongs to the session that began, and another session's attempt does not use it up", async () => {
    const back = await begun();
    await expect(stage.return(back, "session-2")).rejects.toThrow(GONE);
    await expect(stage.return(back, "")).rejects.toThrow(/sign in to the console/);
    const { authorisation_id } = await stage.return(back);
    await expect(stage.choose(authorisation_id, ["7001"], "session-2")).rejects.toThrow(GONE);
    await stage.choose(authorisation_id, ["7001"]);
    await expect(stage.choose(authorisation_id, ["7001"])).rejects.toThrow(GONE);
  });

  test("is used once, even by two calls at the same time", async () => {
    const back = await begun();
    const calls = side.calls;
    const outcomes = await Promise.allSettled([stage.return(back), stage.return(back)]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(side.calls, "one exchange and one list").toBe(calls + 2);
  });

  test.each([
    ["at the platform", 15, 0],
    ["to choose", 0, 30],
  ])("ends for a person who takes too long %s", async (_, atPlatform, toChoose) => {
    await stage.pool.query("truncate authorisation");
    const back = await begun();
    stage.nowMs += atPlatform * MINUTE_MS;
    const way = async () => {
      const { authorisation_id } = await stage.return(back);
      stage.nowMs += toChoose * MINUTE_MS;
      return stage.choose(authorisation_id, ["7001"]);
    };
    await expect(way()).rejects.toThrow(GONE);
    await stage.begin("bytedance", side.access);
    expect(await stage.count("authorisation"), "the next one sweeps up").toBe(1);
  });

  test("that nobody was given is refused without a call to the platform", async () => {
    const calls = side.calls;
    for (const returned of [{}, { state: "" }, { state: "guessed", auth_code: "c" }])
      await expect(stage.return(returned as Record<string, string>)).rejects.toThrow(GONE);
    expect(side.calls).toBe(calls);
  });

  test("is kept as a digest, and everything secret is sealed", async () => {
    const back = await begun();
    await stage.return(back);
    const { rows } = await stage.pool.query<{ row: string }>("select to_jsonb(a)::text as row from authorisation a");
    const hidden = [
      back.state!,
      back.auth_code!,
      "session-1",
      side.tokens.accessToken,
      side.access.secrets.app_secret!,
    ];
    for (const secret of hidden) expect(rows.map(({ row }) => row).join()).not.toContain(secret);
  });
});

test("one person's open authorisations are bounded, over all their sessions, and nobody else's are touched", async () => {
  await stage.pool.query("truncate authorisation");
  stage.appId = await stage.newApp();
  const side = await SIDES.bytedance({ clock: stage.clock, accounts: ["7001"] });
  const { user } = await addPerson(stage.desk, { name: "busy", grants: [{ app_id: null, role: "admin" }] });
  const [here, there] = [
    await createSession(stage.pool, user, stage.nowMs),
    await createSession(stage.pool, user, stage.nowMs),
  ];
  const begin = async (session: string) => stage.visit((await stage.begin("bytedance", side.access, session)).url);
  const others = await begin("session-1");
  const returned = await stage.return(await begin(there), there);
  const oldest = await begin(there);
  for (let begun = 1; begun < LIMITS.authorisationsOpen; begun += 1) await begin(here);
  expect(await stage.count("authorisation")).toBe(LIMITS.authorisationsOpen + 1);
  await expect(stage.return(oldest, there)).rejects.toThrow(/Begin again/);
  await stage.choose(returned.authorisation_id, ["7001"], there);
  await stage.return(others);
  await side.close();
});

describe("an authorisation", () => {
  let side: Side;
  beforeAll(async () => {
    stage.appId = await stage.newApp();
    side = await SIDES.bytedance({ clock: stage.clock, accounts: ["7001"] });
  });
  afterAll(() => side.close());

  test("is noted step by step, without secrets", async () => {
    const before = (await noted()).length;
    const { authorisation_id } = await stage.authorise("bytedance", side);
    await stage.choose(authorisation_id, ["7001"]);
    const { settings } = side.access;
    const body = { app_id: stage.appId, ad_platform: "bytedance", settings, secrets: "…", redirect_url: REDIRECT };
    expect((await noted()).slice(before)).toEqual([
      { action: "accounts/authorise", app_id: stage.appId, details: body },
      {
        action: "accounts/authorise/return",
        app_id: stage.appId,
        details: { ad_platform: "bytedance", authorisation_id },
      },
      {
        action: "accounts/authorise/choose",
        app_id: stage.appId,
        details: { authorisation_id, advertiser_ids: ["7001"], ad_platform: "bytedance" },
      },
    ]);
  });

  const noted = async () =>
    (
      await stage.pool.query(
        "select action, app_id, details from audit_log where action ~ 'authorise' order by audit_id",
      )
    ).rows;

  test.each<[string, () => Promise<unknown>, RegExp]>([
    ["another platform", () => stage.begin("vivo"), /vivo has no page for authorisations; these have: tencent/],
    ["somebody without a session", () => stage.begin("bytedance", side.access, ""), /sign in to the console/],
    ["an unknown app", () => stage.begin("bytedance", { app_id: 99_999 }), /no app 99999/],
    ["no application", () => stage.begin("bytedance"), /app_id and app_secret are needed/],
    [
      "a page of another site",
      () => stage.begin("bytedance", withUrl({ authorise_url: "https://ad.oceanengine.com.evil.example/" })),
      /^authorise_url: people and tokens are sent to the platform's own addresses only/,
    ],
    [
      "a token address of another site",
      () => stage.begin("bytedance", withUrl({ oauth_url: "https://evil.example/oauth2" })),
      /^oauth_url: people and tokens/,
    ],
    [
      "an unencrypted page",
      () => stage.begin("bytedance", withUrl({ authorise_url: "http://ad.oceanengine.com/openapi/audit/oauth.html" })),
      /^authorise_url: people and tokens/,
    ],
    ["the application of no account", () => stage.begin("bytedance", { advertiser_id: "1" }), /no such account/],
  ])("for %s is not begun", async (_, begin, sentence) => {
    const before = await stage.count("authorisation");
    await expect(begin()).rejects.toThrow(sentence);
    expect(await stage.count("authorisation")).toBe(before);
  });

  const withUrl = (settings: Record<string, string>) => ({
    settings: { app_id: "1", ...settings },
    secrets: { app_secret: "s" },
  });

  test("sends an existing account's secrets to no other address", async () => {
    const account = { app_id: stage.appId, ad_platform: "bytedance", advertiser_id: "7009" };
    const secrets = { app_secret: "theirs", access_token: "a" };
    await setAccount({ ...stage.desk, mayCallPrivate: true }, { ...account, settings: { app_id: "1" }, secrets });
    const { settings } = side.access;
    await expect(stage.begin("bytedance", { advertiser_id: "7009", settings })).rejects.toThrow(
      /a new address needs the secrets again/,
    );
  });

  test("gives its tokens to no account with addresses of its own", async () => {
    const account = { app_id: stage.appId, ad_platform: "bytedance", advertiser_id: "7001" };
    const url = "https://proxy.example/";
    const own = { ...account, settings: { url }, secrets: { access_token: "", refresh_token: "", app_secret: "" } };
    await setAccount({ ...stage.desk, mayCallPrivate: true }, own);
    const { authorisation_id } = await stage.authorise("bytedance", side);
    await expect(stage.choose(authorisation_id, ["7001"])).rejects.toThrow(/7001 has addresses of its own \(url\)/);
    expect((await accountOf("bytedance", "7001"))!.secrets).toEqual({});
  });

  test("connects only accounts that it has listed", async () => {
    const { authorisation_id } = await stage.authorise("bytedance", side);
    await expect(stage.choose(authorisation_id, ["7777"])).rejects.toThrow(/does not list the account "7777"/);
    expect(await accountOf("bytedance", "7777")).toBeUndefined();
  });

  test("whose list fails is still good for what was listed", async () => {
    const back = await stage.visit((await stage.begin("bytedance", side.access)).url);
    const before = side.calls;
    side.fail = (call) => (call === before + 2 ? "busy" : undefined);
    const returned = await stage.return(back);
    side.fail = () => undefined;
    expect(returned).toMatchObject({ accounts: [], trouble: "Ocean Engine answered 40100: too many requests." });
  });
});

test("typed tokens are an account's own, whatever its authorisation was", async () => {
  stage.appId = await stage.newApp();
  const side = await SIDES.kuaishou({ clock: stage.clock, accounts: ["7001"] });
  const { authorisation_id } = await stage.authorise("kuaishou", side);
  await stage.choose(authorisation_id, ["7001"]);
  const account = { app_id: stage.appId, ad_platform: "kuaishou", advertiser_id: "7001" };
  await setAccount({ ...stage.desk, mayCallPrivate: true }, { ...account, secrets: { refresh_token: "typed" } });
  expect(await accountOf("kuaishou", "7001")).toMatchObject({
    authorisationId: null,
    refreshExpiresAtMs: null,
    tokenExpiresAtMs: null,
  });
  await side.close();
});

test("Baidu's accounts carry their own name, and their manager's id for refreshes", async () => {
  expect(accountFieldsOf("baidu").map(({ name }) => name)).toContain("user_id");
  stage.appId = await stage.newApp();
  const side = await SIDES.baidu({ clock: stage.clock, accounts: ["7001", "7002"] });
  const managed = await stage.authorise("baidu", side);
  await stage.choose(managed.authorisation_id, ["7002"]);
  expect((await accountOf("baidu", "7002"))!.settings).toMatchObject({
    user_id: "46000001",
    user_name: "Account 7002",
  });
  await side.close();
});
