import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { pino } from "pino";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Backups } from "../../src/backup/backup-loop.ts";
import type { takeInThread } from "../../src/backup/backup-thread.ts";
import { draftOf } from "../../src/backup/draft.ts";
import { readConfig } from "../../src/config.ts";
import { Server } from "../../src/db/server/server.ts";
import { ROOT } from "../process/launch.ts";

const NOW_MS = Date.UTC(2026, 10, 17, 1, 30);
const url = "postgres://nobody@127.0.0.1:1/none";

let folder: string;
let backups: Backups;
const said: string[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "touchpoint-backups-"));
  said.length = 0;
});
afterEach(async () => {
  await backups?.stop();
  rmSync(folder, { recursive: true });
});

function start(take: typeof takeInThread, lookMs?: number): void {
  backups = new Backups({
    config: readConfig({ BACKUP_DIR: folder, BACKUP_KEEP: "1", DATABASE_URL: url }),
    database: { direct: new Server({ kind: "url", url, sessions: "own" }) },
    log: pino({ level: "warn" }, { write: (line: string) => said.push(line) }),
    clock: () => NOW_MS,
    opening: { missing: () => undefined },
    take,
    lookMs,
  });
  backups.start();
}

function place(name: string): void {
  mkdirSync(join(folder, name));
  writeFileSync(join(folder, name, "manifest.json"), "{}");
}

const TAKEN = "20261117T013000Z";
const taking: typeof takeInThread = async () => {
  place(TAKEN);
  return 7;
};

test("a backup from the future is no reason to wait, and goes first", async () => {
  place("20991231T000000Z");
  start(taking);
  await expect.poll(() => readdirSync(folder)).toEqual([TAKEN]);
  expect(backups.state).toMatchObject({ lastAtMs: NOW_MS, bytes: 7, failure: "" });
  expect(said).toEqual([]);
});

test("a backup that was taken is no failure because an old one cannot be removed", async () => {
  place("20261101T000000Z");
  // In the way of the name that a backup has while it is removed.
  mkdirSync(join(draftOf(join(folder, "20261101T000000Z")), "tables"), { recursive: true });
  start(taking);
  await expect.poll(() => said).toContainEqual(expect.stringContaining("Old backups could not be removed."));
  expect(backups.state).toMatchObject({ lastAtMs: NOW_MS, bytes: 7, failure: "" });
});

test("a backup that takes too long is ended and leaves nothing behind", async () => {
  // The built script, because a thread runs no TypeScript.
  const built = pathToFileURL(join(ROOT, "dist/src/backup/backup-thread.js")).href;
  const thread = (await import(built)) as { takeInThread: typeof takeInThread };
  // A database that accepts connections and never says anything.
  const silent = createServer().listen(0, "127.0.0.1");
  await new Promise((done) => silent.once("listening", done));
  const { port } = silent.address() as { port: number };
  start((settings, { signal }) => {
    const connection = { kind: "url", url: `postgres://nobody@127.0.0.1:${port}/none`, sessions: "own" } as const;
    return thread.takeInThread({ ...settings, connection }, { signal, msMax: 36 });
  });
  await expect.poll(() => backups.state?.failure).toBe("It was not done after 0.00001 hours.");
  expect(readdirSync(folder)).toEqual([]);
  silent.close();
});

test("a folder that does not answer holds up nothing, is shown as the failure, and is no place for a backup", async () => {
  const name = "20261101T000000Z";
  const manifest = join(folder, name, "manifest.json");
  mkdirSync(join(folder, name));
  // As on a network mount that hangs: a read of it waits until somebody writes.
  execFileSync("mkfifo", [manifest]);
  start(taking, 20);
  await expect.poll(() => backups.state?.failure).toBe(`${folder} cannot be read: it does not answer.`);
  expect(said).toEqual([expect.stringContaining("No backup is taken until BACKUP_DIR answers.")]);
  await backups.stop();
  expect(readdirSync(folder)).toEqual([name]);
  writeFileSync(manifest, "{}");
  await expect.poll(() => backups.state).toMatchObject({ lastAtMs: Date.UTC(2026, 10, 1), failure: "" });
});
