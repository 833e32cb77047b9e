import { expect, test } from "vitest";
import { Attempt, CLI, environment } from "../process/launch.ts";
import { sharedServer } from "../support/shared-server.ts";
import { cliJson } from "./run.ts";

const server = sharedServer();
const { dataDir } = server;
const env = environment({ DATA_DIR: dataDir });

/** Runs a command whose output nobody reads any more. */
async function unread(...args: string[]): Promise<{ code: number | null; stderr: string }> {
  const attempt = new Attempt(process.execPath, [CLI, ...args], { env });
  attempt.child.stdout!.destroy();
  return { code: await attempt.ended(), stderr: attempt.stderr };
}

test.each([["--help"], ["app", "list"]])("a reader who leaves early is no failure: %s %s", async (...args) => {
  expect(await unread(...args)).toEqual({ code: 0, stderr: "" });
});

test("an export ends when its reader leaves", async () => {
  const app = await server.createApp();
  await server.register(app, "c");
  const properties = { text: "x".repeat(1_000) };
  const events = Array.from({ length: 100 }, (_, index) => ({
    type: "track",
    event: "e",
    time: Date.now() - index,
    properties,
  }));
  await server.collect(app, "c", events);
  await cliJson(dataDir, ["settle"]);
  const days = ["--from", "2000-01-01", "--to", "2099-12-31"];
  expect(await unread("export", "events", "--app", String(app.appId), ...days)).toEqual({ code: 0, stderr: "" });
});

test("output for which there is no space is told once, and fails the command", async () => {
  const shell = ["-c", '"$@" > /dev/full', "sh", process.execPath, CLI];
  const attempt = new Attempt("sh", [...shell, "docs", "metrics"], { env });
  expect(await attempt.ended()).toBe(1);
  expect(attempt.stderr).toMatch(/^The output cannot be written: [^\n]*ENOSPC[^\n]*\n$/);
});

test("a command goes on when nobody reads its messages", async () => {
  const attempt = new Attempt(process.execPath, [CLI, "no-such-command"], { env });
  attempt.child.stderr!.destroy();
  expect(await attempt.ended()).toBe(2);
});
