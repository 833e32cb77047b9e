import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { Load } from "../../sim/chaos/nodes/load.ts";
import { clusterOf, postmasterOf } from "../../sim/chaos/postmaster.ts";
import { readManifest, textOfManifest } from "../../src/backup/manifest.ts";
import { startOf } from "../../src/data-lock.ts";
import { FACT_TABLES } from "../../src/db/facts.ts";
import { cliProcess, cliProcessJson, expectFailure } from "../cli/run.ts";
import { rowsOf } from "../db/temp-database.ts";
import { eventually } from "../support/patience.ts";
import { cleanUp, type Touchpoint, TouchpointProcess } from "../support/touchpoint.ts";
import { Attempt, attemptStart, CLI, environment, makeDataDir } from "./launch.ts";

const PASSPHRASE = "correct horse battery";
const folder = mkdtempSync(join(tmpdir(), "touchpoint-backups-"));
const servers: TouchpointProcess[] = [];
const dataDirs: string[] = [];

afterAll(async () => {
  for (const server of servers) await server.kill();
  for (const dataDir of dataDirs) await cleanUp(dataDir);
  rmSync(folder, { recursive: true, force: true });
});

async function start(dataDir: string, env: Record<string, string> = {}): Promise<TouchpointProcess> {
  const server = await TouchpointProcess.start({ dataDir, env });
  servers.push(server);
  return server;
}

function newDataDir(): string {
  const dataDir = makeDataDir();
  dataDirs.push(dataDir);
  return dataDir;
}

/** Ends a command as soon as it reports progress on a part. */
async function killAt(part: string, dataDir: string, args: readonly string[], signal: NodeJS.Signals = "SIGKILL") {
  const attempt = new Attempt(process.execPath, [CLI, ...args], { env: environment({ DATA_DIR: dataDir }) });
  await new Promise<unknown>((reached) => {
    attempt.child.stderr!.on("data", () => attempt.stderr.includes(part) && reached(part));
    void attempt.ended().then(reached);
  });
  expect(attempt.stderr).toContain(part);
  return attempt.end(signal);
}

const COMPARED = [
  ...FACT_TABLES.filter((table) => table !== "asa_token"),
  ...["event", "event_day", "touch", "journal_cursor", "cube", "app"],
];

async function tablesOf({ pool }: Touchpoint): Promise<Record<string, object[]>> {
  const tables: Record<string, object[]> = {};
  for (const table of COMPARED) tables[table] = await rowsOf(pool, table);
  return tables;
}

async function markersOf({ pool }: Touchpoint): Promise<string[]> {
  const { rows } = await pool.query(
    "select properties_text::json->>'marker' as marker from event where properties_text::json->'marker' is not null",
  );
  return rows.map(({ marker }) => marker);
}

async function metric({ url }: Touchpoint, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  return Number(new RegExp(`^touchpoint_${name} (\\S+)$`, "m").exec(text)?.[1]);
}

test("a backup of a running server under load comes back elsewhere, alone or beside the newer journal", async () => {
  const scheduled = join(folder, "scheduled");
  mkdirSync(join(scheduled, "20200101T000000Z"), { recursive: true });
  writeFileSync(join(scheduled, "20200101T000000Z/manifest.json"), "an old one");
  const first = await start(newDataDir(), { BACKUP_DIR: scheduled, BACKUP_KEEP: "1" });
  const app = await first.createApp();
  const load = new Load(app);
  load.begin(first.url);
  await load.reach(300);
  const before = [...load.acknowledged];
  const dir = join(folder, "backup");
  await killAt("Tables", first.dataDir, ["backup", dir]);
  const taken = await cliProcessJson(first.dataDir, ["backup", dir, "--passphrase", PASSPHRASE, "--verify"]);
  expect(taken).toMatchObject({ has_key: true, verified: { rows: taken.rows, tables: taken.tables } });
  expect(readdirSync(folder).sort()).toEqual(["backup", "scheduled"]);
  await load.reach(load.acknowledged.size + 300);
  await load.finish(first.url);
  await eventually(() => expect(readdirSync(scheduled)).toEqual([expect.stringMatching(/^(?!2020)\d{8}T\d{6}Z$/)]));
  expect(await metric(first, "backup_bytes")).toBeGreaterThan(0);
  expect(await metric(first, "backup_failing")).toBe(0);
  await cliProcessJson(first.dataDir, ["settle"]);
  const expected = await tablesOf(first);
  const kept = new Set(await markersOf(first));
  // Changes of profiles are applied, but not kept as events.
  const due = before.filter((marker) => kept.has(marker));
  expect(await first.stop()).toBe(0);

  // Alone: everything that was acknowledged before the backup, once.
  const alone = newDataDir();
  await cliProcessJson(alone, ["restore", dir, "--passphrase", PASSPHRASE]);
  const second = await start(alone, { BACKUP_DIR: "/dev/null/nowhere" });
  await second.settle();
  const markers = await markersOf(second);
  const stored = new Set(markers);
  expect(stored.size).toBe(markers.length);
  expect(due.length).toBeGreaterThan(0);
  expect(due.filter((marker) => !stored.has(marker))).toEqual([]);
  await eventually(async () => expect(await metric(second, "backup_failing")).toBe(1));
  await second.stop();

  // Beside the newer journal, after a restore that was killed: the same tables and reports as the original.
  const beside = newDataDir();
  cpSync(join(first.dataDir, "journal"), join(beside, "journal"), { recursive: true });
  const wish = ["restore", dir, "--passphrase", PASSPHRASE];
  await killAt("Restoring", beside, wish);
  const refused = attemptStart({ DATA_DIR: beside });
  expect(await refused.ended()).toBe(1);
  expect(refused.stderr).toMatch(/^A restore of this database was not finished/);
  expect(await cliProcessJson(beside, wish)).toMatchObject({ journal: "kept" });
  const third = await start(beside);
  await cliProcessJson(beside, ["settle"]);
  expect(await tablesOf(third)).toEqual(expected);
  expectFailure(await cliProcess(beside, ["restore", dir]), /is in use by process \d+: stop it first/);
});

test("a trial restore finds a table that differs from the backup's own count of it, and leaves nothing behind", async () => {
  const dir = join(folder, "backup");
  const manifest = readManifest(dir);
  manifest.database.tables.find(({ name }) => name === "user_account")!.digest += 1;
  const spoilt = join(folder, "spoilt");
  cpSync(dir, spoilt, { recursive: true });
  writeFileSync(join(spoilt, "manifest.json"), textOfManifest(manifest));
  const scratch = mkdtempSync(join(folder, "scratch-"));
  const result = await cliProcess(newDataDir(), ["restore", spoilt, "--trial", "--scratch", scratch]);
  expect(result.code).toBe(1);
  expect(result.stderr).toMatch(/The trial restore differs from the backup in user_account: do not rely/);
  expect(readdirSync(scratch)).toEqual([]);
});

test("a trial restore that is interrupted leaves nothing behind, and removes what a killed one has left", async () => {
  const scratch = mkdtempSync(join(folder, "scratch-"));
  const wish = ["restore", join(folder, "backup"), "--trial", "--scratch", scratch];
  expect(await killAt("Restoring", newDataDir(), wish)).toBeNull();
  const left = join(scratch, readdirSync(scratch)[0]!);
  const [cluster, pid] = [clusterOf(left), postmasterOf(left)!];
  const began = startOf(pid);
  expect(began).toBeDefined();
  expect(await killAt("Restoring", newDataDir(), wish, "SIGTERM")).toBe(128 + constants.signals.SIGTERM);
  expect(readdirSync(scratch)).toEqual([]);
  expect(existsSync(cluster)).toBe(false);
  expect(startOf(pid)).not.toBe(began);
});
