import { expect, test } from "vitest";
import { sharedServer } from "../support/shared-server.ts";
import { cli, cliJson, expectFailure } from "./run.ts";

const server = sharedServer();
const { dataDir } = server;

test("the audit log names changes to people by commands as it names those by the console, without any token", async () => {
  const pool = server.database();
  try {
    const added = await cliJson(dataDir, ["admin", "user", "add", "Eve", "--role", "analyst"]);
    expect(added).toMatchObject({ name: "eve", roles: "analyst", setup_token: expect.any(String) });
    expectFailure(
      await cli(dataDir, ["admin", "user", "add", "EVE", "--role", "analyst"]),
      /already a person named "eve"/,
    );
    expectFailure(await cli(dataDir, ["admin", "link", "nobody-at-all"]), /no person named "nobody-at-all"/);
    const { setup_token } = await cliJson(dataDir, ["admin", "link", "eve"]);
    const people = await cliJson(dataDir, ["admin", "user", "role", "eve", "--role", "admin"]);
    expect(people).toContainEqual({
      name: "eve",
      roles: "admin",
      second_factor: "off",
      created_at: expect.any(Number),
    });
    const { rows } = await pool.query(
      "select action, details from audit_log where actor like 'command line%' and details->>'name' ilike 'eve' order by audit_id",
    );
    expect(rows).toEqual([
      { action: "console-users/create", details: { name: "Eve", grants: [{ app_id: null, role: "analyst" }] } },
      { action: "console-users/link", details: { name: "eve" } },
      { action: "console-users/role", details: { name: "eve", grants: [{ app_id: null, role: "admin" }] } },
    ]);
    for (const token of [added.setup_token, setup_token]) expect(JSON.stringify(rows)).not.toContain(token);
  } finally {
    await pool.query("delete from admin_grant where user_id = (select user_id from admin_user where name = 'eve')");
    await pool.query("delete from setup_link where user_id = (select user_id from admin_user where name = 'eve')");
    await pool.query("delete from admin_user where name = 'eve'");
    await pool.end();
  }
});

test("a person has a role for all apps, and others app by app", async () => {
  const [one, other] = [await server.createApp(), await server.createApp()];
  const name = `cli-${one.appId}`;
  const roles = ["--role", "viewer", "--role", `operator=${one.appId},${other.appId}`];
  const added = await cliJson(dataDir, ["admin", "user", "add", name, ...roles]);
  expect(added.roles).toBe(`viewer operator=${one.appId},${other.appId}`);
  const change = (...wrong: string[]) => cli(dataDir, ["admin", "user", "role", name, ...wrong]);
  expect(await change("--role", "owner")).toMatchObject({ code: 2, stderr: expect.stringMatching(/roles are viewer/) });
  expect(await change("--role", "admin=x")).toMatchObject({ code: 2, stderr: expect.stringMatching(/by their ids/) });
  expectFailure(await change("--role", "admin=2000000000"), /there is no app 2000000000/);
  expectFailure(await change("--role", "admin", "--role", "viewer"), /All apps have more than one role/);
  await cli(dataDir, ["admin", "user", "remove", name]);
});

test("a token for a program is made, listed and revoked by commands", async () => {
  const app = await server.createApp();
  const about = ["--role", "viewer", "--apps", String(app.appId), "--days", "7"];
  const made = await cliJson(dataDir, ["admin", "api-token", "create", "bi", ...about]);
  expect(made).toMatchObject({ name: "bi", owner: "", role: "viewer", apps: String(app.appId), state: "valid" });
  const headers = { authorization: `Bearer ${made.token}` };
  const apps = async () => (await fetch(`${server.url}/admin/api/v1/apps`, { headers })).json();
  expect(await apps()).toMatchObject({ code: 0, data: { apps: [{ app_id: app.appId }] } });
  expectFailure(
    await cli(dataDir, ["admin", "api-token", "create", "bi", ...about, "--owner", "nobody-at-all"]),
    /no person named "nobody-at-all"/,
  );
  const listed = await cliJson(dataDir, ["admin", "api-token", "revoke", String(made.id)]);
  expect(listed).toContainEqual(expect.objectContaining({ id: made.id, state: "revoked" }));
  expect(JSON.stringify(listed)).not.toContain(made.token);
  expect(await apps()).toMatchObject({ code: 2002 });
});
