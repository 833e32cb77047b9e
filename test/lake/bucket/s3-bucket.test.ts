import { randomBytes } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { BucketSettings } from "../../../src/config.ts";
import type { Bucket, StoredObject } from "../../../src/lake/bucket/bucket.ts";
import { BUCKET_FAULTS, type BucketFault } from "../../../src/lake/bucket/bucket-error.ts";
import { bodyOfFile, bodyOfJson } from "../../../src/lake/bucket/object-body.ts";
import { openBucket } from "../../../src/lake/bucket/s3-bucket.ts";
import { StandInBucket } from "../../support/stand-in-bucket.ts";
import { QUICK } from "./quick.ts";

let storage: StandInBucket;
let folder: string;
const opened: Bucket[] = [];
beforeAll(async () => {
  storage = await StandInBucket.start();
  folder = await mkdtemp(join(tmpdir(), "bucket-"));
});
afterEach(() => {
  storage.objects.clear();
  storage.calls.length = 0;
  storage.fault = () => undefined;
  storage.pageSize = 1_000;
  for (const bucket of opened.splice(0)) bucket.close();
});
afterAll(async () => {
  await storage.stop();
  await rm(folder, { recursive: true });
});

function open(more: Partial<BucketSettings> = {}, limits = QUICK): Bucket {
  const bucket = openBucket(storage.settings(more), limits);
  opened.push(bucket);
  return bucket;
}

async function listed(bucket: Bucket, under: string): Promise<StoredObject[]> {
  const found: StoredObject[] = [];
  for await (const object of bucket.list(under)) found.push(object);
  return found;
}

test("a large file arrives byte for byte, below the prefix, with its MD5 as the ETag", async () => {
  const content = randomBytes(9 * 1024 * 1024 + 1);
  const path = join(folder, "large");
  await writeFile(path, content);
  const body = await bodyOfFile(path);
  const { etag } = await open().put("events/x (1).parquet", body);
  expect(storage.objects.get("some/lake/events/x (1).parquet")!.bytes.equals(content)).toBe(true);
  expect([etag, body.bytes]).toEqual([body.md5, content.length]);
});

test("an object is read, listed over several pages, and removed", async () => {
  storage.pageSize = 2;
  const bucket = open();
  const names = ["a/1", "a/2 +&=ü'", "a/3", "a/4", "a/5"];
  for (const name of names) await bucket.put(name, bodyOfJson({ name }));
  await bucket.put("b/1", bodyOfJson({}));
  expect((await listed(bucket, "a/")).map(({ name }) => name)).toEqual(names);
  expect((await bucket.read(names[1]!))?.text).toBe(`{"name":"${names[1]}"}\n`);
  expect(await bucket.read("a/9")).toBeUndefined();
  expect(await bucket.remove("a/1")).toBe("removed");
  expect(await bucket.remove("a/1")).toBe("removed");
  storage.keepsVersions = true;
  expect(await bucket.remove("a/2 +&=ü'")).toBe("kept");
  storage.keepsVersions = false;
  expect((await listed(bucket, "")).map(({ name }) => name)).toEqual(["a/3", "a/4", "a/5", "b/1"]);
});

test.each<[string, Partial<BucketSettings>, BucketFault]>([
  ["an unknown key", { keyId: "AKIAOTHER" }, "key"],
  ["a wrong secret", { key: "another" }, "signature"],
  ["a wrong region", { region: "us-east-1" }, "region"],
  ["no such bucket", { address: { bucket: "other-bucket", prefix: "" } }, "bucket"],
  ["nobody at the address", { endpoint: "http://127.0.0.1:9" }, "away"],
  ["a name that does not exist", { endpoint: "http://nowhere.invalid" }, "away"],
])("%s is told in a sentence that names the setting", async (_, settings, fault) => {
  await expect(open(settings).put("a", bodyOfJson({}))).rejects.toMatchObject({ fault, message: BUCKET_FAULTS[fault] });
});

test.each([
  ["denied", "access", 1],
  ["full", "full", 1],
  ["skewed", "clock", 3],
  ["fails", "failing", 3],
  ["slow_down", "failing", 3],
  ["cut_before", "away", 3],
] as const)("a storage that answers %s: %s, after %i attempts", async (answer, fault, attempts) => {
  storage.fault = () => answer;
  await expect(open().put("a", bodyOfJson({}))).rejects.toMatchObject({ fault });
  expect(storage.calls).toHaveLength(attempts);
});

test("a storage that never answers is given up", async () => {
  storage.fault = () => "silent";
  const impatient = open({}, { ...QUICK, callMs: 200 });
  await expect(impatient.put("a", bodyOfJson({}))).rejects.toMatchObject({ fault: "slow" });
  await expect(listed(impatient, "")).rejects.toMatchObject({ fault: "slow" });
});

test("what fails once for a passing reason is done with the next attempt, a file from its beginning", async () => {
  const path = join(folder, "file");
  await writeFile(path, randomBytes(300_000));
  for (const fault of ["fails", "cut_before", "cut_after"] as const) {
    let left = 2;
    storage.fault = () => (left-- > 0 ? fault : undefined);
    await open().put(fault, await bodyOfFile(path));
    expect(storage.objects.get(`some/lake/${fault}`)!.bytes).toHaveLength(300_000);
  }
});

test("a bucket that is closed ends its calls", async () => {
  storage.fault = () => "silent";
  const bucket = open();
  const call = bucket.put("a", bodyOfJson({}));
  await expect.poll(() => storage.calls.length).toBe(1);
  bucket.close();
  await expect(call).rejects.toThrow();
});
