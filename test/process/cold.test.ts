import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import type { App } from "../../src/db/app.ts";
import { cli, cliJson, cliProcess } from "../cli/run.ts";
import { AdminCaller } from "../support/admin-caller.ts";
import { eventually } from "../support/patience.ts";
import { cleanUp, TouchpointProcess } from "../support/touchpoint.ts";
import { attemptStart, makeDataDir } from "./launch.ts";

const ENV = { ROLES: "http,apply,refresh,postback,cost,lake" };
const HOT = { ...ENV, EVENT_HOT_DAYS: "3" };
const DAY_MS = 86_400_000;
const OLD_MS = Date.now() - 8 * DAY_MS;
const folder = mkdtempSync(join(tmpdir(), "touchpoint-cold-"));
const dataDirs: string[] = [];
let server: TouchpointProcess;

afterAll(async () => {
  await server.kill();
  for (const dataDir of dataDirs) await cleanUp(dataDir);
  rmSync(folder, { recursive: true, force: true });
});

function newDataDir(): string {
  const dataDir = makeDataDir();
  dataDirs.push(dataDir);
  return dataDir;
}

const dayOf = (ms: number) => new Date(ms + 8 * 3_600_000).toISOString().slice(0, 10);
const track = (event: string, time: number, properties: object = {}) => ({ type: "track", event, time, properties });

async function exported(app: App): Promise<string> {
  await server.settle();
  const days = ["--from", dayOf(OLD_MS - DAY_MS), "--to", dayOf(Date.now())];
  const result = await cli(server.dataDir, ["export", "events", "--app", String(app.appId), ...days]);
  expect(result.code).toBe(0);
  return result.stdout;
}

async function timeline(app: App, client_id: string): Promise<unknown[]> {
  await server.settle();
  const { data } = await new AdminCaller(server).get("user/timeline", { app_id: app.appId, client_id, kinds: "event" });
  return data.items.map((item: { event: string; at_ms: number }) => [item.event, item.at_ms]);
}

async function written(app: App): Promise<void> {
  await eventually(async () => {
    const { tables: rows } = await cliJson(server.dataDir, ["lake", "status"]);
    expect(rows).toContainEqual(
      expect.objectContaining({ app_id: app.appId, table: "events", rows: 4, waiting_days: 0 }),
    );
  });
}

const frozen = () =>
  eventually(async () => {
    const { rows } = await server.pool.query("select state from event_day where day = $1", [dayOf(OLD_MS)]);
    expect(rows).toEqual([{ state: "cold" }]);
  });

test("a server with EVENT_HOT_DAYS answers as before from the lake, and so does one restored from its backup", async () => {
  server = await TouchpointProcess.start({ dataDir: newDataDir(), env: ENV });
  const app = await server.appWith(["a", "b"]);
  for (const client of ["a", "b"])
    await server.collect(app, client, [track("old", OLD_MS, { of: client }), track("new", Date.now())]);
  const before = { export: await exported(app), timeline: await timeline(app, "a") };
  expect(before.timeline).toHaveLength(2);
  await written(app);
  await server.stop();

  server = await TouchpointProcess.start({ dataDir: server.dataDir, env: HOT });
  await frozen();
  const { rows } = await server.pool.query("select event from event order by 1");
  expect(rows).toEqual([{ event: "new" }, { event: "new" }]);
  expect({ export: await exported(app), timeline: await timeline(app, "a") }).toEqual(before);

  // A duplicate, a late event, a rename and an erasure of what is only in the lake.
  await server.collect(app, "a", [track("old", OLD_MS, { of: "a" }), track("late", OLD_MS + 1)]);
  await server.post("user/reset_client_id/", app, { new_client_id: "c" }, { query: { client_id: "a" } });
  expect((await timeline(app, "c")).slice(1)).toEqual([
    ["late", OLD_MS + 1],
    ["old", OLD_MS],
  ]);
  const answer = await new AdminCaller(server).post("users/erase", { app_id: app.appId, client_id: "b" });
  expect(answer.data).toMatchObject({ state: "erased" });
  const { stored, duplicate } = Object.fromEntries(
    (await server.pool.query("select outcome, sum(events)::int as n from ledger_minute group by 1")).rows.map(
      ({ outcome, n }) => [outcome, n],
    ),
  );
  expect({ stored, duplicate }).toEqual({ stored: 5, duplicate: 1 });
  const after = await exported(app);
  expect(after.split("\n").map((line) => line && JSON.parse(line).client_id)).toEqual(["c", "c", "c", ""]);

  const dir = join(folder, "backup");
  const taken = await cliProcess(server.dataDir, ["backup", dir, "--passphrase", "correct horse battery", "--verify"]);
  expect(taken.code).toBe(0);
  await server.stop();
  const elsewhere = newDataDir();
  expect((await cliProcess(elsewhere, ["restore", dir, "--passphrase", "correct horse battery"])).code).toBe(0);
  server = await TouchpointProcess.start({ dataDir: elsewhere, env: HOT });
  expect(await exported(app)).toBe(after);
  expect(await timeline(app, "c")).toHaveLength(3);
  // The folder of the lake is where the days are.
  await server.stop();
  rmSync(join(elsewhere, "lake"), { recursive: true });
  const refused = attemptStart({ ...HOT, DATA_DIR: elsewhere });
  expect(await refused.ended()).toBe(1);
  expect(refused.stdout + refused.stderr).toContain("Older days are only in the lake");
});
