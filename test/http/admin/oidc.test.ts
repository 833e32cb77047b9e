import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { signedIn, signInWays } from "../../../src/contract/setting/session.ts";
import { createAdminUser, createSetupLink } from "../../../src/db/admin-user.ts";
import { everywhere } from "../../../src/domain/access/role.ts";
import { hashPassword } from "../../../src/password.ts";
import { ADMIN, dataOf, refused } from "../../support/admin-caller.ts";
import { type Fault, type Person, StandInProvider } from "../../support/identity-provider.ts";
import { type Answer, answerOf, TouchpointProcess } from "../../support/touchpoint.ts";

const PASSWORD = "correct horse battery";
let provider: StandInProvider;
let server: TouchpointProcess;
let pool: ReturnType<TouchpointProcess["database"]>;
type Headers = Record<string, string>;

beforeAll(async () => {
  provider = await StandInProvider.start();
  const roles = JSON.stringify({ admins: "admin", bi: "viewer analyst=77", all: "operator" });
  const env = { ...provider.env, OIDC_ROLES: roles, OIDC_PEOPLE: "create", PASSWORD_SIGN_IN: "off" };
  server = await TouchpointProcess.start({ env: { ...env, TRUSTED_PROXIES: "127.0.0.1" } });
  pool = server.database();
  provider.redirects.add(`${server.url}/console/signed-in`);
});
afterAll(async () => {
  await pool.end();
  expect(await server.stop()).toBe(0);
  await provider.stop();
});

/** Each test has its own address, because refusals are counted. */
let host = 0;
beforeEach(() => {
  host += 1;
  provider.fault = "none";
});

async function call(path: string, body?: object, headers: Headers = {}): Promise<Answer> {
  const own = { origin: server.url, "x-forwarded-for": `198.18.20.${host}`, ...headers };
  const init = body === undefined ? { headers: own } : { method: "POST", headers: own, body: JSON.stringify(body) };
  return answerOf(await fetch(`${server.url}${ADMIN}/${path}`, init));
}

const cookiesOf = (answer: Answer) =>
  answer.headers
    .getSetCookie()
    .map((one) => one.split(";")[0]!)
    .join("; ");

type Away = { cookie: string; returned: Record<string, string> };

/** Goes to the provider as a browser does, and comes back with its answer. */
async function away(person: Person, fault: Fault = "none"): Promise<Away> {
  Object.assign(provider, { person, fault });
  const begun = await call("session/oidc", {});
  expect(begun).toMatchObject({ code: 0 });
  const page = await fetch(begun.data.url, { redirect: "manual" });
  expect(page.status).toBe(302);
  const back = new URL(page.headers.get("location")!);
  expect(back.href).toMatch(new RegExp(`^${server.url}/console/signed-in\\?`));
  return { cookie: cookiesOf(begun), returned: Object.fromEntries(back.searchParams) };
}

const enter = ({ cookie, returned }: Away) => call("session/oidc/return", { returned }, { cookie });
const comeBack = async (person: Person, fault?: Fault) => enter(await away(person, fault));
const LIN: Person = { sub: "lin-1", email: "Lin@Example.com", email_verified: true, groups: ["bi", "other"] };
const grantsOf = (answer: Answer) => answer.data.grants.map(({ app_id, role }: any) => [app_id, role]);

test("the sign-in page learns the ways", async () => {
  expect(dataOf(await call("session/ways"), signInWays)).toEqual({ password: false, oidc: "Stand-in" });
});

describe("a person of the provider", () => {
  test("is made at the first sign-in, with the roles of the groups, and a session like any other", async () => {
    const answer = await comeBack(LIN);
    const data = dataOf(answer, signedIn);
    expect(data.name).toBe("lin@example.com");
    expect(grantsOf(answer)).toEqual([
      [null, "viewer"],
      [77, "analyst"],
    ]);
    const headers = { cookie: cookiesOf(answer), "touchpoint-csrf": data.csrf };
    const { sessions } = (await call("session/list", undefined, headers)).data;
    expect(sessions).toMatchObject([{ method: "oidc", is_current: true }]);
    const out = await call("session/sign-out", {}, headers);
    const url = new URL(out.data.provider_url);
    expect(url.origin + url.pathname).toBe(`${provider.issuer}/end-session`);
    expect(url.searchParams.get("post_logout_redirect_uri")).toBe(`${server.url}/console/`);
    expect(await call("session", undefined, headers)).toMatchObject({ code: 2002 });
  });

  test("stays the same person by the subject when the address changes, and gets the roles of the present groups", async () => {
    const moved = { ...LIN, email: "lin@elsewhere.example", groups: ["all", "bi"] };
    const answer = await comeBack(moved);
    expect(answer.data.name).toBe("lin@example.com");
    expect(grantsOf(answer)).toEqual([
      [null, "operator"],
      [77, "analyst"],
    ]);
    const { rows } = await pool.query("select actor, details from audit_log where action = 'session/oidc/return'");
    expect(rows.at(-1)).toMatchObject({ actor: "lin@example.com", details: { subject: "lin-1" } });
  });

  test("without a verified address, or without a group that has a role, is told so", async () => {
    const unverified = { ...LIN, sub: "new-1", email_verified: false };
    expect(await comeBack(unverified)).toMatchObject(refused(/address is verified/, 2004));
    const stranger = { ...LIN, sub: "new-2", groups: [] };
    expect(await comeBack(stranger)).toMatchObject(refused(/None of your groups/, 2004));
  });

  test("who has left all groups is refused, and every session ends", async () => {
    const answer = await comeBack(LIN);
    const headers = { cookie: cookiesOf(answer), "touchpoint-csrf": answer.data.csrf };
    expect(await call("apps", undefined, headers)).toMatchObject({ code: 0 });
    expect(await comeBack({ ...LIN, groups: [] })).toMatchObject(refused(/None of your groups/, 2004));
    expect(await call("apps", undefined, headers)).toMatchObject({ code: 2002 });
  });

  test("with somebody else's address is not taken for them", async () => {
    expect(await comeBack({ ...LIN, sub: "thief" })).toMatchObject(refused(/linked with another account/, 2004));
  });

  test("is recognised by claims that only the user-info endpoint tells", async () => {
    const answer = await comeBack({ ...LIN, sub: "zoe-1", email: "zoe@example.com" }, "claims_in_userinfo");
    expect(answer).toMatchObject({ code: 0, data: { name: "zoe@example.com" } });
    expect(provider.calls).toContain("/userinfo");
  });
});

describe("what comes back is refused", () => {
  test.each<[Fault, RegExp]>([
    ["other_state", /does not hold: unexpected "state"/],
    ["other_nonce", /does not hold: unexpected ID Token "nonce"/],
    ["other_audience", /does not hold: unexpected JWT "aud"/],
    ["other_issuer", /does not hold: unexpected JWT "iss"/],
    ["foreign_key", /does not hold: JWT signature verification failed/],
    ["ended", /does not hold: unexpected JWT "exp"/],
    ["no_id_token", /does not hold: .*"id_token"/],
  ])("when the provider %s", async (fault, sentence) => {
    const before = (await pool.query("select count(*) from console_session")).rows;
    expect(await comeBack(LIN, fault)).toMatchObject(refused(sentence, 2002));
    expect((await pool.query("select count(*) from console_session")).rows).toEqual(before);
  });

  test("when the person says no at the provider, which counts as no failed attempt", async () => {
    const sentence = /identity provider refuses: access_denied, The person said no/;
    for (let tries = 0; tries < 25; tries += 1)
      expect(await comeBack(LIN, "denies")).toMatchObject(refused(sentence, 2004));
    expect(await comeBack(LIN)).toMatchObject({ code: 0 });
  });

  test("in another browser, a second time, after a change, or too late", async () => {
    const one = await away(LIN);
    const other = await away(LIN);
    expect(await enter({ ...one, cookie: "" })).toMatchObject(refused(/another browser/, 2002));
    expect(await enter({ ...one, cookie: `${one.cookie}x` })).toMatchObject(refused(/another browser/, 2002));
    expect(await enter({ ...one, cookie: other.cookie })).toMatchObject(refused(/does not hold/, 2002));
    expect(await enter(other)).toMatchObject({ code: 0 });
    expect(await enter(other)).toMatchObject(refused(/refuses: invalid_grant/, 2002));
  });

  test("from a page of another site", async () => {
    const headers = { origin: "https://evil.example", "sec-fetch-site": "cross-site" };
    expect(await call("session/oidc", {}, headers)).toMatchObject(refused(/page of another site/, 2002));
    const { cookie, returned } = await away(LIN);
    expect(await call("session/oidc/return", { returned }, { ...headers, cookie })).toMatchObject({ code: 2002 });
  });

  test("more and more slowly when one address, which may be an office, fails again and again", async () => {
    const codes: number[] = [];
    const fail = async () => codes.push((await comeBack(LIN, "other_nonce")).code);
    for (let tries = 0; tries < 10; tries += 1) await fail();
    // A colleague's success takes back its own attempt alone.
    expect(await comeBack(LIN)).toMatchObject({ code: 0 });
    for (let tries = 0; tries < 11; tries += 1) await fail();
    expect(codes).toEqual([...Array(20).fill(2002), 2003]);
  });
});

test("passwords are off, and a one-time link still lets somebody in", async () => {
  const passwordHash = await hashPassword(PASSWORD);
  const user = await createAdminUser(pool, {
    name: "boss",
    grants: everywhere("admin"),
    passwordHash,
    nowMs: Date.now(),
  });
  const given = { name: "boss", password: PASSWORD };
  expect(await call("session/sign-in", given)).toMatchObject(refused(/password is switched off/, 2004));
  const token = await createSetupLink(pool, { userId: user!.userId, nowMs: Date.now() });
  expect(await call("session/setup", { token, password: PASSWORD })).toMatchObject({ code: 0, data: { name: "boss" } });
});
