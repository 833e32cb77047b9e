import { closeSync, fdatasyncSync, fsyncSync, ftruncateSync, openSync, writeSync } from "node:fs";
import { parentPort } from "node:worker_threads";
import { messageOf } from "../errors.ts";
import type { DiskOutcome, DiskTask } from "./disk-thread.ts";

const port = parentPort!;

port.on("message", (task: DiskTask) => port.postMessage(outcomeOf(task)));

function outcomeOf(task: DiskTask): DiskOutcome {
  try {
    perform(task);
    return { kind: "done" };
  } catch (error) {
    return { kind: "failed", message: messageOf(error) };
  }
}

function perform(task: DiskTask): void {
  switch (task.kind) {
    case "write":
      writeAll(task.fd, task.bytes, task.at);
      break;
    case "sync":
      fdatasyncSync(task.fd);
      break;
    case "truncate":
      ftruncateSync(task.fd, task.length);
      break;
    case "sync_folder":
      syncFolder(task.dir);
      break;
  }
}

function writeAll(fd: number, bytes: Uint8Array, at: number): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(fd, bytes, done, bytes.length - done, at + done);
}

function syncFolder(dir: string): void {
  if (process.platform === "win32") return;
  const fd = openSync(dir, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
