import { beforeAll, expect, test } from "vitest";
import { makeApiToken } from "../../src/admin/session/api-tokens.ts";
import { type IdentityRules, signInByIdentity } from "../../src/admin/session/identities.ts";
import { addPerson, changePersonRole, removePerson } from "../../src/admin/session/people.ts";
import { findAdminUser } from "../../src/db/admin-user.ts";
import { loadApiToken } from "../../src/db/api-token.ts";
import { everywhere } from "../../src/domain/access/role.ts";
import { DeskStage } from "./desk-stage.ts";

const stage = new DeskStage();
const ISSUER = "https://login.example";
const identity = (subject: string, email?: string, groups: string[] = []) => ({
  issuer: ISSUER,
  subject,
  email,
  groups,
});
const known: IdentityRules = { people: "known", roles: new Map() };
const byGroup: IdentityRules = {
  people: "create",
  roles: new Map([
    ["admins", everywhere("admin")],
    ["bi", everywhere("viewer")],
  ]),
};
const enter = async (given: ReturnType<typeof identity>, rules: IdentityRules) => {
  const entered = await signInByIdentity(stage.desk, given, rules);
  expect(entered.kind).toBe("entered");
  return (entered as Extract<typeof entered, { kind: "entered" }>).opened;
};
const rolesOf = async (name: string) => (await findAdminUser(stage.pool, name))?.grants;

beforeAll(async () => {
  await addPerson(stage.desk, { name: "boss", grants: [{ app_id: null, role: "admin" }] });
  await addPerson(stage.desk, { name: "lin@example.com", grants: [{ app_id: null, role: "operator" }] });
});

test("a known person is linked by a verified address once, and recognised by the subject from then on", async () => {
  const first = await enter(identity("1", "LIN@example.com"), known);
  expect(first).toMatchObject({ method: "oidc", user: { name: "lin@example.com", grants: everywhere("operator") } });
  const again = await enter(identity("1", "other@example.com"), known);
  expect(again.user.userId).toBe(first.user.userId);
  await enter(identity("1"), known);
  const { rows } = await stage.pool.query("select actor, details from audit_log where action = 'session/oidc/return'");
  expect(rows).toHaveLength(3);
  const plain = { issuer: ISSUER, subject: "1" };
  const grants = everywhere("operator");
  expect(rows.map(({ details }) => details)).toEqual([{ ...plain, person: "linked", grants }, plain, plain]);
  expect(rows[0].actor).toBe("lin@example.com");
});

test.each([
  ["an unknown person", identity("2", "new@example.com"), /There is no person named new@example.com/],
  ["a person without a verified address", identity("2"), /does not say that your e-mail address is verified/],
  [
    "another subject with the address of a linked person",
    identity("2", "lin@example.com"),
    /linked with another account/,
  ],
  [
    "an address that only looks like a person's",
    identity("2", "ｌin@example.com"),
    /other characters than plain ASCII/,
  ],
  ["an address with a sign that folds to a letter", identity("2", "\u212aim@example.com"), /plain ASCII/],
  ["an address of 255 characters", identity("2", `${"x".repeat(251)}@a.b`), /more than 254 characters/],
])("%s is refused, and nothing is kept", async (_, given, sentence) => {
  const before = [await stage.count("admin_identity"), await stage.count("console_session")];
  await expect(enter(given, known)).rejects.toThrow(sentence);
  expect([await stage.count("admin_identity"), await stage.count("console_session")]).toEqual(before);
});

test("roles of groups replace those given here at every sign-in, and are noted", async () => {
  await enter(identity("1", undefined, ["bi"]), byGroup);
  expect(await rolesOf("lin@example.com")).toEqual(everywhere("viewer"));
  await enter(identity("1", undefined, ["bi", "admins"]), byGroup);
  expect(await rolesOf("lin@example.com")).toEqual(everywhere("admin"));
  const { rows } = await stage.pool.query("select details from audit_log order by audit_id desc limit 1");
  expect(rows[0].details.grants).toEqual([{ appId: null, role: "admin" }]);
});

test("a person who has left all groups is refused, and roles, sessions and tokens are taken", async () => {
  const { user } = await enter(identity("1", undefined, ["bi"]), byGroup);
  const desk = { ...stage.desk, owner: user };
  const { made } = await makeApiToken(desk, { name: "nightly", role: "viewer", apps: "all" });
  const left = await signInByIdentity(stage.desk, identity("1", undefined, ["x"]), byGroup);
  expect(left).toMatchObject({ kind: "left", user: { userId: user.userId } });
  expect(await rolesOf("lin@example.com")).toEqual([]);
  const sessions = "select 1 from console_session where user_id = $1";
  expect((await stage.pool.query(sessions, [user.userId])).rowCount).toBe(0);
  expect((await loadApiToken(stage.pool, made.tokenId))!.revokedAtMs).not.toBeNull();
  const notes = "select actor, action, details from audit_log order by audit_id desc limit 2";
  expect((await stage.pool.query(notes)).rows).toMatchObject([
    { actor: "lin@example.com", action: "session/oidc/return", details: { refused: "no role", grants: [] } },
    { actor: "lin@example.com", action: "api-tokens/revoke" },
  ]);
  const before = await stage.count("audit_log");
  await signInByIdentity(stage.desk, identity("1", undefined, ["x"]), byGroup);
  expect(await stage.count("audit_log")).toBe(before);
  await expect(signInByIdentity(stage.desk, identity("9", "x@example.com"), byGroup)).rejects.toThrow(/None of your/);
});

test("the last admin of all apps stays one, whatever the groups say", async () => {
  await enter(identity("1", undefined, ["admins"]), byGroup);
  await removePerson(stage.desk, { name: "boss" });
  const { user } = await enter(identity("1", undefined, ["bi"]), byGroup);
  expect(user.grants).toEqual(everywhere("admin"));
  expect(await rolesOf("lin@example.com")).toEqual(everywhere("admin"));
  expect(await signInByIdentity(stage.desk, identity("1"), byGroup)).toMatchObject({ kind: "left" });
  expect(await rolesOf("lin@example.com")).toEqual(everywhere("admin"));
});

test("a new person is made only with a role, has no password, and leaves no link behind", async () => {
  await enter(identity("3", "zoe@example.com", ["bi"]), byGroup);
  expect(await findAdminUser(stage.pool, "zoe@example.com")).toMatchObject({ passwordHash: "none" });
  const { rows } = await stage.pool.query("select details from audit_log order by audit_id desc limit 1");
  expect(rows[0].details).toMatchObject({ person: "created", grants: everywhere("viewer") });
  await removePerson(stage.desk, { name: "zoe@example.com" });
  expect((await stage.pool.query("select 1 from admin_identity where subject = '3'")).rowCount).toBe(0);
});

test("a person with the longest address can be managed like any other", async () => {
  const name = `${"x".repeat(250)}@a.b`;
  await enter(identity("4", name, ["bi"]), byGroup);
  await changePersonRole(stage.desk, { name, grants: [{ app_id: null, role: "operator" }] });
  expect(await rolesOf(name)).toEqual(everywhere("operator"));
  await removePerson(stage.desk, { name });
});
