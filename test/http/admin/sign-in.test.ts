import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createAdminUser, createSetupLink, findAdminUser } from "../../../src/db/admin-user.ts";
import { createSession } from "../../../src/db/console-session.ts";
import { everywhere } from "../../../src/domain/access/role.ts";
import { hashPassword } from "../../../src/password.ts";
import { ADMIN } from "../../support/admin-caller.ts";
import { type Answer, answerOf, TouchpointProcess } from "../../support/touchpoint.ts";

const PASSWORD = "correct horse battery";
let server: TouchpointProcess;
let pool: ReturnType<TouchpointProcess["database"]>;

beforeAll(async () => {
  server = await TouchpointProcess.start({ env: { TRUSTED_PROXIES: "127.0.0.1" } });
  pool = server.database();
  const passwordHash = await hashPassword(PASSWORD);
  for (const name of ["ann", "bob"]) {
    await createAdminUser(pool, { name, grants: everywhere("admin"), passwordHash, nowMs: Date.now() });
  }
  // Invited, and has not set a password yet.
  await createAdminUser(pool, { name: "cy", grants: everywhere("analyst"), passwordHash: "none", nowMs: Date.now() });
});
afterAll(async () => {
  await pool.end();
  expect(await server.stop()).toBe(0);
});

type Headers = Record<string, string>;

/** Each test has its own addresses. */
let network = 0;
let at: (host: number) => Headers;
beforeEach(() => {
  network += 1;
  const own = network;
  at = (host) => ({ "x-forwarded-for": `198.18.${own}.${host}` });
});

async function call(path: string, body: object, headers: Headers): Promise<Answer> {
  const init = { method: "POST", headers, body: JSON.stringify(body) };
  return answerOf(await fetch(`${server.url}${ADMIN}/session/${path}`, init));
}

const signIn = (name: string, headers: Headers, password = PASSWORD) => call("sign-in", { name, password }, headers);
const guess = (name: string, headers: Headers) => signIn(name, headers, "a wrong password");

async function fail(name: string, headers: Headers, times: number): Promise<void> {
  for (let tries = 0; tries < times; tries += 1) expect(await guess(name, headers)).toMatchObject({ code: 2002 });
}

async function hashes(): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  return Number(/^touchpoint_password_hashes_total (\d+)$/m.exec(text)![1]);
}

const cookiesOf = ({ headers }: Answer) =>
  headers
    .getSetCookie()
    .map((cookie) => cookie.split(";")[0])
    .join("; ");

test("of 400 simultaneous sign-ins from one IPv6 network five are checked, and a link call is acknowledged meanwhile", async () => {
  const app = await server.createApp();
  const [before, startedMs] = [await hashes(), Date.now()];
  const within = (host: number) => ({ "x-forwarded-for": `2001:db8:1:2::${host.toString(16)}` });
  const guesses = Array.from({ length: 400 }, (_, host) => guess("ann", within(host)));
  const link = { app_id: String(app.appId), company: "tencent", click_id: "c" };
  expect(await server.get("/event_center/api/v1/event/click/", link)).toMatchObject({ code: 0 });
  const answers = await Promise.all(guesses);
  const checked = answers.filter(({ code }) => code === 2002).length;
  const refused = answers.filter(({ code }) => code === 2003);
  // On a very busy machine, connections to the database may not come in time.
  const away = answers.filter(({ code }) => code === 5003).length;
  expect(checked + refused.length + away).toBe(400);
  for (const { headers } of refused) expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
  expect((await hashes()) - before).toBe(checked);
  // If sending takes longer than 15 s, one more may be tried.
  expect(checked).toBeLessThanOrEqual(5 + Math.floor((Date.now() - startedMs) / 15_000));
  expect(await signIn("ann", { "x-forwarded-for": "2001:db8:1:3::1" })).toMatchObject({ code: 0 });
});

describe("after failures, sign-in has to wait", () => {
  test("for that name from that address, but not for other names, a known browser or the same name elsewhere", async () => {
    const cookie = cookiesOf(await signIn("ann", at(1)));
    await fail("ann", at(1), 5);
    for (const name of ["ann", " Ann"]) expect(await signIn(name, at(1))).toMatchObject({ code: 2003 });
    expect(await signIn("ann", { ...at(1), cookie })).toMatchObject({ code: 0 });
    expect(await signIn("bob", at(1))).toMatchObject({ code: 0 });
    expect(await signIn("ann", at(2))).toMatchObject({ code: 0 });
  });

  test("for every name from that address, once many names were tried", async () => {
    for (let number = 0; number < 20; number += 1) await fail(`nobody ${number}`, at(1), 1);
    expect(await signIn("ann", at(1))).toMatchObject({ code: 2003 });
    expect(await signIn("ann", at(2))).toMatchObject({ code: 0 });
  });

  test("when the password of a session is guessed", async () => {
    const signedIn = await signIn("bob", at(1));
    const headers = { ...at(1), cookie: cookiesOf(signedIn), "touchpoint-csrf": signedIn.data.csrf };
    const change = (password: string) => call("password", { password, new_password: "another good one" }, headers);
    for (let tries = 0; tries < 5; tries += 1) expect(await change("wrong")).toMatchObject({ code: 2002 });
    expect(await change(PASSWORD)).toMatchObject({ code: 2003 });
    expect(await signIn("bob", at(1))).toMatchObject({ code: 0 });
  });
});

describe("answers do not reveal who exists:", () => {
  test.each(["nobody", "cy", "ann"])(
    "a wrong password for %s is hashed once and refused in the same words",
    async (name) => {
      const before = await hashes();
      expect(await guess(name, at(1))).toMatchObject({ code: 2002, msg: "Name or password is wrong." });
      expect((await hashes()) - before).toBe(1);
    },
  );

  test("a one-time token that is unknown, used or expired is refused in the same words, and nothing is hashed", async () => {
    const userId = (await pool.query("select user_id from admin_user where name = 'cy'")).rows[0].user_id;
    const old = await createSetupLink(pool, { userId, nowMs: Date.now() - 25 * 3_600_000 });
    const setup = (token: string, password = PASSWORD) => call("setup", { token, password }, at(1));
    const refused = [await setup("made-up"), await setup(old)];
    const good = await createSetupLink(pool, { userId, nowMs: Date.now() });
    expect(await setup(good)).toMatchObject({ code: 0 });
    const before = await hashes();
    refused.push(await setup(good), await setup("made-up"));
    expect(new Set(refused.map(({ code, msg }) => `${code} ${msg}`))).toEqual(new Set([`2002 ${refused[0]!.msg}`]));
    expect(await hashes()).toBe(before);
  });
});

describe("a page of another site", () => {
  const own = () => new URL(server.url).host;
  const session = async () => {
    const ann = await findAdminUser(pool, "ann");
    return `touchpoint_session=${await createSession(pool, ann!, Date.now())}`;
  };
  const foreign: Headers[] = [
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { origin: "https://evil.example" },
    { origin: "null" },
  ];

  test.each(foreign)("cannot sign in, set a password or sign out: %j", async (headers) => {
    const other = { code: 2002, msg: "The request was sent by a page of another site." };
    expect(await signIn("ann", { ...at(1), ...headers })).toMatchObject(other);
    expect(await call("setup", { token: "t", password: PASSWORD }, { ...at(1), ...headers })).toMatchObject(other);
    const cookie = await session();
    expect(await call("sign-out", {}, { ...headers, cookie })).toMatchObject(other);
    const who = await fetch(`${server.url}${ADMIN}/session`, { headers: { cookie } });
    expect(await answerOf(who)).toMatchObject({ code: 0 });
  });

  test("is told from our own by the called host, even behind a proxy", async () => {
    const passes = async (headers: Headers) => (await signIn("ann", { ...at(1), ...headers })).code === 0;
    expect(await passes({ "sec-fetch-site": "same-origin", origin: "https://console.example" })).toBe(true);
    expect(await passes({ origin: `http://${own()}` })).toBe(true);
    const forwarded = { "x-forwarded-host": "console.example:443" };
    expect(await passes({ origin: "https://console.example", ...forwarded })).toBe(true);
    expect(await passes({ origin: "https://console.example:8443", ...forwarded })).toBe(false);
    expect(await passes({ origin: "https://console.example" })).toBe(false);
  });
});
