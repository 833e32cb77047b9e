import { expect, test } from "vitest";
import {
  addPerson,
  changePersonRole,
  linkFirstAdmin,
  linkPerson,
  removePerson,
} from "../../src/admin/session/people.ts";
import { DeskStage } from "./desk-stage.ts";

const stage = new DeskStage();

test("a change to the console's people is logged with its author, and without tokens", async () => {
  const tokens = [await linkFirstAdmin(stage.desk)];
  const ann = await addPerson(stage.desk, { name: "Ann", grants: [{ app_id: null, role: "admin" }] });
  const bob = await addPerson(stage.desk, { name: "bob", grants: [{ app_id: null, role: "analyst" }] });
  const again = await linkPerson(stage.desk, { name: "BOB" });
  expect(again.user.userId).toBe(bob.user.userId);
  await changePersonRole(stage.desk, { name: "bob", grants: [{ app_id: null, role: "admin" }] });
  await removePerson(stage.desk, { name: "bob" });
  tokens.push(ann.setupToken, bob.setupToken, again.setupToken);
  const audit = await stage.audit();
  expect(audit.map(({ action, details }) => [action, details])).toEqual([
    ["console-users/link", {}],
    ["console-users/create", { name: "Ann", grants: [{ app_id: null, role: "admin" }] }],
    ["console-users/create", { name: "bob", grants: [{ app_id: null, role: "analyst" }] }],
    ["console-users/link", { name: "BOB" }],
    ["console-users/role", { name: "bob", grants: [{ app_id: null, role: "admin" }] }],
    ["console-users/remove", { name: "bob" }],
  ]);
  for (const token of tokens) expect(JSON.stringify(audit)).not.toContain(token);
});

test("an invitation that cannot be logged is not made", async () => {
  const before = [await stage.count("admin_user"), await stage.count("setup_link")];
  await stage.withoutAuditLog(async () => {
    await expect(addPerson(stage.desk, { name: "cy", grants: [{ app_id: null, role: "admin" }] })).rejects.toThrow(
      /audit_log/,
    );
  });
  expect([await stage.count("admin_user"), await stage.count("setup_link")]).toEqual(before);
});

test.each<[string, () => Promise<unknown>, RegExp]>([
  [
    "an empty name",
    () => addPerson(stage.desk, { name: " ", grants: [{ app_id: null, role: "admin" }] }),
    /^name is empty/,
  ],
  [
    "a long name",
    () => addPerson(stage.desk, { name: "n".repeat(255), grants: [{ app_id: null, role: "admin" }] }),
    /^name must/,
  ],
  [
    "a name that is taken",
    () => addPerson(stage.desk, { name: "ANN", grants: [{ app_id: null, role: "admin" }] }),
    /already a person named "ann"/,
  ],
  ["a link for a stranger", () => linkPerson(stage.desk, { name: "dan" }), /no person named "dan"/],
  ["a second first admin", () => linkFirstAdmin(stage.desk), /already an admin/],
  [
    "a stranger's role",
    () => changePersonRole(stage.desk, { name: "dan", grants: [{ app_id: null, role: "admin" }] }),
    /no person named "dan"/,
  ],
  [
    "the last admin's other role",
    () => changePersonRole(stage.desk, { name: "ann", grants: [{ app_id: null, role: "analyst" }] }),
    /at least one admin/,
  ],
  ["the last admin's removal", () => removePerson(stage.desk, { name: "ann" }), /at least one admin/],
])("%s is refused from every caller, and nothing is logged", async (_, refused, sentence) => {
  const state = async () => [
    (await stage.pool.query("select name, app_id, role from admin_user join admin_grant using (user_id) order by 1, 2"))
      .rows,
    await stage.count("audit_log"),
  ];
  const before = await state();
  await expect(refused()).rejects.toThrow(sentence);
  expect(await state()).toEqual(before);
});

test("of two admins who demote each other at the same instant one stays", async () => {
  await addPerson(stage.desk, { name: "eve", grants: [{ app_id: null, role: "admin" }] });
  const first = await stage.pool.connect();
  await first.query("begin");
  await first.query(
    "update admin_grant set role = 'analyst' where user_id = (select user_id from admin_user where name = 'eve')",
  );
  const second = changePersonRole(stage.desk, { name: "ann", grants: [{ app_id: null, role: "analyst" }] });
  second.catch(() => {});
  const waiting = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'";
  await expect.poll(async () => (await stage.pool.query(waiting)).rowCount).toBe(1);
  await first.query("commit");
  first.release();
  await expect(second).rejects.toThrow(/at least one admin/);
});
