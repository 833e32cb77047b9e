import { beforeAll, describe, expect, test } from "vitest";
import { createApp } from "../../src/admin/apps.ts";
import { endApiToken, grantsOf, makeApiToken, nameOfToken, stateOfToken } from "../../src/admin/session/api-tokens.ts";
import {
  addPerson,
  changePersonRole,
  linkPerson,
  removePerson,
  signOutPerson,
} from "../../src/admin/session/people.ts";
import { resetSecondFactor } from "../../src/admin/session/second-factor.ts";
import { changeOwnPassword, endOwnSessions, setUp } from "../../src/admin/session/sessions.ts";
import { findAdminUser, loadAdminUser } from "../../src/db/admin-user.ts";
import { findApiToken, loadApiTokens } from "../../src/db/api-token.ts";
import { beginSecondFactor, confirmSecondFactor } from "../../src/db/second-factor.ts";
import { LIMITS } from "../../src/limits.ts";
import { vault } from "../db/temp-database.ts";
import { DeskStage } from "./desk-stage.ts";

const stage = new DeskStage();
const DAY_MS = 86_400_000;
let [one, other] = [0, 0];
let userId = 0;
const grants = (...given: [number | null, "viewer" | "analyst" | "operator" | "admin"][]) =>
  given.map(([app_id, role]) => ({ app_id, role }));
const nowMs = () => stage.desk.clock();

beforeAll(async () => {
  [one, other] = [
    (await createApp(stage.desk, { name: "One" })).appId,
    (await createApp(stage.desk, { name: "Other" })).appId,
  ];
  await addPerson(stage.desk, { name: "boss", grants: grants([null, "admin"]) });
  ({ userId } = (await addPerson(stage.desk, { name: "lin", grants: grants([one, "operator"]) })).user);
});

async function lin() {
  return { ...stage.desk, owner: (await loadAdminUser(stage.pool, userId))!, mayRevokeAll: false };
}
const found = async (token: string) => (await findApiToken(stage.pool, { token, nowMs: nowMs() }))!;

test("a token is shown once, kept as a digest, and noted without it", async () => {
  const { token, made } = await makeApiToken(await lin(), { name: "nightly", role: "analyst", apps: [one, one] });
  expect(token).toMatch(/^tpa_[\w-]{43}$/);
  expect(made).toMatchObject({
    owner: "lin",
    appIds: [one],
    endsAtMs: nowMs() + 90 * DAY_MS,
    prefix: token.slice(0, 10),
  });
  expect(nameOfToken(made)).toBe(`lin (token nightly ${token.slice(0, 10)}…)`);
  const { rows } = await stage.pool.query("select * from api_token");
  const log = await stage.audit();
  expect(JSON.stringify([rows, log])).not.toContain(token);
  const noted = { name: "nightly", role: "analyst", apps: [one, one], id: made.tokenId, prefix: made.prefix };
  expect(log.at(-1)).toEqual({ action: "api-tokens/create", appId: null, details: noted });
});

test("a token that cannot be noted is not made", async () => {
  const before = await stage.count("api_token");
  const desk = await lin();
  await stage.withoutAuditLog(async () => {
    const made = makeApiToken(desk, { name: "x", role: "viewer", apps: [one] });
    await expect(made).rejects.toThrow(/audit_log/);
  });
  expect(await stage.count("api_token")).toBe(before);
});

test("a token gets at most what its owner has, when it is made", async () => {
  const desk = await lin();
  const make = (role: "viewer" | "admin", apps: "all" | number[]) => makeApiToken(desk, { name: "x", role, apps });
  await expect(make("admin", [one])).rejects.toThrow(/You are not admin of these apps/);
  await expect(make("viewer", "all")).rejects.toThrow(/You are not viewer of all apps/);
  await expect(make("viewer", [one, other])).rejects.toThrow(`app_id: there is no app ${other}.`);
  await expect(make("viewer", [999_999_999])).rejects.toThrow("app_id: there is no app 999999999.");
});

test("a token gets at most what its owner has, when it is used", async () => {
  const { token } = await makeApiToken(await lin(), { name: "x", role: "operator", apps: [one] });
  expect(grantsOf(await found(token))).toEqual([{ appId: one, role: "operator" }]);
  const change = (...given: Parameters<typeof grants>) =>
    changePersonRole(stage.desk, { name: "lin", grants: grants(...given) });
  await change([null, "viewer"]);
  expect(grantsOf(await found(token))).toEqual([{ appId: one, role: "viewer" }]);
  await change([other, "admin"]);
  expect(grantsOf(await found(token))).toEqual([]);
  await change([null, "admin"]);
  expect(grantsOf(await found(token))).toEqual([{ appId: one, role: "operator" }]);
  await change([one, "operator"]);
});

test("a token ends on its day, and at once when it is revoked", async () => {
  const { token, made } = await makeApiToken(await lin(), { name: "x", role: "viewer", apps: [one], days: 1 });
  expect(stateOfToken(made, nowMs() + DAY_MS - 1)).toBe("valid");
  expect(stateOfToken(made, nowMs() + DAY_MS)).toBe("ended");
  const stranger = { ...(await lin()), owner: { userId: userId + 1000, grants: [] } };
  await expect(endApiToken(stranger, { id: made.tokenId })).rejects.toThrow(/no token with this id/);
  await endApiToken(await lin(), { id: made.tokenId });
  expect(stateOfToken(await found(token), nowMs())).toBe("revoked");
  await expect(endApiToken(await lin(), { id: made.tokenId })).rejects.toThrow(/revoked before/);
  const { made: second } = await makeApiToken(await lin(), { name: "y", role: "viewer", apps: [one] });
  await endApiToken({ ...stranger, mayRevokeAll: true }, { id: second.tokenId });
});

test("an owner has a bounded number of usable tokens, each for a bounded time", async () => {
  const desk = { ...stage.desk, owner: undefined, mayRevokeAll: true };
  const make = (days: number) => makeApiToken(desk, { name: "x", role: "viewer", apps: "all", days });
  await expect(make(LIMITS.apiTokenDays + 1)).rejects.toThrow(/days/);
  for (let made = 0; made < LIMITS.apiTokens; made += 1) await make(1);
  await expect(make(1)).rejects.toThrow(/at most 50 tokens/);
});

describe("all tokens of a person are revoked, and the log names them, after", () => {
  const user = async () => (await findAdminUser(stage.pool, "lin"))!;
  const ends: Record<string, () => Promise<unknown>> = {
    "a new password": async () =>
      changeOwnPassword(stage.desk, { password: "x", new_password: "y" }, { user: await user(), passwordHash: "hash" }),
    "a password set by a one-time link": async () => {
      const { setupToken } = await linkPerson(stage.desk, { name: "lin" });
      await setUp(stage.desk, { token: setupToken, password: "x" }, { passwordHash: "hash", validMs: 1_000 });
    },
    "signing out everywhere": async () => endOwnSessions(stage.desk, await user()),
    "being signed out by an admin": () => signOutPerson(stage.desk, { name: "lin" }),
    "the reset of the second factor": async () => {
      await beginSecondFactor(stage.pool, vault, { userId, secret: Buffer.alloc(20) });
      await confirmSecondFactor(stage.pool, { userId, codes: [], nowMs: nowMs() });
      await resetSecondFactor(stage.desk, { name: "lin" });
    },
  };

  test.each(Object.entries(ends))("%s", async (_, end) => {
    const { token, made } = await makeApiToken(await lin(), { name: "mine", role: "viewer", apps: [one] });
    await end();
    expect(stateOfToken(await found(token), nowMs())).toBe("revoked");
    const { rows } = await stage.pool.query(
      "select details from audit_log where action = 'api-tokens/revoke' order by audit_id desc limit 1",
    );
    expect(rows[0].details.owner).toBe("lin");
    expect(rows[0].details.tokens).toContainEqual({ id: made.tokenId, name: "mine", prefix: made.prefix });
  });
});

test("revoked tokens hide none that can be used, and only the newest are kept", async () => {
  const desk = await lin();
  const kept = (await makeApiToken(desk, { name: "kept", role: "viewer", apps: [one] })).made;
  for (let made = 0; made < LIMITS.apiTokensPast + 5; made += 1) {
    const { tokenId: id } = (await makeApiToken(desk, { name: "x", role: "viewer", apps: [one] })).made;
    await endApiToken(desk, { id });
  }
  const limit = LIMITS.apiTokensPast;
  const [first] = await loadApiTokens(stage.pool, { userId }, { nowMs: nowMs(), limit });
  expect(first!.tokenId).toBe(kept.tokenId);
  const { made } = await makeApiToken(desk, { name: "last", role: "viewer", apps: [one] });
  const all = await loadApiTokens(stage.pool, { userId }, { nowMs: nowMs(), limit: 1_000 });
  expect(all.slice(0, 2).map(({ tokenId }) => tokenId)).toEqual([made.tokenId, kept.tokenId]);
  expect(all.filter(({ revokedAtMs }) => revokedAtMs !== null)).toHaveLength(LIMITS.apiTokensPast);
});

test("tokens go with their owner", async () => {
  const { token } = await makeApiToken(await lin(), { name: "x", role: "viewer", apps: [one] });
  await removePerson(stage.desk, { name: "lin" });
  expect(await found(token)).toBeUndefined();
});
