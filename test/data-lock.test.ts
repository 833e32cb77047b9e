import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { holderOf, lockDataDir } from "../src/data-lock.ts";
import { UsageError } from "../src/errors.ts";

const MODULE = new URL("../dist/src/data-lock.js", import.meta.url).href;

let dataDir: string;
let child: ChildProcess | undefined;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "touchpoint-lock-"));
});

afterEach(async () => {
  await killChild();
  rmSync(dataDir, { recursive: true });
});

/** Another process that tries to take the folder, reports the result, and stays. */
async function startOther(): Promise<string> {
  const script = `import(process.argv[1]).then(({ lockDataDir }) => {
    try { lockDataDir(process.argv[2]); console.log("locked"); } catch (error) { console.log(error.message); }
    setInterval(() => {}, 1000);
  });`;
  child = spawn(process.execPath, ["-e", script, MODULE, dataDir], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = await once(child.stdout!, "data");
  return String(line).trim();
}

async function killChild(): Promise<void> {
  if (!child || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

test("a second process is refused while the first one lives, and learns who it is", async () => {
  const lock = lockDataDir(dataDir);
  expect(await startOther()).toBe(
    `${dataDir} is in use by process ${process.pid}: stop it first, or set another DATA_DIR.`,
  );
  lock.release();
});

test("we are refused while another process holds the folder, and take over when it was killed", async () => {
  expect(await startOther()).toBe("locked");
  expect(() => lockDataDir(dataDir)).toThrow(UsageError);
  expect(() => lockDataDir(dataDir)).toThrow(`process ${child!.pid}`);
  expect(holderOf(dataDir)?.pid).toBe(child!.pid);
  await killChild();
  expect(holderOf(dataDir)).toBeUndefined();
  const lock = lockDataDir(dataDir);
  expect(holderOf(dataDir)?.pid).toBe(process.pid);
  lock.release();
});

test("the same process cannot take the folder twice", () => {
  const lock = lockDataDir(dataDir);
  expect(() => lockDataDir(dataDir)).toThrow(UsageError);
  lock.release();
});

test.each([
  ["our own", () => process.pid],
  ["another living process's", () => process.ppid],
])("a lock left behind with a process id that is now %s is taken over", (_, pid) => {
  writeFileSync(join(dataDir, "lock.json"), JSON.stringify({ pid: pid(), startedAt: "another boot 12345" }));
  expect(holderOf(dataDir)).toBeUndefined();
  const lock = lockDataDir(dataDir);
  expect(holderOf(dataDir)?.pid).toBe(process.pid);
  lock.release();
});

test.each(["", "{", "null", '{"pid":'])("a lock file with %j in it, torn by a crash, is taken over", (text) => {
  writeFileSync(join(dataDir, "lock.json"), text);
  lockDataDir(dataDir).release();
  expect(readdirSync(dataDir)).toEqual([]);
});

test("a released folder can be taken again, and nothing is left in it", () => {
  lockDataDir(dataDir).release();
  lockDataDir(dataDir).release();
  expect(readdirSync(dataDir)).toEqual([]);
});

test("the holder's address is known from the moment it is published", () => {
  const lock = lockDataDir(dataDir);
  expect(holderOf(dataDir)?.address).toBeUndefined();
  lock.publish("http://127.0.0.1:8080");
  expect(holderOf(dataDir)).toMatchObject({ pid: process.pid, address: "http://127.0.0.1:8080" });
  expect(JSON.parse(readFileSync(join(dataDir, "lock.json"), "utf8")).pid).toBe(process.pid);
  lock.release();
  expect(holderOf(dataDir)).toBeUndefined();
});
