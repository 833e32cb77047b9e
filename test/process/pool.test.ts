import { execFileSync } from "node:child_process";
import { closeSync, constants, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventually } from "../support/patience.ts";
import { TouchpointProcess } from "../support/touchpoint.ts";

const folder = mkdtempSync(join(tmpdir(), "touchpoint-pool-"));
const pipe = join(folder, "pipe");

/** On a signal, starts more work than the pool has threads, none of which ends before the pipe is written to. */
const fillsPool = `
  import fs from "node:fs";
  import { isMainThread } from "node:worker_threads";
  if (isMainThread) process.on("SIGUSR2", () => {
    for (let i = 0; i < 64; i += 1) fs.open(${JSON.stringify(pipe)}, "r", (_, fd) => fs.closeSync(fd));
    fs.stat(".", () => console.log("the pool is free"));
    console.log("the pool is full");
  });`;

let server: TouchpointProcess;
beforeAll(async () => {
  execFileSync("mkfifo", [pipe]);
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(fillsPool)}`;
  server = await TouchpointProcess.start({ env: { NODE_OPTIONS } });
});
afterAll(async () => {
  expect(await server.stop()).toBe(0);
  rmSync(folder, { recursive: true });
});

const says = (text: string) => eventually(() => expect(server.output).toContain(text));

test("an acknowledgement waits for nothing else: the journal is written while the thread pool hangs", async () => {
  const app = await server.appWith(["u"]);
  server.child.kill("SIGUSR2");
  await says("the pool is full");
  const link = { app_id: String(app.appId), company: "tencent", click_id: "c" };
  expect(await server.get("/event_center/api/v1/event/click/", link)).toMatchObject({ code: 0 });
  const event = { type: "track", event: "level_up", time: Date.now(), properties: {} };
  expect(await server.collect(app, "u", [event])).toMatchObject({ code: 0 });
  expect(server.output).not.toContain("the pool is free");
  const writer = openSync(pipe, constants.O_RDWR);
  await says("the pool is free");
  closeSync(writer);
  await server.settle();
});
