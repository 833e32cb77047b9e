import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chownSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { clusterOf } from "../../sim/chaos/postmaster.ts";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "../../src/db/engine/embedded.ts";
import { runnerOf } from "../../src/db/engine/embedded-runtime.ts";
import { UsageError } from "../../src/errors.ts";
import { createLog } from "../../src/log.ts";
import { TEST_MS_MAX } from "../support/patience.ts";
import { prepareDataDir } from "../support/prepared.ts";
import { cleanUp } from "../support/touchpoint.ts";

const log = createLog("silent");

let dataDir: string;
let running: EmbeddedPostgres | undefined;
/** A process that has nothing to do with the database but is run by the same user. */
let bystander: ChildProcess;

beforeEach(() => {
  dataDir = prepareDataDir();
  bystander = spawn("sleep", [String(TEST_MS_MAX / 1000)], { ...runnerOf(), cwd: "/", stdio: "ignore" });
});

afterEach(async () => {
  await running?.stop();
  running = undefined;
  const ended = once(bystander, "exit");
  bystander.kill("SIGKILL");
  await ended;
  await cleanUp(dataDir);
});

const pidFile = () => join(clusterOf(dataDir), "cluster", "postmaster.pid");

/** The text of the postmaster's file with another pid in it. */
const withPid = (text: string, pid: number) => text.replace(/^\d+/, String(pid));

test("a database that listens on its socket is not started twice, though its pid is another process's here", async () => {
  running = await startEmbeddedPostgres({ dataDir, log });
  // As a second container on the same volume sees it.
  const text = readFileSync(pidFile(), "utf8");
  writeFileSync(pidFile(), withPid(text, bystander.pid!));
  const second = startEmbeddedPostgres({ dataDir, log });
  await expect(second).rejects.toThrow(UsageError);
  await expect(second).rejects.toThrow(/is already running, in another container or under another server: stop that/);
  expect(bystander.signalCode, "the other process").toBeNull();
  writeFileSync(pidFile(), text);
});

test("files left by a power cut are not in the way, though their pid is another process's by now", async () => {
  running = await startEmbeddedPostgres({ dataDir, log });
  const files = [pidFile(), join(clusterOf(dataDir), ".s.PGSQL.5432.lock")];
  const texts = files.map((file) => readFileSync(file, "utf8"));
  await running.stop();
  const runner = runnerOf();
  for (const [at, file] of files.entries()) {
    writeFileSync(file, withPid(texts[at]!, bystander.pid!), { mode: 0o600 });
    if (runner) chownSync(file, runner.uid, runner.gid);
  }
  running = await startEmbeddedPostgres({ dataDir, log });
  expect(bystander.signalCode, "the other process").toBeNull();
});
