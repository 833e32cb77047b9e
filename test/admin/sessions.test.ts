import { expect, test } from "vitest";
import { addPerson, linkFirstAdmin, linkPerson } from "../../src/admin/session/people.ts";
import { changeOwnPassword, setUp, signIn } from "../../src/admin/session/sessions.ts";
import { findAdminUser } from "../../src/db/admin-user.ts";
import { DeskStage } from "./desk-stage.ts";

const stage = new DeskStage();
const PASSWORD = "correct horse battery";
const link = { passwordHash: "hash", validMs: 1_000 };
const hashOf = async (name: string) => (await findAdminUser(stage.pool, name))?.passwordHash;

/** Who did what, the newest act last. */
async function notes(): Promise<{ actor: string; action: string; details: object }[]> {
  const { rows } = await stage.pool.query("select actor, action, details from audit_log order by audit_id");
  return rows.filter(({ action }) => action.startsWith("session/"));
}

test("somebody who sets a password with a link is noted under the link's name, without secrets", async () => {
  const token = await linkFirstAdmin(stage.desk);
  await stage.withoutAuditLog(async () => {
    const first = setUp(stage.desk, { token, name: "ann", password: PASSWORD }, link);
    await expect(first).rejects.toThrow(/audit_log/);
  });
  expect(await hashOf("ann")).toBeUndefined();
  const made = await setUp(stage.desk, { token, name: "Ann", password: PASSWORD }, link);
  expect(made).toMatchObject({
    user: { name: "ann", grants: [{ appId: null, role: "admin" }] },
    session: expect.any(String),
  });
  await addPerson(stage.desk, { name: "bob", grants: [{ app_id: null, role: "analyst" }] });
  const { setupToken } = await linkPerson(stage.desk, { name: "bob" });
  expect(await setUp(stage.desk, { token: setupToken, password: PASSWORD }, link)).toMatchObject({
    user: { name: "bob" },
  });
  expect(await notes()).toEqual([
    { actor: "ann", action: "session/setup", details: { token: "…", name: "Ann", password: "…" } },
    { actor: "bob", action: "session/setup", details: { token: "…", password: "…" } },
  ]);
});

test("a link that is used, or that makes a second first admin, changes nothing and is not noted", async () => {
  const before = [await stage.count("audit_log"), await stage.count("console_session")];
  expect(await setUp(stage.desk, { token: "used", password: PASSWORD }, link)).toBeUndefined();
  const { rows } = await stage.pool.query("select count(*) from admin_user");
  expect(rows).toEqual([{ count: 2 }]);
  expect([await stage.count("audit_log"), await stage.count("console_session")]).toEqual(before);
});

test("a session and a new password are noted, or they are not", async () => {
  const user = (await findAdminUser(stage.pool, "ann"))!;
  const desk = { ...stage.desk, by: { name: user.name, address: "" } };
  const change = { password: PASSWORD, new_password: `${PASSWORD}!` };
  await stage.withoutAuditLog(async () => {
    await expect(signIn(desk, user, { name: "ann", password: PASSWORD })).rejects.toThrow(/audit_log/);
    await expect(changeOwnPassword(desk, change, { user, passwordHash: "other" })).rejects.toThrow(/audit_log/);
  });
  expect([await hashOf("ann"), await stage.count("console_session")]).toEqual(["hash", 2]);
  await signIn(desk, user, { name: "ann", password: PASSWORD });
  await changeOwnPassword(desk, change, { user, passwordHash: "other" });
  expect(await hashOf("ann")).toBe("other");
  expect((await notes()).slice(2)).toEqual([
    { actor: "ann", action: "session/sign-in", details: { name: "ann", password: "…" } },
    { actor: "ann", action: "session/password", details: { password: "…", new_password: "…" } },
  ]);
});
