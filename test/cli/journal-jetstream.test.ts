import { afterAll, beforeAll, expect, test } from "vitest";
import type { App } from "../../src/db/app.ts";
import { partitionOfApp } from "../../src/journal/jetstream/app-partition.ts";
import { Nats } from "../journal/jetstream/nats.ts";
import { prepareDataDir } from "../support/prepared.ts";
import { cleanUp, TouchpointProcess } from "../support/touchpoint.ts";
import { cli, cliJson, cliProcess, cliProcessJson, expectFailure } from "./run.ts";

const PARTITIONS = 2;
const dataDir = prepareDataDir();
let nats: Nats;
let env: { LOG_URL: string };
let server: TouchpointProcess;
/** An app in each of the partitions. */
const apps: App[] = [];

const collect = (app: App, event: string) =>
  server.collect(app, "c", [{ type: "track", event, time: Date.now(), properties: {} }]);

/** A log that no process applies, so that its entries wait. */
beforeAll(async () => {
  nats = await Nats.start(1);
  env = { LOG_URL: `nats://${nats.servers.join(",")}/commands?replicas=1&partitions=${PARTITIONS}&mib=64` };
  server = await TouchpointProcess.start({ dataDir, env: { ...env, ROLES: "http" } });
  while (apps.filter(Boolean).length < PARTITIONS) {
    const app = await server.createApp();
    apps[partitionOfApp(app.appId, PARTITIONS)] ??= app;
  }
  for (const app of apps) await server.register(app, "c");
  for (const app of apps) expect((await collect(app, "first")).code).toBe(0);
});

afterAll(async () => {
  await server.kill();
  await cleanUp(dataDir);
  await nats.stop();
});

test("journal inspect shows the partitions of the log, how far they are applied, and the entries of one", async () => {
  const picture = await cliJson(dataDir, ["journal", "inspect"], env);
  expect(picture).toMatchObject({ journal_id: expect.any(String), set_aside: [], entries: [] });
  expect(picture.partitions).toEqual(
    apps.map((_, partition) => ({
      partition,
      stream: `commands-${partition}`,
      from: 0,
      until: 2,
      entries: 2,
      bytes: expect.any(Number),
      applied: 0,
      state: "waiting",
    })),
  );
  const list = ["journal", "inspect", "--entries", "9", "--partition", "1"];
  const { entries } = await cliJson(dataDir, list, env);
  expect(entries).toMatchObject([
    { from: 0, kind: "register", app: apps[1]!.appId },
    { from: 1, kind: "collect", app: apps[1]!.appId, body: expect.stringContaining(`"event":"first"`) },
  ]);
  expect((await cliJson(dataDir, [...list, "--from", "1"], env)).entries).toEqual(entries.slice(1));
  const plain = await cli(dataDir, list, env);
  expect(plain.stdout).toMatch(/^Journal [-0-9a-f]{36} in JetStream\n/);
  const none = await cli(dataDir, ["journal", "inspect", "--partition", "2"], env);
  expectFailure(none, /^The log has the partitions 0 to 1\.\n$/);
  const elsewhere = { LOG_URL: env.LOG_URL.replace("commands", "elsewhere") };
  expectFailure(await cli(dataDir, ["journal", "inspect"], elsewhere), /^There is no log elsewhere at 127\.0\.0\.1/);
});

test("journal replay applies entries of the log that were set aside once their cause is gone", async () => {
  const pool = server.database();
  const { rows } = await pool.query("delete from app where app_id = $1 returning *", [apps[1]!.appId]);
  await pool.end();
  await server.kill();
  server = await TouchpointProcess.start({ dataDir, env });
  await server.settle();
  expect((await cliJson(dataDir, ["journal", "inspect"], env)).set_aside).toMatchObject([
    { appId: apps[1]!.appId, partition: 1 },
    { appId: apps[1]!.appId, partition: 1 },
  ]);
  const again = server.database();
  await again.query("insert into app select * from jsonb_populate_record(null::app, $1)", [JSON.stringify(rows[0])]);
  await again.end();
  const replayed = await cliJson(dataDir, ["journal", "replay"], env);
  expect(replayed).toEqual({ requested: 2, replayed: 2, still_set_aside: 0 });
  expect(await Promise.all(apps.map(stored))).toEqual([1, 1]);
});

test("journal replay --all rebuilds the tables from all partitions, and says what was pruned", async () => {
  expectFailure(await cli(dataDir, ["journal", "replay", "--all"], env), /^Stop the server first/);
  await server.stop();
  expect(await cliProcessJson(dataDir, ["journal", "replay", "--all"], env)).toEqual({ entries: 4, set_aside: 0 });
  const { manager } = await nats.operator();
  await manager.streams.purge("commands-0", { seq: 2 });
  expectFailure(
    await cliProcess(dataDir, ["journal", "replay", "--all"], env),
    /^Nothing was changed, because data would be lost\. 1 applied entries of this journal are gone .* The tables hold 2 events, 2 users and 0 orders; this journal holds 2 events\./,
  );
  server = await TouchpointProcess.start({ dataDir, env });
  expect(await Promise.all(apps.map(stored))).toEqual([1, 1]);
});

async function stored(app: App): Promise<number> {
  const pool = server.database();
  const { rows } = await pool.query("select count(*)::int as events from event where app_id = $1", [app.appId]);
  await pool.end();
  return rows[0].events;
}
