import { expect, test } from "vitest";
import { sharedServer } from "../support/shared-server.ts";
import { cli, cliJson, expectFailure, expectWrongArguments } from "./run.ts";

const server = sharedServer();
const { dataDir } = server;
const developer = (...args: string[]) => cliJson(dataDir, ["developer", ...args]);
const listed = async (id: number) => (await developer("list")).find((row: { id: number }) => row.id === id);

test("an application has no key until it is approved", async () => {
  const asked = await developer("create", "--name", "BI", "--apps", "all", "--purpose", "daily pull");
  expect(asked).toEqual({ id: expect.any(Number), state: "requested" });
  const row = {
    id: asked.id,
    name: "BI",
    purpose: "daily pull",
    state: "requested",
    reason: "",
    apps: "all",
    rate: "1/600",
  };
  expect(await listed(asked.id)).toEqual(row);
  const approved = await developer("approve", String(asked.id));
  expect(approved).toEqual({ id: asked.id, state: "approved", app_key: expect.stringMatching(/^[0-9a-f]{32}$/) });
  expect(await listed(asked.id)).toEqual({ ...row, state: "approved" });
});

test("with --approve the key is printed at once, and never again in the list", async () => {
  const made = await developer("create", "--name", "BI 2", "--apps", "all", "--rate", "10/60", "--approve");
  expect(made).toEqual({ id: expect.any(Number), state: "approved", app_key: expect.any(String) });
  expect((await listed(made.id)).rate).toBe("10/60");
  expect(JSON.stringify(await developer("list"))).not.toContain(made.app_key);
});

test("an application can be refused and disabled with a reason, and changed", async () => {
  const app = await server.createApp();
  const { id } = await developer("create", "--name", "Other", "--apps", String(app.appId));
  expect(await developer("refuse", String(id), "--reason", "no contract")).toEqual({ id, state: "refused" });
  expect(await listed(id)).toMatchObject({ state: "refused", reason: "no contract", apps: String(app.appId) });
  expect(await developer("disable", String(id))).toEqual({ id, state: "disabled" });
  expect(await developer("set", String(id), "--apps", "all", "--rate", "3/5")).toMatchObject({
    apps: "all",
    rate: "3/5",
  });
});

test("the audit log names each action once, as for the console, and holds no key", async () => {
  const { id, app_key } = await developer("create", "--name", "Noted", "--apps", "all", "--approve");
  await developer("set", String(id), "--rate", "3/5");
  await developer("disable", String(id), "--reason", "left");
  const pool = server.database();
  const { rows } = await pool.query(
    "select action, details from audit_log where details->>'name' = 'Noted' or details->>'id' = $1 order by audit_id",
    [String(id)],
  );
  await pool.end();
  const made = { name: "Noted", purpose: "", apps: "all", rate_calls: 1, rate_window_s: 600 };
  expect(rows.filter(({ action }) => action.startsWith("developers/"))).toEqual([
    { action: "developers/create", details: made },
    { action: "developers/decide", details: { id, state: "approved" } },
    { action: "developers/edit", details: { id, rate_calls: 3, rate_window_s: 5 } },
    { action: "developers/decide", details: { id, state: "disabled", reason: "left" } },
  ]);
  expect(JSON.stringify(rows)).not.toContain(app_key);
});

test("mistakes are named in one sentence", async () => {
  expectFailure(await cli(dataDir, ["developer", "approve", "999999"]), /no developer application 999999/);
  expectFailure(await cli(dataDir, ["developer", "create", "--name", "x", "--apps", "1"]), /no app 1/);
  expectWrongArguments(await cli(dataDir, ["developer", "create", "--name", "x", "--apps", "a,b"]), /all, or app ids/);
  expectWrongArguments(
    await cli(dataDir, ["developer", "create", "--name", "x", "--apps", "all", "--rate", "fast"]),
    /calls per seconds/,
  );
  expectWrongArguments(await cli(dataDir, ["developer", "create", "--apps", "all"]), /--name/);
});
