import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { inTransaction } from "../../../src/db/engine/pool.ts";
import { forgetLakeState, loadLakeState, tryPushLock } from "../../../src/db/lake-state.ts";
import { bucketOwnerOf, Pusher } from "../../../src/lake/bucket/pusher.ts";
import { NOW_MS, track } from "../../db/apply-stage.ts";
import { StandInBucket } from "../../support/stand-in-bucket.ts";
import { LakeStage } from "../lake-stage.ts";

let stage: LakeStage;
let storage: StandInBucket;
const pushers: Pusher[] = [];
beforeAll(async () => {
  stage = await LakeStage.open();
  storage = await StandInBucket.start();
});
beforeEach(async () => {
  await stage.begin();
  await stage.apply.pool.query("delete from erased_user");
  await forgetLakeState(stage.apply.pool, "bucket");
  storage.objects.clear();
  storage.calls.length = 0;
  storage.keepsVersions = false;
  await write("a");
});
afterAll(async () => {
  for (const pusher of pushers) pusher.close();
  await storage.stop();
  await stage.close();
});

function newPusher(): Pusher {
  const { apply, folder } = stage;
  const owner = bucketOwnerOf(Buffer.alloc(32, 1));
  const settings = storage.settings();
  const pusher = new Pusher({ pool: apply.pool, settings, root: folder.root, clock: () => stage.nowMs, owner });
  pushers.push(pusher);
  return pusher;
}

async function write(client: string): Promise<void> {
  await stage.apply.collect(client, [track("e", {})], { at: NOW_MS, registered: "not_required" });
  await stage.apply.applyAll();
  await stage.lake.catchUp();
  await stage.lake.catchUp();
}

const turn = (pusher: Pusher) => pusher.turn({ isOut: () => false, graceMs: 0 });
const state = () => loadLakeState(stage.apply.pool, "bucket");
const lists = () => storage.calls.filter(({ method, name }) => method === "GET" && name === "").length;

test("a turn notes how the bucket is doing, and since when it is not in step", async () => {
  const pusher = newPusher();
  await turn(pusher);
  const files = (await stage.files()).length;
  expect(await state()).toMatchObject({ turns: 1, files, waitingFiles: 0, behindSinceMs: null, failure: "" });
  storage.fault = () => "denied";
  await write("b");
  const sinceMs = stage.nowMs;
  await expect(turn(pusher)).rejects.toMatchObject({ fault: "access" });
  stage.nowMs += 60_000;
  await expect(turn(pusher)).rejects.toMatchObject({ fault: "access" });
  expect(await state()).toMatchObject({ turns: 3, behindSinceMs: sinceMs, workedAtMs: sinceMs + 60_000 });
  expect((await state())!.failure).toContain("The access key may not do this");
  storage.fault = () => undefined;
  await turn(pusher);
  expect(await state()).toMatchObject({ behindSinceMs: null, failure: "" });
});

test("only one process is at the bucket, and who finds that another was there looks again", async () => {
  const [one, other] = [newPusher(), newPusher()];
  await inTransaction(stage.apply.pool, async (tx) => {
    expect(await tryPushLock(tx)).toBe(true);
    expect(await turn(one)).toBe("busy");
  });
  await turn(one);
  const before = lists();
  await turn(one);
  expect(lists()).toBe(before);
  await turn(other);
  const after = lists();
  expect(after).toBeGreaterThan(before);
  await turn(one);
  expect(lists()).toBe(2 * after - before);
});

test("a bucket that keeps old versions is in trouble until it no longer does", async () => {
  const pusher = newPusher();
  await turn(pusher);
  storage.keepsVersions = true;
  const sinceMs = stage.nowMs;
  // The day of users is written anew, and its former file is removed.
  await write("b");
  expect(await turn(pusher)).toMatchObject({ isInStep: true, keepsVersions: true });
  stage.nowMs += 60_000;
  await turn(pusher);
  expect(await state()).toMatchObject({ behindSinceMs: sinceMs });
  expect((await state())!.failure).toContain("keeps old versions");
  storage.keepsVersions = false;
  await write("c");
  await turn(pusher);
  expect(await state()).toMatchObject({ behindSinceMs: null, failure: "" });
});

test("an installation's name in the bucket tells nothing of its key", () => {
  const key = Buffer.alloc(32, 1);
  expect(bucketOwnerOf(key)).toMatch(/^[\w-]{22}$/);
  expect(bucketOwnerOf(key)).toBe(bucketOwnerOf(Buffer.alloc(32, 1)));
  expect(bucketOwnerOf(key)).not.toBe(bucketOwnerOf(Buffer.alloc(32, 2)));
});
