import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { auditPage, consoleUserList, invitedUser, signedIn } from "../../../src/contract/setting/session.ts";
import { createSetupLink } from "../../../src/db/admin-user.ts";
import { LIMITS } from "../../../src/limits.ts";
import { ADMIN, adminTokenOf, dataOf } from "../../support/admin-caller.ts";
import { type Answer, answerOf, TouchpointProcess } from "../../support/touchpoint.ts";

const PASSWORD = "correct horse battery";
let server: TouchpointProcess;
let pool: ReturnType<TouchpointProcess["database"]>;

beforeAll(async () => {
  server = await TouchpointProcess.start();
  pool = server.database();
});

afterAll(async () => {
  await pool.end();
  expect(await server.stop()).toBe(0);
});

type Session = { cookie: string; csrf: string };

async function call(path: string, body?: object, headers: Record<string, string> = {}): Promise<Answer> {
  const init = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
  return answerOf(await fetch(`${server.url}${ADMIN}/${path}`, init));
}

function sessionOf(answer: Answer): Session {
  const [cookie] = answer.headers.getSetCookie();
  return { cookie: cookie!.split(";")[0]!, csrf: answer.data.csrf };
}

const as = ({ cookie, csrf }: Session) => ({ cookie, "touchpoint-csrf": csrf });
const link = (userId: number | null) => createSetupLink(pool, { userId, nowMs: Date.now() });

async function signIn(name: string, password = PASSWORD): Promise<Session> {
  return sessionOf(await call("session/sign-in", { name, password }));
}

let admin: Session;
let analyst: Session;

describe("the first admin", () => {
  test("is created by a one-time link, which works once", async () => {
    const token = await link(null);
    expect(await call("session/setup", { token, name: "Ann", password: "short" })).toMatchObject({ code: 1004 });
    const made = await call("session/setup", { token, name: " Ann ", password: PASSWORD });
    expect(made).toMatchObject({ code: 0, data: { name: "ann", grants: [{ app_id: null, role: "admin" }] } });
    admin = sessionOf(made);
    expect(await call("session/setup", { token, name: "eve", password: PASSWORD })).toMatchObject({ code: 2002 });
    const late = await link(null);
    expect(await call("session/setup", { token: late, name: "eve", password: PASSWORD })).toMatchObject({ code: 2004 });
  });

  test("has a cookie that scripts cannot read and other sites cannot send", async () => {
    const answer = await call("session/sign-in", { name: "ann", password: PASSWORD }, { "x-forwarded-proto": "https" });
    const [cookie] = answer.headers.getSetCookie();
    for (const attribute of ["HttpOnly", "SameSite=Strict", "Secure", "Path=/"]) expect(cookie).toContain(attribute);
    const plain = await call("session/sign-in", { name: "ann", password: PASSWORD });
    expect(plain.headers.getSetCookie()[0]).not.toContain("Secure");
  });

  test("has neither password nor session stored in the clear", async () => {
    const tables = ["admin_user", "console_session", "setup_link", "audit_log"];
    const rows = await Promise.all(tables.map(async (table) => (await pool.query(`select * from ${table}`)).rows));
    const text = JSON.stringify(rows);
    expect(text).not.toContain(PASSWORD);
    expect(text).not.toContain(admin.cookie.split("=")[1]);
    expect(text).toContain("scrypt$");
  });
});

describe("a session", () => {
  test("says who is signed in, or that nobody is", async () => {
    const own = dataOf(await call("session", undefined, as(admin)), signedIn);
    const may = ["report", "detail", "operate", "setting", "installation"];
    const grants = [{ app_id: null, role: "admin", may }];
    expect(own).toEqual({ name: "ann", grants, needs_second_factor: false, csrf: admin.csrf });
    expect(await call("session")).toMatchObject({ code: 2002 });
    expect(await call("session", undefined, { cookie: "touchpoint_session=made-up" })).toMatchObject({ code: 2002 });
  });

  test("changes nothing without its own header: another site can send the cookie, but not the header", async () => {
    const body = { name: "bob", grants: [{ app_id: null, role: "analyst" }] };
    expect(await call("console-users/create", body, { cookie: admin.cookie })).toMatchObject({ code: 2002 });
    const other = await signIn("ann");
    const mixed = { cookie: admin.cookie, "touchpoint-csrf": other.csrf };
    expect(await call("console-users/create", body, mixed)).toMatchObject({ code: 2002 });
    const { users } = dataOf(await call("console-users", undefined, as(admin)), consoleUserList);
    expect(users).toMatchObject([{ name: "ann" }]);
  });

  test("ends on sign-out, and only that one", async () => {
    const one = await signIn("ann");
    const two = await signIn("ann");
    expect(await call("session/sign-out", {}, as(one))).toMatchObject({ code: 0 });
    expect(await call("session", undefined, as(one))).toMatchObject({ code: 2002 });
    expect(await call("session", undefined, as(two))).toMatchObject({ code: 0 });
  });

  test("ends after 12 hours of inactivity, and after 7 days", async () => {
    const hour = 3_600_000;
    for (const [seen, created, code] of [
      [11.9 * hour, 11.9 * hour, 0],
      [12.1 * hour, 12.1 * hour, 2002],
      [hour, 6.9 * 24 * hour, 0],
      [hour, 7.1 * 24 * hour, 2002],
    ] as const) {
      const session = await signIn("ann");
      const digest = (await pool.query("select token_digest from console_session order by created_at_ms desc limit 1"))
        .rows[0];
      const values = [Date.now() - seen, Date.now() - created, digest.token_digest];
      await pool.query(
        "update console_session set seen_at_ms = $1, created_at_ms = $2 where token_digest = $3",
        values,
      );
      expect((await call("session", undefined, as(session))).code).toBe(code);
    }
  });

  test("of other browsers ends with a new password; the old password no longer works", async () => {
    const other = await signIn("ann");
    const body = { password: PASSWORD, new_password: "another good one" };
    expect(await call("session/password", { ...body, password: "wrong" }, as(admin))).toMatchObject({ code: 2002 });
    admin = sessionOf(await call("session/password", body, as(admin)));
    expect(await call("session", undefined, as(other))).toMatchObject({ code: 2002 });
    expect(await call("session", undefined, as(admin))).toMatchObject({ code: 0 });
    expect(await call("session/sign-in", { name: "ann", password: PASSWORD })).toMatchObject({ code: 2002 });
    const back = { password: "another good one", new_password: PASSWORD };
    admin = sessionOf(await call("session/password", back, as(admin)));
  });
});

describe("an analyst", () => {
  test("is added by an admin and sets the password through the link", async () => {
    const made = await call(
      "console-users/create",
      { name: "bob", grants: [{ app_id: null, role: "analyst" }] },
      as(admin),
    );
    expect(dataOf(made, invitedUser)).toMatchObject({ name: "bob", grants: [{ app_id: null, role: "analyst" }] });
    expect(await call("session/sign-in", { name: "bob", password: "none" })).toMatchObject({ code: 2002 });
    analyst = sessionOf(await call("session/setup", { token: made.data.setup_token, password: PASSWORD }));
    expect(
      await call("console-users/create", { name: "BOB", grants: [{ app_id: null, role: "admin" }] }, as(admin)),
    ).toMatchObject({ code: 1004 });
  });

  test("may see everything, and change nothing", async () => {
    const app = await server.createApp();
    expect(await call(`campaigns?app_id=${app.appId}`, undefined, as(analyst))).toMatchObject({ code: 0 });
    const tried = { app_id: app.appId, from: "2026-01-01", to: "2026-01-02", rules: { click_window: "3d" } };
    expect(await call("attribution/what-if", tried, as(analyst))).toMatchObject({ code: 0 });
    expect(await call("campaigns/create", { app_id: app.appId }, as(analyst))).toMatchObject({ code: 2004 });
    expect(
      await call("console-users/role", { name: "bob", grants: [{ app_id: null, role: "admin" }] }, as(analyst)),
    ).toMatchObject({ code: 2004 });
    expect(await call("campaigns/create", { app_id: app.appId }, as(admin))).toMatchObject({ code: 0 });
  });
});

test("the last admin stays, and a removed person is signed out at once", async () => {
  expect(
    await call("console-users/role", { name: "ann", grants: [{ app_id: null, role: "analyst" }] }, as(admin)),
  ).toMatchObject({ code: 1004 });
  expect(await call("console-users/remove", { name: "ann" }, as(admin))).toMatchObject({ code: 1004 });
  expect(await call("console-users/remove", { name: "nobody" }, as(admin))).toMatchObject({ code: 1004 });
  expect(await call("console-users/remove", { name: "bob" }, as(admin))).toMatchObject({ code: 0 });
  expect(await call("session", undefined, as(analyst))).toMatchObject({ code: 2002 });
});

test("every change is in the audit log, with its author and without secrets", async () => {
  const token = { authorization: `Bearer ${adminTokenOf(server)}` };
  const app = await server.createApp();
  await call("campaigns/create", { app_id: app.appId, name: "spring" }, token);
  await call("campaigns/create", { app_id: app.appId, ad_platform: "!" }, token);
  const { entries } = (await call(`audit?app_id=${app.appId}`, undefined, as(admin))).data;
  expect(entries).toMatchObject([{ actor: "admin token", action: "campaigns/create", details: { name: "spring" } }]);
  const all = (await call("audit", undefined, as(admin))).data.entries;
  expect(all.map((entry: any) => entry.action)).toEqual(
    expect.arrayContaining(["session/sign-in", "session/setup", "session/password", "console-users/remove"]),
  );
  expect(JSON.stringify(all)).not.toContain(PASSWORD);
  const older = (await call(`audit?before=${all[0].id}`, undefined, as(admin))).data.entries;
  expect(older[0].id).toBe(all[1].id);
});

test("a person who has forgotten the password gets a new link, which voids the earlier one", async () => {
  const made = await call(
    "console-users/create",
    { name: "cy", grants: [{ app_id: null, role: "analyst" }] },
    as(admin),
  );
  const again = dataOf(await call("console-users/link", { name: "Cy" }, as(admin)), invitedUser);
  const setup = (token: string) => call("session/setup", { token, password: PASSWORD });
  expect(await setup(made.data.setup_token)).toMatchObject({ code: 2002 });
  expect(await setup(again.setup_token)).toMatchObject({ code: 0, data: { name: "cy" } });
  expect(await call("console-users/link", { name: "nobody" }, as(admin))).toMatchObject({ code: 1004 });
});

test("the audit log is read page by page to its end", async () => {
  await pool.query(
    `insert into audit_log (at_ms, actor, address, action, app_id, details)
      select g, 'x', '', 'many', 7, '{}' from generate_series(1, ${2 * LIMITS.auditListed + 1}) g`,
  );
  const pageOf = async (query: string) => dataOf(await call(`audit?app_id=7${query}`, undefined, as(admin)), auditPage);
  const sizes: number[] = [];
  const seen = new Set<number>();
  for (let before: number | null | undefined; before !== null; ) {
    const page = await pageOf(before === undefined ? "" : `&before=${before}`);
    sizes.push(page.entries.length);
    for (const { id } of page.entries) seen.add(id);
    before = page.next_before;
  }
  expect(sizes).toEqual([LIMITS.auditListed, LIMITS.auditListed, 1]);
  expect(seen.size).toBe(2 * LIMITS.auditListed + 1);
  expect(await call("audit?before=x", undefined, as(admin))).toMatchObject({ code: 1004 });
});
