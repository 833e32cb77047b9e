import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { Applier } from "../../src/apply/applier.ts";
import { moveCursor, readCursors } from "../../src/db/journal-cursor.ts";
import { requestReplay } from "../../src/db/set-aside.ts";
import { type LogSource, sourceOf } from "../../src/journal/entry-log.ts";
import type { Journal } from "../../src/journal/journal.ts";
import { newFolder, openJournal, removeFolders } from "../journal/temp-journal.ts";
import { ApplyStage, ERASURE_KEY, NOW_MS } from "./apply-stage.ts";
import { log } from "./temp-database.ts";

let stage: ApplyStage;
let partitions: Journal[];
/** The stretches in the order in which they were applied. */
let applied: { partition: number; position: number }[];
let applier: Applier;

beforeAll(async () => {
  stage = await ApplyStage.open();
});
beforeEach(async () => {
  await stage.begin();
  applied = [];
  partitions = [await openJournal(newFolder()), await openJournal(newFolder())];
  applier = newApplier(partitions.map(partitionOf));
  return async () => {
    await applier.close();
    for (const journal of partitions) await journal.close();
  };
});
afterAll(async () => {
  await stage.close();
  removeFolders();
});

const partitionOf = (journal: Journal, partition: number): LogSource => ({
  ...sourceOf(journal, 0),
  journalId: "log",
  partition,
});

const newApplier = (sources: readonly LogSource[]) =>
  new Applier({
    pool: stage.pool,
    sources,
    log,
    writtenBytes: () => 0,
    onApplied: ({ partition, position }) => applied.push({ partition, position }),
    erasureKey: ERASURE_KEY,
    term: () => stage.term,
  });

function register(partition: number, client: string, appId = stage.app.appId): Promise<number> {
  const head = { kind: "register", app: appId, client, at: NOW_MS, ip: "", ua: "", registered: "yes" } as const;
  return partitions[partition]!.append({ head, body: Buffer.from('{"name":"n","channel":"c","version":1}') });
}

async function applyAll(): Promise<void> {
  while ((await applier.turn()) === "busy");
}

async function users(): Promise<string[]> {
  const { rows } = await stage.pool.query("select client_id from user_account order by client_id");
  return rows.map((row) => row.client_id);
}

test("partitions are applied in turns, each up to a cursor of its own", async () => {
  const ends = [await register(0, "a"), await register(1, "b")];
  await applyAll();
  expect(applied).toEqual(ends.map((position, partition) => ({ partition, position })));
  const later = await register(0, "c");
  await applyAll();
  expect(applied.at(-1)).toEqual({ partition: 0, position: later });
  expect([await users(), await readCursors(stage.pool, "log")]).toEqual([
    ["a", "b", "c"],
    [later, ends[1]],
  ]);
});

test("a cursor that was set back is followed in its partition alone", async () => {
  const first = await register(0, "a");
  for (const client of ["b", "c"]) await register(0, client);
  const other = await register(1, "d");
  await applyAll();
  await moveCursor(stage.pool, { journalId: "log", partition: 0 }, { position: first, receivedAtMs: 0 });
  applied = [];
  await applyAll();
  expect(applied).toEqual([{ partition: 0, position: partitions[0]!.durable }]);
  expect([await users(), await readCursors(stage.pool, "log")]).toEqual([
    ["a", "b", "c", "d"],
    [partitions[0]!.durable, other],
  ]);
});

test("entries at the same position of two partitions are set aside and replayed on their own", async () => {
  for (const partition of [0, 1]) await register(partition, `of ${partition}`, 7);
  await applyAll();
  expect((await stage.setAside()).map(({ partition, from }) => [partition, from])).toEqual([
    [0, 0],
    [1, 0],
  ]);
  await requestReplay(stage.pool);
  while (await applier.replayOne());
  expect(await stage.setAside()).toMatchObject([
    { partition: 0, reason: expect.stringMatching(/app 7/) },
    { partition: 1, reason: expect.stringMatching(/app 7/) },
  ]);
});
