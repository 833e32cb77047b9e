import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { App } from "../../src/db/app.ts";
import { cliProcess, cliProcessJson } from "../cli/run.ts";
import { Nats } from "../journal/jetstream/nats.ts";
import { prepareDataDir } from "../support/prepared.ts";
import { cleanUp, TouchpointProcess } from "../support/touchpoint.ts";
import { makeDataDir } from "./launch.ts";

const PASSPHRASE = ["--passphrase", "correct horse battery"];
const folder = mkdtempSync(join(tmpdir(), "touchpoint-backups-"));
const servers: TouchpointProcess[] = [];
const dataDirs: string[] = [];
let nats: Nats;

beforeAll(async () => {
  nats = await Nats.start(1);
});
afterAll(async () => {
  for (const server of servers) await server.kill();
  for (const dataDir of dataDirs) await cleanUp(dataDir);
  rmSync(folder, { recursive: true, force: true });
  await nats.stop();
});

const logOf = (name: string) => ({ LOG_URL: `nats://${nats.servers[0]}/${name}?replicas=1&partitions=3&mib=64` });

async function start(dataDir: string, env: Record<string, string>): Promise<TouchpointProcess> {
  const server = await TouchpointProcess.start({ dataDir, env });
  servers.push(server);
  return server;
}

function newDataDir(dataDir = makeDataDir()): string {
  dataDirs.push(dataDir);
  return dataDir;
}

/** The markers that are stored after everything was applied, then stops the server. */
async function markersAt(dataDir: string, env: Record<string, string>): Promise<string[]> {
  const server = await start(dataDir, env);
  await server.settle();
  const pool = server.database();
  const { rows } = await pool.query("select properties_text::json->>'marker' as marker from event order by 1");
  await pool.end();
  expect(await server.stop()).toBe(0);
  return rows.map(({ marker }) => marker);
}

test("a backup with the log in JetStream holds what was acknowledged and not applied, for files, a new log and the same one", async () => {
  const dataDir = newDataDir(prepareDataDir());
  const env = logOf("source");
  let server = await start(dataDir, env);
  const apps: App[] = [];
  for (let count = 0; count < 4; count += 1) apps.push(await server.appWith(["c"]));
  const markers: string[] = [];
  const collect = async (app: App, marker: string) => {
    const event = { type: "track", event: "e", time: Date.now(), properties: { marker } };
    expect((await server.collect(app, "c", [event])).code).toBe(0);
    markers.push(marker);
  };
  const collectAll = async (name: string) => {
    for (const [index, app] of apps.entries()) await collect(app, `${name}.${index}`);
  };
  await collectAll("a.applied");
  await server.settle();
  await server.stop();
  // Nothing applies from here on.
  server = await start(dataDir, { ...env, ROLES: "http" });
  await collectAll("b.waiting");
  const dir = join(folder, "backup");
  const taken = await cliProcessJson(dataDir, ["backup", dir, ...PASSPHRASE, "--verify"], env);
  const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0);
  expect(sum(taken.log.ends) - sum(taken.log.cursors)).toBe(apps.length);
  const backedUp = [...markers];
  await collectAll("c.later");
  await server.stop();

  const files = newDataDir();
  const intoFiles = await cliProcess(files, ["restore", dir, ...PASSPHRASE]);
  expect(intoFiles.stdout).toContain(`The backup was taken from the log ${taken.log.id}`);
  expect(await markersAt(files, {})).toEqual(backedUp);

  const fresh = newDataDir();
  const restored = await cliProcessJson(fresh, ["restore", dir, ...PASSPHRASE], logOf("fresh"));
  expect(restored).toMatchObject({ journal: "restored", log_entries: apps.length });
  expect(await markersAt(fresh, logOf("fresh"))).toEqual(backedUp);

  const beside = newDataDir();
  const refused = await cliProcess(beside, ["restore", dir, ...PASSPHRASE], logOf("fresh"));
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).toMatch(
    /^The log fresh has entries, and is not the one of this backup\. Nothing was changed\./m,
  );
  const kept = await cliProcessJson(beside, ["restore", dir, ...PASSPHRASE], env);
  expect(kept).toMatchObject({ journal: "kept", log_entries: 2 * apps.length });
  expect(await markersAt(beside, env)).toEqual(markers);
});

test("a backup of a journal in files comes back into a new log", async () => {
  const dataDir = newDataDir(prepareDataDir());
  let server = await start(dataDir, {});
  const app = await server.appWith(["c"]);
  await server.settle();
  await server.stop();
  server = await start(dataDir, { ROLES: "http" });
  const event = { type: "track", event: "e", time: Date.now(), properties: { marker: "waiting" } };
  expect((await server.collect(app, "c", [event])).code).toBe(0);
  const dir = join(folder, "files");
  await cliProcessJson(dataDir, ["backup", dir, ...PASSPHRASE]);
  const target = newDataDir();
  const restored = await cliProcessJson(target, ["restore", dir, ...PASSPHRASE], logOf("from-files"));
  expect(restored).toMatchObject({ journal: "restored", log_entries: 1 });
  expect(await markersAt(target, logOf("from-files"))).toEqual(["waiting"]);
});
