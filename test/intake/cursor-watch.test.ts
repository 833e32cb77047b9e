import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { lockCursor, moveCursor } from "../../src/db/journal-cursor.ts";
import { noteNode } from "../../src/db/node.ts";
import { CursorWatch } from "../../src/intake/cursor-watch.ts";
import { log, migratedDatabase, type TempDatabase } from "../db/temp-database.ts";

let database: TempDatabase;
let watch: CursorWatch;
/** What is known to be applied, and what was told. */
let applied: number[];
let told: { partition: number; position: number; receivedAtMs: number }[];

beforeAll(async () => {
  database = await migratedDatabase();
});
beforeEach(async () => {
  await database.pool.query("truncate journal_cursor, node");
  [applied, told] = [[0, 0], []];
  watch = new CursorWatch({
    pool: database.pool,
    log,
    journalId: "log",
    partitions: 2,
    nodeId: "here",
    isOwn: (partition) => partition === 1,
    applied: (partition) => applied[partition]!,
    isAwaited: () => true,
    onReached: (reached) => {
      told.push(reached);
      applied[reached.partition] = reached.position;
    },
  });
  return () => watch.stop();
});
afterAll(() => database.drop());

async function move(partition: number, position: number): Promise<void> {
  const key = { journalId: "log", partition };
  await lockCursor(database.pool, key);
  await moveCursor(database.pool, key, { position, receivedAtMs: 100 + position });
}

test("what others have applied is told once, and also when a crash of the database has set it back", async () => {
  watch.start();
  await move(0, 7);
  await expect.poll(() => told).toEqual([{ partition: 0, position: 7, receivedAtMs: 107 }]);
  await move(0, 5);
  await expect.poll(() => told.map(({ position }) => position)).toEqual([7, 5]);
});

test("a partition of this process's own is told only when the cursor is ahead of what it knows", async () => {
  applied = [0, 9];
  watch.start();
  await move(1, 8);
  await move(0, 1);
  await expect.poll(() => told.map(({ partition }) => partition)).toEqual([0]);
  await move(1, 12);
  await expect.poll(() => told.map(({ partition }) => partition)).toEqual([0, 1]);
});

test("other processes that are alive and do not apply what they should are named, with the reason", async () => {
  const node = { host: "a-machine", processId: 1, address: "a", roles: ["apply"], version: "1" };
  await noteNode(database.pool, { ...node, nodeId: "there", trouble: "Apply is stuck because of this." });
  await noteNode(database.pool, { ...node, nodeId: "here", trouble: "Our own is told elsewhere." });
  await noteNode(database.pool, { ...node, nodeId: "gone", trouble: "Long ago." });
  await database.pool.query("update node set seen_at_ms = seen_at_ms - 60000 where node_id = 'gone'");
  watch.start();
  await expect.poll(() => watch.troubles).toEqual(["a-machine: Apply is stuck because of this."]);
  // Nobody holds the partitions, but not for long.
  expect(watch.unheld()).toEqual([]);
});
