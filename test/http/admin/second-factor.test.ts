import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  begunSecondFactor,
  consoleUserList,
  secondFactorCodes,
  secondFactorState,
  sessionList,
} from "../../../src/contract/setting/session.ts";
import { createAdminUser } from "../../../src/db/admin-user.ts";
import { everywhere, type Role } from "../../../src/domain/access/role.ts";
import { totpCode, totpStep } from "../../../src/domain/access/totp.ts";
import { hashPassword } from "../../../src/password.ts";
import { ADMIN, dataOf } from "../../support/admin-caller.ts";
import { type Answer, answerOf, TouchpointProcess } from "../../support/touchpoint.ts";

const PASSWORD = "correct horse battery";
type Session = { cookie: string; "touchpoint-csrf": string };
type Headers = Record<string, string>;
let server: TouchpointProcess;
let pool: ReturnType<TouchpointProcess["database"]>;

beforeAll(async () => {
  server = await TouchpointProcess.start({ env: { TRUSTED_PROXIES: "127.0.0.1", SECOND_FACTOR_ROLES: "operator" } });
  pool = server.database();
  const passwordHash = await hashPassword(PASSWORD);
  const people: [string, Role][] = [
    ["ann", "admin"],
    ["lin", "analyst"],
    ["mo", "operator"],
    ["zoe", "analyst"],
    ["kim", "analyst"],
  ];
  for (const [name, role] of people)
    await createAdminUser(pool, { name, grants: everywhere(role), passwordHash, nowMs: Date.now() });
});
afterAll(async () => {
  await pool.end();
  expect(await server.stop()).toBe(0);
});

async function call(path: string, body?: object, headers: Headers = {}): Promise<Answer> {
  const init = body === undefined ? { headers } : { method: "POST", headers, body: JSON.stringify(body) };
  return answerOf(await fetch(`${server.url}${ADMIN}/${path}`, init));
}
const enter = (name: string, more: object = {}, headers: Headers = {}) =>
  call("session/sign-in", { name, password: PASSWORD, ...more }, headers);

function sessionOf(answer: Answer): Session {
  expect(answer).toMatchObject({ code: 0 });
  const cookie = answer.headers.getSetCookie().find((one) => one.startsWith("touchpoint_session"))!;
  return { cookie: cookie.split(";")[0]!, "touchpoint-csrf": answer.data.csrf };
}

/** The code that an authenticator app shows. Steps lead on from each other, because each counts once. */
let step = totpStep(Date.now());
const unbase32 = (text: string) => {
  const bits = [...text].map((one) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(one).toString(2).padStart(5, "0"));
  return Buffer.from(
    bits
      .join("")
      .match(/.{8}/g)!
      .map((byte) => Number.parseInt(byte, 2)),
  );
};

async function setUp(session: Session): Promise<{ secret: Buffer; codes: string[] }> {
  const begun = dataOf(await call("session/second-factor", { password: PASSWORD }, session), begunSecondFactor);
  const secret = unbase32(begun.secret);
  step = totpStep(Date.now());
  const code = totpCode(secret, step);
  const { recovery_codes } = dataOf(await call("session/second-factor/confirm", { code }, session), secondFactorCodes);
  return { secret, codes: recovery_codes };
}

describe("a person with a second factor", () => {
  let secret: Buffer;
  let codes: string[];
  let session: Session;

  test("sets it up with the password, and keeps only the session in which that was done", async () => {
    session = sessionOf(await enter("lin"));
    const other = sessionOf(await enter("lin"));
    const wrong = { password: "a wrong password" };
    expect(await call("session/second-factor", wrong, session)).toMatchObject({ code: 2002 });
    ({ secret, codes } = await setUp(session));
    expect(await call("session", undefined, other)).toMatchObject({ code: 2002 });
    const state = dataOf(await call("session/second-factor", undefined, session), secondFactorState);
    expect(state).toEqual({ is_on: true, is_required: false, has_password: true, recovery_codes_left: 10 });
  });

  test("signs in with a code, which is used once", async () => {
    expect(await enter("lin")).toMatchObject({ code: 2008, data: {} });
    expect(await enter("lin", { password: "a wrong password" })).toMatchObject({ code: 2002 });
    expect(await enter("lin", { code: totpCode(secret, step) })).toMatchObject({ code: 2002 });
    expect(await enter("lin", { code: totpCode(secret, step + 1) })).toMatchObject({ code: 0 });
    expect(await enter("lin", { code: totpCode(secret, step + 1) })).toMatchObject({ code: 2002 });
    expect(await enter("lin", { code: codes[0] })).toMatchObject({ code: 0 });
  });

  test("is protected against guessing from any number of addresses, and not locked out of a known browser", async () => {
    const known = (await enter("lin", { code: codes[1] })).headers.getSetCookie().map((one) => one.split(";")[0]);
    const device = { cookie: known.join("; ") };
    const guess = (host: number) => enter("lin", { code: "000000" }, { "x-forwarded-for": `198.18.7.${host}` });
    const answers: number[] = [];
    for (let host = 1; host <= 8; host += 1) answers.push((await guess(host)).code);
    expect(answers).toContain(2003);
    expect(answers.at(-1)).toBe(2003);
    expect(await enter("lin", { code: codes[2] }, device)).toMatchObject({ code: 0 });
    const { rows } = await pool.query("select details from audit_log where action = 'session/sign-in failed'");
    expect(JSON.stringify(rows)).toContain("second factor");
  });

  test("is reset by an admin when it is lost", async () => {
    const admin = sessionOf(await enter("ann"));
    const { users } = dataOf(await call("console-users", undefined, admin), consoleUserList);
    expect(users.find(({ name }: { name: string }) => name === "lin")).toMatchObject({ has_second_factor: true });
    expect(await call("console-users/reset-second-factor", { name: "lin" }, admin)).toMatchObject({ code: 0 });
    expect(await call("session", undefined, session)).toMatchObject({ code: 2002 });
    expect(await enter("lin", {}, { "x-forwarded-for": "198.18.8.1" })).toMatchObject({ code: 0 });
  });
});

test("a role that needs a second factor allows nothing else until it is set up", async () => {
  const session = sessionOf(await enter("mo"));
  expect((await call("session", undefined, session)).data).toMatchObject({ needs_second_factor: true });
  for (const path of ["apps", "health", "api-tokens"])
    expect(await call(path, undefined, session)).toMatchObject({ code: 2008, data: {} });
  expect(await call("campaigns/create", { app_id: 1 }, session)).toMatchObject({ code: 2008 });
  await setUp(session);
  expect(await call("apps", undefined, session)).toMatchObject({ code: 0 });
  expect((await call("session", undefined, session)).data).toMatchObject({ needs_second_factor: false });
});

describe("a token for programs", () => {
  const wish = { name: "nightly", role: "viewer", apps: "all" };
  const make = (session: Session, proof: object) => call("api-tokens/create", { ...wish, ...proof }, session);

  test("needs the password of the person who makes it, with no more guesses than at the sign-in page", async () => {
    const session = sessionOf(await enter("zoe"));
    expect(await make(session, {})).toMatchObject({ code: 2002 });
    expect(await make(session, { password: PASSWORD })).toMatchObject({ code: 0 });
    for (let guess = 0; guess < 5; guess += 1)
      expect(await make(session, { password: `wrong ${guess}` })).toMatchObject({ code: 2002 });
    expect(await make(session, { password: PASSWORD })).toMatchObject({ code: 2003 });
    const change = { password: PASSWORD, new_password: "another good one" };
    expect(await call("session/password", change, session)).toMatchObject({ code: 2003 });
    expect(await call("session/sign-out", {}, session)).toMatchObject({ code: 0 });
  });

  test("needs a code of the second factor from who has no password", async () => {
    const session = sessionOf(await enter("kim"));
    const { secret } = await setUp(session);
    await pool.query("update admin_user set password_hash = 'none' where name = 'kim'");
    expect(await make(session, {})).toMatchObject({ code: 2008 });
    expect(await make(session, { code: "000000" })).toMatchObject({ code: 2002 });
    expect(await make(session, { code: totpCode(secret, step + 1) })).toMatchObject({ code: 0 });
  });

  test("is refused once its owner has signed out everywhere", async () => {
    const session = sessionOf(await enter("zoe"));
    const { token } = (await make(session, { password: PASSWORD })).data;
    const headers = { authorization: `Bearer ${token}` };
    expect(await call("apps", undefined, headers)).toMatchObject({ code: 0 });
    await call("session/sign-out-everywhere", {}, session);
    expect(await call("apps", undefined, headers)).toMatchObject({ code: 2002, msg: "The token was revoked." });
  });
});

describe("sessions", () => {
  const listed = async (session: Session) =>
    dataOf(await call("session/list", undefined, session), sessionList).sessions as Record<string, unknown>[];

  test("are listed with device, address and times, and ended one by one", async () => {
    const here = sessionOf(await enter("zoe", {}, { "user-agent": "Firefox/1" }));
    const there = sessionOf(await enter("zoe", {}, { "user-agent": "Safari/2", "x-forwarded-for": "198.18.9.9" }));
    const sessions = await listed(here);
    expect(sessions).toMatchObject([
      { agent: "Safari/2", address: "198.18.9.9", method: "password", is_current: false },
      { agent: "Firefox/1", address: "127.0.0.1", is_current: true, created_at_ms: expect.any(Number) },
    ]);
    const other = sessionOf(await enter("ann"));
    expect(await call("session/end", { id: sessions[0]!.id }, other)).toMatchObject({ code: 1004 });
    expect(await call("session/end", { id: sessions[0]!.id }, here)).toMatchObject({ code: 0 });
    expect(await call("session", undefined, there)).toMatchObject({ code: 2002 });
    expect(await listed(here)).toHaveLength(1);
  });

  test("end everywhere at once: by the person, or by an admin", async () => {
    const [one, two] = [sessionOf(await enter("zoe")), sessionOf(await enter("zoe"))];
    expect(await call("session/sign-out-everywhere", {}, { cookie: one.cookie })).toMatchObject({ code: 2002 });
    const left = await call("session/sign-out-everywhere", {}, one);
    expect(left).toMatchObject({ code: 0, data: { ended: 3 } });
    expect(left.headers.getSetCookie().join()).toContain("Max-Age=0");
    for (const session of [one, two]) expect(await call("session", undefined, session)).toMatchObject({ code: 2002 });
    const [third, admin] = [sessionOf(await enter("zoe")), sessionOf(await enter("ann"))];
    expect(await call("console-users/sign-out", { name: "zoe" }, admin)).toMatchObject({ data: { ended: 1 } });
    expect(await call("session", undefined, third)).toMatchObject({ code: 2002 });
  });
});
