import { beforeAll, expect, test } from "vitest";
import { createApp } from "../../src/admin/apps.ts";
import { endApiToken, grantsOf, makeApiToken, nameOfToken, stateOfToken } from "../../src/admin/session/api-tokens.ts";
import { addPerson, changePersonRole, removePerson } from "../../src/admin/session/people.ts";
import { loadAdminUser } from "../../src/db/admin-user.ts";
import { findApiToken } from "../../src/db/api-token.ts";
import { LIMITS } from "../../src/limits.ts";
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

test("tokens go with their owner", async () => {
  const { token } = await makeApiToken(await lin(), { name: "x", role: "viewer", apps: [one] });
  await removePerson(stage.desk, { name: "lin" });
  expect(await found(token)).toBeUndefined();
});
