import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { holderOf, lockDataDir } from "../src/data-lock.ts";
import { UsageError } from "../src/errors.ts";
import { eventually, PATIENCE_MS } from "./support/patience.ts";

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
  const script = `import(process.argv[1]).then(async ({ lockDataDir }) => {
    try { await lockDataDir(process.argv[2]); console.log("locked"); } catch (error) { console.log(error.message); }
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
  const lock = await lockDataDir(dataDir);
  expect(await startOther()).toBe(
    `${dataDir} is in use by process ${process.pid}: stop it first, or set another DATA_DIR.`,
  );
  lock.release();
});

test("we are refused while another process holds the folder, and take over when it was killed", async () => {
  expect(await startOther()).toBe("locked");
  await expect(lockDataDir(dataDir)).rejects.toThrow(UsageError);
  await expect(lockDataDir(dataDir)).rejects.toThrow(`process ${child!.pid}`);
  expect(holderOf(dataDir)?.pid).toBe(child!.pid);
  await killChild();
  expect(holderOf(dataDir)).toBeUndefined();
  const lock = await lockDataDir(dataDir);
  expect(holderOf(dataDir)?.pid).toBe(process.pid);
  lock.release();
});

test("the same process cannot take the folder twice", async () => {
  const lock = await lockDataDir(dataDir);
  await expect(lockDataDir(dataDir)).rejects.toThrow(UsageError);
  lock.release();
});

test.each([
  ["our own", () => process.pid],
  ["another living process's", () => process.ppid],
])("a lock left behind with a process id that is now %s is taken over", async (_, pid) => {
  writeFileSync(join(dataDir, "lock.json"), JSON.stringify({ pid: pid(), startedAt: "another boot 12345" }));
  expect(holderOf(dataDir)).toBeUndefined();
  const lock = await lockDataDir(dataDir);
  expect(holderOf(dataDir)?.pid).toBe(process.pid);
  lock.release();
});

test.each(["", "{", "null", '{"pid":'])("a lock file with %j in it, torn by a crash, is taken over", async (text) => {
  writeFileSync(join(dataDir, "lock.json"), text);
  (await lockDataDir(dataDir)).release();
  expect(readdirSync(dataDir)).toEqual([]);
});

test("a released folder can be taken again, and nothing is left in it", async () => {
  (await lockDataDir(dataDir)).release();
  (await lockDataDir(dataDir)).release();
  expect(readdirSync(dataDir)).toEqual([]);
});

test("the holder's address is known from the moment it is published", async () => {
  const lock = await lockDataDir(dataDir);
  expect(holderOf(dataDir)?.address).toBeUndefined();
  lock.publish("http://127.0.0.1:8080");
  expect(holderOf(dataDir)).toMatchObject({ pid: process.pid, address: "http://127.0.0.1:8080" });
  expect(JSON.parse(readFileSync(join(dataDir, "lock.json"), "utf8")).pid).toBe(process.pid);
  lock.release();
  expect(holderOf(dataDir)).toBeUndefined();
});

/** A lock as a server in another container leaves it, whose processes we cannot see. */
function lockElsewhere(touchedAtMs: number): void {
  const elsewhere = { pid: 1, startedAt: "boot 1", namespace: "boot pid:[1]", host: "pod-7" };
  writeFileSync(join(dataDir, "lock.json"), JSON.stringify(elsewhere));
  touch(touchedAtMs);
}

function touch(touchedAtMs: number): void {
  utimesSync(join(dataDir, "lock.json"), touchedAtMs / 1000, touchedAtMs / 1000);
}

test.each([
  ["now", 0],
  ["an hour ago, by the clock of its machine", -3_600_000],
])(
  "a lock of another container that is touched while we wait is refused, even if it was touched %s",
  async (_, aheadMs) => {
    lockElsewhere(Date.now() + aheadMs);
    const beat = setInterval(() => touch(Date.now() + aheadMs), 20);
    try {
      await expect(lockDataDir(dataDir, { silentMs: PATIENCE_MS })).rejects.toThrow(
        `${dataDir} is in use by process 1 of pod-7, in another container or on another machine: stop it first, or set another DATA_DIR.`,
      );
    } finally {
      clearInterval(beat);
    }
    expect(readdirSync(dataDir), "the lock stays").toEqual(["lock.json"]);
  },
);

test.each([
  ["just now", 0],
  ["in the future, before the clock was set back", 3_600_000],
])("a lock of another container that stays silent is taken over, even if it was touched %s", async (_, aheadMs) => {
  lockElsewhere(Date.now() + aheadMs);
  const lock = await lockDataDir(dataDir, { silentMs: 50 });
  expect(holderOf(dataDir)).toMatchObject({ pid: process.pid, host: hostname() });
  lock.release();
  expect(readdirSync(dataDir)).toEqual([]);
});

test("of several that wait for the same silent lock exactly one takes it over", async () => {
  lockElsewhere(Date.now());
  const waiting = await Promise.allSettled(Array.from({ length: 5 }, () => lockDataDir(dataDir, { silentMs: 50 })));
  expect(waiting.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  expect(readdirSync(dataDir)).toEqual(["lock.json"]);
});

test("a holder in another container counts as one while its lock is touched", () => {
  lockElsewhere(Date.now());
  expect(holderOf(dataDir)).toMatchObject({ pid: 1, host: "pod-7" });
  lockElsewhere(Date.now() - 3_600_000);
  expect(holderOf(dataDir)).toBeUndefined();
});

test("a holder touches its lock again and again, and leaves alone one that has been taken from it", async () => {
  const lock = await lockDataDir(dataDir, { beatMs: 10 });
  const path = join(dataDir, "lock.json");
  for (let beats = 0; beats < 2; beats += 1) {
    const beforeMs = statSync(path).mtimeMs;
    await eventually(() => expect(statSync(path).mtimeMs).not.toBe(beforeMs));
  }
  lockElsewhere(0);
  lock.publish("http://127.0.0.1:8080");
  lock.release();
  expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ host: "pod-7" });
});
