import { afterAll, beforeAll, expect, test } from "vitest";
import type { App } from "../../src/db/app.ts";
import { cli, cliJson, cliProcess, expectFailure } from "../cli/run.ts";
import { AdminCaller } from "../support/admin-caller.ts";
import { eventually } from "../support/patience.ts";
import { StandInBucket } from "../support/stand-in-bucket.ts";
import { cleanUp, TouchpointProcess } from "../support/touchpoint.ts";

let storage: StandInBucket;
let server: TouchpointProcess;
let app: App;
beforeAll(async () => {
  storage = await StandInBucket.start();
  // A wrong key at first.
  storage.fault = () => "denied";
  const env = { ROLES: "http,apply,refresh,postback,cost,lake", ...storage.environment };
  server = await TouchpointProcess.start({ env });
  app = await server.appWith(["a"]);
  await server.collect(app, "a", [{ type: "track", event: "level", time: Date.now(), properties: {} }]);
});
afterAll(async () => {
  await server.stop();
  await storage.stop();
  await cleanUp(server.dataDir);
});

const push = (...args: string[]) => cliJson(server.dataDir, ["lake", "push", ...args], storage.environment);
const ours = () => [...storage.objects.keys()].filter((name) => name.includes(`app=${app.appId}/`));

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`${server.url}/metrics`)).text();
  return Number(new RegExp(`^touchpoint_${name} (\\S+)$`, "m").exec(text)?.[1]);
}

test("a bucket that refuses stalls nothing, and says why in readiness, metrics, health and status", async () => {
  const sentence = "The access key may not do this in the bucket";
  await eventually(async () => expect((await server.get("/readyz")).data.lake).toContain(sentence));
  await eventually(async () => expect(await metric("lake_files")).toBeGreaterThan(0));
  await eventually(async () => expect(await metric("lake_bucket_failing")).toBe(1));
  expect(await metric("lake_failing")).toBe(0);
  const health = await new AdminCaller(server).get("health");
  expect(health.data.lake).toMatchObject({ failure: "", bucket: { files: 0 } });
  expect(health.data.lake.bucket.failure).toContain(sentence);
  expect((await cliJson(server.dataDir, ["lake", "status"], storage.environment)).bucket.failure).toContain(sentence);
  const refused = await cliProcess(server.dataDir, ["lake", "push"], storage.environment);
  expectFailure(refused, /may not do this.*AccessDenied 403/);
  expectFailure(await cli(server.dataDir, ["lake", "push"]), /LAKE_BUCKET_URL is not set/);
});

test("the server brings the bucket in step by itself once it can, and the command does it on demand", async () => {
  storage.fault = () => undefined;
  await eventually(() => expect(ours().length).toBeGreaterThan(0));
  await eventually(async () => expect(await metric("lake_bucket_failing")).toBe(0));
  expect((await server.get("/readyz")).data.lake).toBeUndefined();
  const pushed = await push("--verify");
  expect(pushed.verified).toContainEqual(
    expect.objectContaining({ app_id: app.appId, missing_objects: "", different_objects: "", unnamed_objects: 0 }),
  );
  const [gone] = ours();
  storage.objects.delete(gone!);
  const name = gone!.replace("some/lake/", "");
  const missing = await cli(server.dataDir, ["lake", "push", "--dry-run", "--verify"], storage.environment);
  expect(missing).toMatchObject({ code: 1 });
  expect(missing.stdout).toContain(name);
  expect(storage.objects.has(gone!)).toBe(false);
  const text = await cli(server.dataDir, ["lake", "push"], storage.environment);
  expect(text.stdout).toMatch(/^\d+ files were uploaded and \d+ objects removed; the bucket has \d+ files/);
  expect(storage.objects.has(gone!)).toBe(true);
  expect((await push("--dry-run")).plan).toEqual([]);
  expect((await cli(server.dataDir, ["lake", "status"], storage.environment)).stdout).toContain("in step at");
});
