import { readFile } from "node:fs/promises";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Bucket } from "../../../src/lake/bucket/bucket.ts";
import type { Manifest } from "../../../src/lake/bucket/manifest.ts";
import { nameOfFile, nameOfManifest } from "../../../src/lake/bucket/object-name.ts";
import { BucketPush, type Pushed } from "../../../src/lake/bucket/push.ts";
import { openBucket } from "../../../src/lake/bucket/s3-bucket.ts";
import { verifyBucket } from "../../../src/lake/bucket/verify-bucket.ts";
import { DAY_MS, HOUR_MS, NOW_MS, pay, track } from "../../db/apply-stage.ts";
import { type BucketFault, StandInBucket } from "../../support/stand-in-bucket.ts";
import { LakeStage } from "../lake-stage.ts";
import { QUICK } from "./quick.ts";

const PREFIX = "some/lake/";
const MINUTE_MS = 60_000;
/** As the loop allows readers of an earlier manifest. */
const GRACE_MS = 5 * MINUTE_MS;

let stage: LakeStage;
let storage: StandInBucket;
let bucket: Bucket;
let push: BucketPush;
beforeAll(async () => {
  stage = await LakeStage.open();
  storage = await StandInBucket.start();
  bucket = openBucket(storage.settings(), QUICK);
});
beforeEach(begin);
afterAll(async () => {
  bucket.close();
  await storage.stop();
  await stage.close();
});

async function begin(): Promise<void> {
  await stage.begin();
  await stage.apply.pool.query("delete from erased_user");
  storage.objects.clear();
  storage.calls.length = 0;
  storage.fault = () => undefined;
  storage.isEncrypted = false;
  storage.keepsVersions = false;
  push = newPush();
}

function newPush(owner = "us"): BucketPush {
  const { apply, folder } = stage;
  return new BucketPush({ pool: apply.pool, bucket, folder, clock: () => stage.nowMs, owner });
}

const always = () => false;
const turn = (graceMs = 0): Promise<Pushed> => push.turn({ isOut: always, graceMs });
const calls = (method: string) => storage.calls.filter((call) => call.method === method).map(({ name }) => name);
const names = () => [...storage.objects.keys()].map((name) => name.slice(PREFIX.length)).sort();
const ourNames = () => names().filter((name) => name.endsWith(".parquet") && name.includes("/app="));
const manifestName = () => nameOfManifest(stage.apply.app.appId);

function manifest(): Manifest {
  return JSON.parse(storage.objects.get(PREFIX + manifestName())!.bytes.toString());
}

async function write(client: string, sent: object[], at = NOW_MS): Promise<void> {
  await stage.apply.collect(client, sent, { at, registered: "not_required" });
  await stage.apply.applyAll();
  await stage.lake.catchUp();
  // The first time only begins the lake.
  if ((await stage.files()).length === 0) await stage.lake.catchUp();
}

async function erase(client: string): Promise<void> {
  await stage.apply.append("erase", client, {}, { at: NOW_MS + 2_000 });
  await stage.apply.applyAll();
  await stage.lake.catchUp();
}

/** The bucket has the files that count, byte for byte, and the manifest names them. */
async function expectInStep(): Promise<void> {
  const files = await stage.files();
  expect(ourNames()).toEqual(files.map(nameOfFile).sort());
  for (const file of files)
    expect(
      storage.objects.get(PREFIX + nameOfFile(file))!.bytes.equals(await readFile(stage.folder.pathOf(file))),
    ).toBe(true);
  const named = files.length === 0 && !names().includes(manifestName()) ? [] : manifest().files;
  expect(named.map(({ path }) => path).sort()).toEqual(files.map(nameOfFile).sort());
  for (const { path, bytes, rows } of named)
    expect(files.find((file) => nameOfFile(file) === path)).toMatchObject({ bytes, rows });
}

test("only new files go up, the manifest after them, and what they replace is removed after the grace", async () => {
  await write("a", [track("e", { n: 1 }), pay("o1", 600)]);
  expect(await turn()).toMatchObject({ isInStep: true, waitingFiles: 0 });
  await expectInStep();
  const before = names();
  storage.calls.length = 0;
  await turn();
  expect(storage.calls).toEqual([]);
  await write("b", [track("e", { n: 2 })], NOW_MS + 1_000);
  await turn(GRACE_MS);
  const puts = calls("PUT").map((name) => name.slice(PREFIX.length));
  expect(puts.at(-1)).toBe(manifestName());
  expect(puts.filter((name) => before.includes(name))).toEqual([manifestName()]);
  expect(calls("GET")).toEqual([]);
  // The day of users was written anew: the old file stays for whoever reads it.
  expect(calls("DELETE")).toEqual([]);
  expect(ourNames()).toHaveLength((await stage.files()).length + 1);
  stage.nowMs += GRACE_MS;
  await turn(GRACE_MS);
  expect(calls("DELETE")).toHaveLength(1);
  await expectInStep();
});

test("an erased user is in no object, also while nothing can be uploaded", async () => {
  await write("traitor-4711", [track("e", { n: 1 })]);
  await write("b", [track("e", { n: 2 })], NOW_MS + 1_000);
  await turn();
  const has = () => [...storage.objects.values()].some(({ bytes }) => bytes.includes("traitor-4711"));
  expect(has()).toBe(true);
  await erase("traitor-4711");
  storage.fault = ({ method }) => (method === "PUT" ? "full" : undefined);
  await expect(turn(GRACE_MS)).rejects.toMatchObject({ fault: "full" });
  expect(has()).toBe(true);
  stage.nowMs += 20 * MINUTE_MS;
  await expect(turn(GRACE_MS)).rejects.toMatchObject({ fault: "full" });
  expect(has()).toBe(false);
  storage.fault = () => undefined;
  await turn();
  await expectInStep();
});

test("a file that was uploaded before a crash is not uploaded again, unless its ETag tells nothing", async () => {
  for (const isEncrypted of [false, true]) {
    await begin();
    storage.isEncrypted = isEncrypted;
    await write("a", [track("e", { n: 1 })]);
    let left = 2;
    storage.fault = ({ method }) => (method === "PUT" && left-- <= 0 ? "denied" : undefined);
    await expect(turn()).rejects.toMatchObject({ fault: "access" });
    const uploaded = ourNames();
    expect(uploaded.length).toBeGreaterThan(0);
    storage.fault = () => undefined;
    storage.calls.length = 0;
    push = newPush();
    await turn();
    expect(calls("PUT").some((name) => uploaded.includes(name.slice(PREFIX.length)))).toBe(isEncrypted);
    await expectInStep();
    push = newPush();
    storage.calls.length = 0;
    await turn();
    expect(calls("PUT")).toEqual([]);
  }
});

test("objects that are not ours are never touched, and a prefix of another installation is refused", async () => {
  const foreign = [
    "readme.txt",
    "events/notes.txt",
    "events/app=1/day=2024-01-01/x.parquet",
    "manifests/app=1.json.bak",
  ];
  for (const name of foreign) storage.place(PREFIX + name, "somebody's");
  storage.place("some/other/events/app=1/day=2024-01-01/000000001-0123abcd.parquet", "somebody's");
  await write("a", [track("e", { n: 1 })]);
  await turn();
  await erase("a");
  await turn();
  for (const name of foreign) expect(storage.objects.get(PREFIX + name)?.bytes.toString()).toBe("somebody's");
  expect(storage.objects.size).toBe(foreign.length + 1 + 2 + (await stage.files()).length);
  const before = new Map(storage.objects);
  push = newPush("others");
  await expect(turn()).rejects.toMatchObject({ fault: "owner" });
  await expect(push.plan()).rejects.toMatchObject({ fault: "owner" });
  expect(storage.objects).toEqual(before);
});

test("what somebody removes or changes in the bucket is noticed with the next list, and mended", async () => {
  await write("a", [track("e", { n: 1 }), pay("o1", 600)]);
  await turn();
  const [first, second] = ourNames();
  storage.objects.delete(PREFIX + first!);
  storage.place(PREFIX + second!, "changed");
  const { apply, folder } = stage;
  const [check] = await verifyBucket({ pool: apply.pool, bucket, root: folder.root });
  expect(check).toMatchObject({ missing_objects: first, different_objects: second });
  stage.nowMs += 30 * MINUTE_MS;
  await turn();
  await expectInStep();
  const [mended] = await verifyBucket({ pool: apply.pool, bucket, root: folder.root });
  const equal = (await stage.files()).length;
  expect(mended).toMatchObject({ missing_objects: "", different_objects: "", equal_objects: equal, waiting_files: 0 });
});

test("a plan says what a turn would do, and changes nothing", async () => {
  await write("a", [track("e", { n: 1 })]);
  const files = await stage.files();
  const plan = await push.plan();
  expect(plan).toMatchObject([{ appId: stage.apply.app.appId, remove: [] }]);
  expect(plan[0]!.upload).toHaveLength(files.length);
  expect(storage.objects.size).toBe(0);
  await turn();
  expect(await push.plan()).toEqual([]);
});

test("a bucket that keeps versions is told, because erased users stay in it", async () => {
  storage.keepsVersions = true;
  await write("a", [track("e", { n: 1 })]);
  expect((await turn()).keepsVersions).toBe(false);
  await erase("a");
  expect((await turn()).keepsVersions).toBe(true);
});

test("a lake that begins anew leaves none of its former objects behind", async () => {
  await write("a", [track("e", { n: 1 })]);
  await turn();
  await stage.begin();
  push = newPush();
  await turn();
  expect(ourNames()).toEqual([]);
  expect(names()).toEqual(["touchpoint-lake.json"]);
});

const clients = fc.constantFrom("a", "b", "c");
const acts = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      act: fc.constant("write" as const),
      client: clients,
      at: fc.constantFrom(0, 1, HOUR_MS, DAY_MS).map((ms) => NOW_MS + ms),
    }),
  },
  { weight: 2, arbitrary: fc.record({ act: fc.constant("erase" as const), client: clients }) },
  { weight: 2, arbitrary: fc.record({ act: fc.constantFrom("merge" as const, "push" as const, "remove" as const) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      act: fc.constant("crash" as const),
      after: fc.nat(6),
      fault: fc.constantFrom<BucketFault>("cut_before", "cut_after", "denied", "full"),
      isRestarted: fc.boolean(),
    }),
  },
);
type Act = typeof acts extends fc.Arbitrary<infer T> ? T : never;

async function perform(act: Act): Promise<void> {
  stage.nowMs += MINUTE_MS;
  if (act.act === "write") await write(act.client, [track("e", { at: act.at }, act.at), pay(`o${act.at}`, 9)], act.at);
  if (act.act === "erase") await erase(act.client);
  if (act.act === "merge") await stage.lake.turn({ signal: new AbortController().signal, forMs: 60_000 });
  if (act.act === "push") await turn(GRACE_MS);
  if (act.act === "remove") storage.objects.delete(PREFIX + (ourNames()[0] ?? ""));
  if (act.act === "crash") await crash(act);
}

/** The storage fails from some call on, which may take effect, and the process ends or goes on. */
async function crash({ after, fault, isRestarted }: Extract<Act, { act: "crash" }>): Promise<void> {
  let seen = 0;
  storage.fault = () => {
    seen += 1;
    if (seen <= after) return undefined;
    return seen === after + 1 ? fault : "denied";
  };
  await turn(GRACE_MS).catch(() => {});
  storage.fault = () => undefined;
  if (isRestarted) push = newPush();
}

test("whatever happens and wherever it fails, the bucket ends with what the manifest names, byte for byte", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(acts, { minLength: 3, maxLength: 14 }), async (list) => {
      await begin();
      storage.place(`${PREFIX}events/foreign.parquet`, "somebody's");
      await write("d", [track("e", {})]);
      for (const act of list) await perform(act);
      // As after the half hour in which the bucket is listed again.
      stage.nowMs += 30 * MINUTE_MS;
      const pushed = await turn();
      expect(pushed.isInStep).toBe(true);
      await expectInStep();
      expect(storage.objects.has(`${PREFIX}events/foreign.parquet`)).toBe(true);
    }),
    { numRuns: Number(process.env.LAKE_RUNS ?? 10) },
  );
});
