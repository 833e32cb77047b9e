import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { AskAnswer } from "../../src/lake/ask.ts";
import type { EngineProcess } from "../../src/lake/engine-process.ts";
import { MIB } from "../../src/limits.ts";
import { ROOT } from "../process/launch.ts";

let root: string;
let engine: EngineProcess;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "lake-"));
  // As it is built, because it starts a process.
  const built = await import(pathToFileURL(join(ROOT, "dist/src/lake/engine-process.js")).href);
  engine = new built.EngineProcess({ memoryBytes: 256 * MIB, threads: 2, root });
});
afterAll(async () => {
  engine.close();
  await rm(root, { recursive: true });
});

const ask = (statement: string, diskBytes = 64 * MIB) =>
  engine.ask({ views: [], files: [], statement, rowsMax: 10, msMax: 60_000, root, diskBytes });
const rowsOf = (answer: AskAnswer) => (answer.kind === "rows" ? answer.rows : answer);

const SETTINGS = ["memory_limit", "threads", "lock_configuration", "enable_external_access", "max_temp_directory_size"];
const settings = `select ${SETTINGS.map((name) => `current_setting('${name}')::text`)}, current_setting('temp_directory')`;

test("each question has an instance of its own, locked down, with the limits of the process and of the question", async () => {
  const folders = new Set<unknown>();
  for (const [index, diskMb] of [64, 128, 256].entries()) {
    const answer = rowsOf(await ask(settings, diskMb * 1e6)) as unknown[][];
    const [[memory, threads, isLocked, access, disk, folder]] = answer as [unknown[]];
    expect([memory, threads, isLocked, access, disk], `question ${index}`).toEqual([
      ...["255.5 MiB", "2", "true", "false"],
      { 64: "61.0 MiB", 128: "122.0 MiB", 256: "244.1 MiB" }[diskMb],
    ]);
    folders.add(folder);
  }
  expect(folders.size).toBe(3);
});

test("a question that was refused or cancelled leaves the next one as it is, and no folder", async () => {
  const endless = "select count(*) from range(1000000) a, range(1000000) b where a.range + b.range = -1";
  expect(await ask("select nothing from nowhere")).toMatchObject({ kind: "refused", reason: "statement" });
  expect(rowsOf(await ask("select 1"))).toEqual([[1]]);
  const cancelled = ask(endless);
  const again = setInterval(() => void engine.cancel(), 50);
  expect(await cancelled).toMatchObject({ kind: "refused", message: "It was cancelled." });
  clearInterval(again);
  expect(rowsOf(await ask("select 2"))).toEqual([[2]]);
  await expect.poll(() => readdir(join(root, "temp"))).toEqual([]);
});

test("a process that was ended is followed by another one at once", async () => {
  engine.stop();
  expect(rowsOf(await ask("select 3"))).toEqual([[3]]);
  const [lost] = await Promise.allSettled([ask("select 4"), Promise.resolve().then(() => engine.stop())]);
  expect(lost).toMatchObject({ status: "rejected" });
  expect(rowsOf(await ask("select 5"))).toEqual([[5]]);
});
