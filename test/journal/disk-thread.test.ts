import { closeSync, constants, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Worker } from "node:worker_threads";
import { afterAll, expect, test } from "vitest";
import type { DiskThread } from "../../src/journal/disk-thread.ts";
import { ROOT } from "../process/launch.ts";
import { bodiesOf, entryOf, newFolder, openJournal, readAll, removeFolders } from "./temp-journal.ts";

afterAll(removeFolders);

/** The built script, because a thread runs no TypeScript. */
async function startThread(): Promise<{ disk: DiskThread; threads: Worker[] }> {
  const built = await import(pathToFileURL(join(ROOT, "dist/src/journal/disk-thread.js")).href);
  const threads: Worker[] = [];
  process.on("worker", (thread) => threads.push(thread));
  return { disk: new built.DiskThread(), threads };
}

test("bytes arrive where they belong, from shared memory and from memory of one's own alike", async () => {
  const { disk } = await startThread();
  const path = join(newFolder(), "file");
  const fd = openSync(path, constants.O_RDWR | constants.O_CREAT);
  await disk.write(fd, Buffer.from("0123456789"), 0);
  const shared = Buffer.from(new SharedArrayBuffer(200_000)).fill("x", 0, 100_000).fill("end", 100_000);
  await disk.write(fd, shared.subarray(0, 100_003), 5);
  await disk.truncate(fd, 100_007);
  await disk.sync(fd);
  closeSync(fd);
  expect(readFileSync(path, "latin1")).toBe(`01234${"x".repeat(100_000)}en`);
  await disk.close();
});

test("a failure affects only its own task", async () => {
  const { disk } = await startThread();
  const folder = newFolder();
  const outcomes = await Promise.allSettled([disk.sync(99_999), disk.syncFolder(folder), disk.syncFolder("/nowhere")]);
  expect(outcomes).toMatchObject([
    { status: "rejected", reason: { message: expect.stringMatching(/^EBADF/) } },
    { status: "fulfilled" },
    { status: "rejected", reason: { message: expect.stringMatching(/^ENOENT/) } },
  ]);
  await disk.close();
});

test("a journal whose thread ends refuses the current entries, and goes on with the next thread", async () => {
  const { disk, threads } = await startThread();
  const journal = await openJournal(newFolder(), { disk });
  await journal.append(entryOf("before"));
  const ended = threads.at(-1)!.terminate();
  const lost = await Promise.allSettled([journal.append(entryOf("lost"))]);
  await ended;
  await journal.append(entryOf("after"));
  const isLost = lost[0]!.status === "rejected";
  expect(bodiesOf(await readAll(journal.dir, journal.durable))).toEqual(
    isLost ? ["before", "after"] : ["before", "lost", "after"],
  );
  expect(threads).toHaveLength(2);
  await journal.close();
});
