import { beforeAll, expect, test } from "vitest";
import { addPerson, linkPerson, removePerson } from "../../src/admin/session/people.ts";
import {
  assertSecondFactor,
  beginOwnSecondFactor,
  confirmOwnSecondFactor,
  dropOwnSecondFactor,
  resetSecondFactor,
} from "../../src/admin/session/second-factor.ts";
import { setUp, signIn } from "../../src/admin/session/sessions.ts";
import { findAdminUser } from "../../src/db/admin-user.ts";
import { createSession } from "../../src/db/console-session.ts";
import { countRecoveryCodes, loadSecondFactor } from "../../src/db/second-factor.ts";
import { totpCode, totpStep } from "../../src/domain/access/totp.ts";
import { vault } from "../db/temp-database.ts";
import { DeskStage } from "./desk-stage.ts";

const stage = new DeskStage();
const STEP_MS = 30_000;
let nowMs = 1_800_000_000_000;
let session = "";
let codes: string[] = [];
const desk = () => ({ ...stage.desk, clock: () => nowMs });
const lin = async () => (await findAdminUser(stage.pool, "lin"))!;
const own = async () => ({ ...desk(), user: await lin(), session });
const secret = async () => (await loadSecondFactor(stage.pool, vault, (await lin()).userId))!.secret;
const codeNow = async (steps = 0) => totpCode(await secret(), totpStep(nowMs) + steps);
const enter = async (code?: string) =>
  signIn(desk(), await lin(), { name: "lin", password: "x", ...(code && { code }) });
const sessions = () => stage.count("console_session");

beforeAll(async () => {
  await addPerson(stage.desk, { name: "boss", grants: [{ app_id: null, role: "admin" }] });
  await addPerson(stage.desk, { name: "lin", grants: [{ app_id: null, role: "viewer" }] });
  session = await createSession(stage.pool, await lin(), nowMs);
});

test("an unconfirmed secret asks for nothing, and beginning again replaces it", async () => {
  const first = await beginOwnSecondFactor(await own());
  const second = await beginOwnSecondFactor(await own());
  expect(second.secret).not.toBe(first.secret);
  expect(second.uri).toContain(`secret=${second.secret}`);
  await enter();
  expect((await lin()).hasSecondFactor).toBe(false);
  await expect(confirmOwnSecondFactor(await own(), { code: "000000" })).rejects.toThrow(/code is wrong/);
});

test("the first code switches it on, shows ten recovery codes once, and ends other sessions", async () => {
  expect(await sessions()).toBe(2);
  ({ recovery_codes: codes } = await confirmOwnSecondFactor(await own(), { code: await codeNow() }));
  expect(new Set(codes).size).toBe(10);
  expect(codes.every((code) => /^(?:[a-z2-7]{4}-){3}[a-z2-7]{4}$/.test(code))).toBe(true);
  expect(await sessions()).toBe(1);
  expect((await lin()).hasSecondFactor).toBe(true);
  const stored = await stage.pool.query("select * from totp, recovery_code, audit_log");
  const text = JSON.stringify(stored.rows);
  for (const code of codes) expect(text).not.toContain(code.replaceAll("-", ""));
  expect(text).not.toContain((await secret()).toString("hex"));
  await expect(beginOwnSecondFactor(await own())).rejects.toThrow(/on already/);
});

test("without a code nobody is let in, and the refusal is told apart from a wrong password", async () => {
  await expect(enter()).rejects.toMatchObject({ reason: "secondFactor" });
  await expect(enter("123456")).rejects.toMatchObject({ reason: "badSign" });
  expect(await sessions()).toBe(1);
});

test("a code lets in once: not the one that confirmed, not one that was used, not an earlier one", async () => {
  await expect(enter(await codeNow())).rejects.toThrow(/used already/);
  nowMs += 2 * STEP_MS;
  const code = await codeNow();
  await enter(`${code.slice(0, 3)} ${code.slice(3)}`);
  await expect(enter(code)).rejects.toThrow(/used already/);
  await expect(enter(await codeNow(-1))).rejects.toThrow(/used already/);
  await enter(await codeNow(1));
});

test("of two uses of one code at the same instant one is refused", async () => {
  nowMs += 3 * STEP_MS;
  const code = await codeNow();
  const outcomes = await Promise.allSettled([enter(code), enter(code)]);
  expect(outcomes.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
});

test("a code is not used up when the sign-in cannot be noted", async () => {
  nowMs += 3 * STEP_MS;
  const code = await codeNow();
  await stage.withoutAuditLog(async () => {
    await expect(enter(code)).rejects.toThrow(/audit_log/);
  });
  await enter(code);
});

test("each recovery code lets in once, however it is typed", async () => {
  await enter(codes[0]!.toUpperCase());
  await expect(enter(codes[0])).rejects.toThrow(/used already/);
  await enter(codes[1]!.replaceAll("-", " "));
  expect(await countRecoveryCodes(stage.pool, (await lin()).userId)).toBe(8);
});

test("a one-time link needs the code too, and stays usable until it is given", async () => {
  const { setupToken: token } = await linkPerson(stage.desk, { name: "lin" });
  const link = { passwordHash: "hash", validMs: 1e15 };
  const body = { token, password: "a new password" };
  await expect(setUp(desk(), body, link)).rejects.toMatchObject({ reason: "secondFactor" });
  await expect(setUp(desk(), { ...body, code: "000000" }, link)).rejects.toMatchObject({ reason: "badSign" });
  nowMs += 3 * STEP_MS;
  expect(await setUp(desk(), { ...body, code: await codeNow() }, link)).toMatchObject({ method: "link" });
  session = await createSession(stage.pool, await lin(), nowMs);
});

test("switching off needs a code; an admin resets without one, and all sessions end", async () => {
  await expect(dropOwnSecondFactor(await own(), { code: "000000" })).rejects.toThrow(/code is wrong/);
  await dropOwnSecondFactor(await own(), { code: codes[2]! });
  expect(await sessions()).toBe(1);
  await enter();
  await beginOwnSecondFactor(await own());
  await confirmOwnSecondFactor(await own(), { code: await codeNow() });
  await resetSecondFactor(stage.desk, { name: "lin" });
  expect([await sessions(), (await lin()).hasSecondFactor]).toEqual([0, false]);
  await expect(resetSecondFactor(stage.desk, { name: "lin" })).rejects.toThrow(/has no second factor/);
  await expect(resetSecondFactor(stage.desk, { name: "dan" })).rejects.toThrow(/no person named/);
  const actions = (await stage.pool.query("select action from audit_log order by audit_id")).rows;
  expect(actions.map(({ action }) => action).slice(-4)).toEqual([
    "session/second-factor/remove",
    "session/sign-in",
    "session/second-factor/confirm",
    "console-users/reset-second-factor",
  ]);
});

test("nothing of it is left when the person goes", async () => {
  await beginOwnSecondFactor(await own());
  const { userId } = await lin();
  await removePerson(stage.desk, { name: "lin" });
  expect([await stage.count("totp"), await stage.count("recovery_code")]).toEqual([0, 0]);
  await assertSecondFactor(stage.pool, desk(), { userId, code: undefined });
});
