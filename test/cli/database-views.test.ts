import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterAll, expect, test } from "vitest";
import { embeddedConnection, type LocalConnection } from "../../src/db/engine/embedded-role.ts";
import { sharedServer } from "../support/shared-server.ts";
import { cli, cliJson, expectFailure, expectWrongArguments } from "./run.ts";

const server = sharedServer();
const role = `cli_bi_${process.pid}`;
const folder = mkdtempSync(join(tmpdir(), "touchpoint-views-"));
afterAll(() => rmSync(folder, { recursive: true }));

function passwordFile(password: string): string {
  const path = join(folder, "password");
  writeFileSync(path, `${password}\n`);
  return `@${path}`;
}

async function namesOfApps(password: string): Promise<number[]> {
  const { kind: _, ...local } = embeddedConnection(server.dataDir) as LocalConnection;
  const client = new pg.Client({ ...local, user: role, password });
  await client.connect();
  try {
    return (await client.query("select app_id from apps order by 1")).rows.map(({ app_id }) => app_id);
  } finally {
    await client.end();
  }
}

const views = (...args: string[]) => cliJson(server.dataDir, ["database", "views", "--role", role, ...args]);
const refused = (...args: string[]) => cli(server.dataDir, ["database", "views", ...args]);

test("a role is made with views, gets another app and another password, and is taken away", async () => {
  const app = await server.createApp();
  expectFailure(await refused("--role", role), /needs a password/);
  const made = await views("--password", passwordFile("first-password"), "--app", String(app.appId));
  expect(made).toMatchObject({ role, schema: role, app_id: app.appId, state: "created" });
  expect(made.views).toEqual(["apps", "users", "orders", "events", "costs", "ad_report"]);
  expect(await namesOfApps("first-password")).toEqual([app.appId]);
  expect(await views()).toMatchObject({ app_id: null, state: "changed" });
  expect((await namesOfApps("first-password")).length).toBeGreaterThan(0);
  await views("--password", passwordFile("second-password"));
  await expect(namesOfApps("first-password")).rejects.toMatchObject({ code: "28P01" });
  expect(await namesOfApps("second-password")).toContain(app.appId);
  expect(readFileSync(join(server.dataDir, "postgres.log"), "utf8")).not.toMatch(/first-password|second-password/);
  expect(await views("--drop")).toEqual({ dropped: role, role: "dropped" });
  await expect(namesOfApps("second-password")).rejects.toMatchObject({ code: "28P01" });
  expectFailure(await refused("--role", role, "--drop"), /There are no views for the role/);
});

test("passwords in the command line, short ones, unknown apps and foreign roles are refused", async () => {
  expectWrongArguments(await refused("--password", "in-the-open-1234"), /@file, or - for standard input/);
  expectFailure(await refused("--role", role, "--password", passwordFile("short")), /at least 12/);
  expectFailure(await refused("--role", role, "--password", passwordFile("pässword-pässword")), /ASCII/);
  expectFailure(await refused("--app", "7"), /There is no app 7/);
  for (const name of ["pg_reader", "public", "touchpoint_server", "Upper", "a-b"])
    expectWrongArguments(await refused("--role", name), /lower-case letters/);
});
