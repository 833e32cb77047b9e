import { existsSync } from "node:fs";
import { copyFile, rm } from "node:fs/promises";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { inTransaction } from "../../src/db/engine/pool.ts";
import { freezePart } from "../../src/db/event-freeze.ts";
import { addDays } from "../../src/domain/calendar.ts";
import type { EngineCalls } from "../../src/lake/engine-process.ts";
import { verifyLake } from "../../src/lake/verify.ts";
import { track } from "../db/apply-stage.ts";
import { log } from "../db/temp-database.ts";
import { LakeStage, OLD_DAY, OLD_MS, waitingEngine } from "./lake-stage.ts";

let stage: LakeStage;
beforeAll(async () => {
  stage = await LakeStage.open();
  stage.hotDays = 3;
});
beforeEach(() => stage.begin());
afterAll(() => stage.close());

const MINUTE_MS = 60_000;
const aTurn = () => stage.lake.turn({ signal: new AbortController().signal, forMs: 60_000 });
const oldInFiles = async () =>
  (await stage.rowsOf("events")).filter(({ day }) => day === OLD_DAY).map(({ client_id, event }) => [client_id, event]);

async function oldInTable(): Promise<string[]> {
  const { rows } = await stage.apply.pool.query(`select event from event where day = '${OLD_DAY}' order by at_ms`);
  return rows.map(({ event }) => event);
}

async function collectOld(client: string, event: string, atMs: number): Promise<void> {
  await stage.apply.collect(client, [track(event, {}, atMs)]);
  await stage.apply.applyAll();
}

async function expectExact(): Promise<void> {
  const { apply } = stage;
  const { days, events, ledger } = await verifyLake({ ...stage, pool: apply.pool }, apply.app.appId);
  expect(days.filter(({ outcome }) => outcome === "different")).toEqual([]);
  expect(events).toBe(ledger);
}

describe("a cold day that is written anew", () => {
  test("is written although an event comes each time, which waits for the next", async () => {
    await stage.freezeOne();
    let came = 1;
    await collectOld("a", "late 1", OLD_MS + 1);
    stage.lake = stage.newLake(
      waitingEngine(stage.engine, async () => {
        came += 1;
        await collectOld("a", `late ${came}`, OLD_MS + came);
      }),
    );
    for (const turn of [1, 2, 3]) {
      stage.nowMs += 30 * MINUTE_MS;
      await aTurn();
      expect(came).toBe(turn + 1);
      expect(await oldInTable()).toEqual([`late ${came}`]);
      expect(await oldInFiles()).toHaveLength(came);
      const { rows } = await stage.apply.pool.query("select since_ms from lake_mark");
      expect(rows).toEqual([{ since_ms: stage.nowMs }]);
    }
    stage.lake = stage.newLake();
    await stage.lake.catchUp();
    expect([await oldInTable(), await stage.apply.count("lake_mark")]).toEqual([[], 0]);
    expect(await oldInFiles()).toHaveLength(came + 1);
    await expectExact();
  });

  test("stays as it is when a user leaves it meanwhile, and lets the others have their turn before it is tried again", async () => {
    await stage.freezeOne();
    const { apply } = stage;
    await apply.register("b");
    await collectOld("b", "late", OLD_MS + 1);
    let tries = 0;
    stage.lake = stage.newLake(
      waitingEngine(stage.engine, async () => {
        tries += 1;
        const client = ["a", "b"][tries - 1];
        if (client) await apply.append("reset_client_id", client, { new_client_id: `${client}2` });
        await apply.applyAll();
      }),
    );
    stage.nowMs += 30 * MINUTE_MS;
    await aTurn();
    // The rename of the file's user.
    expect([tries, await oldInFiles()]).toEqual([1, [["a", "old"]]]);
    await aTurn();
    expect(tries).toBe(1);
    stage.nowMs += 30 * MINUTE_MS;
    await aTurn();
    // The rename of the table's user.
    expect([tries, await oldInFiles()]).toEqual([2, [["a", "old"]]]);
    stage.nowMs += 30 * MINUTE_MS;
    await aTurn();
    expect(tries).toBe(3);
    expect(await oldInFiles()).toEqual([
      ["a2", "old"],
      ["b2", "late"],
    ]);
    expect([await oldInTable(), await apply.count("lake_gone")]).toEqual([[], 0]);
    await expectExact();
  });
});

test("a day whose files are those of another lake by now stays in the table", async () => {
  const { apply, lake } = stage;
  await apply.register("a");
  await collectOld("a", "old", OLD_MS);
  await lake.catchUp();
  await lake.catchUp();
  const part = { from: OLD_DAY, until: addDays(OLD_DAY, 1) };
  const freezeAs = (lakeId: string) =>
    inTransaction(apply.pool, (tx) => freezePart(tx, part, { lakeId, appIds: [apply.app.appId] }));
  expect([await freezeAs("another"), await oldInTable()]).toEqual([false, ["old"]]);
  expect([await freezeAs(stage.folder.id), await oldInTable()]).toEqual([true, []]);
});

test("a file that a database of an earlier state does not know stays while the one that it names is missing", async () => {
  await stage.freezeOne();
  const { apply, folder } = stage;
  const before = (await stage.files()).find(({ day }) => day === OLD_DAY)!;
  await collectOld("a", "late", OLD_MS + 1);
  await stage.lake.catchUp();
  const after = (await stage.files()).find(({ day }) => day === OLD_DAY)!;
  const path = folder.pathOf(after);
  await rm(folder.pathOf(before));
  await apply.pool.query("update lake_file set name = $1, bytes = $2, rows = 1 where name = $3", [
    before.name,
    before.bytes,
    after.name,
  ]);
  const error = vi.spyOn(log, "error");
  stage.lake = stage.newLake();
  await stage.lake.begin();
  expect(existsSync(path)).toBe(true);
  expect(error.mock.calls.map(([told]) => Object(told).files)).toEqual([[folder.pathOf(before)], [path]]);
  error.mockRestore();
  // The database knows it again: another file of the day is left over.
  await apply.pool.query("update lake_file set name = $1, bytes = $2, rows = 2 where name = $3", [
    after.name,
    after.bytes,
    before.name,
  ]);
  await copyFile(path, folder.pathOf(before));
  expect([await stage.lake.sweep(), existsSync(folder.pathOf(before)), existsSync(path)]).toEqual([1, false, true]);
  await expectExact();
});

test("a cold day's files are merged only into one that holds the same", async () => {
  const { apply, engine } = stage;
  await apply.register("a");
  for (const n of [1, 2]) {
    await collectOld("a", `old ${n}`, OLD_MS + n);
    await stage.lake.catchUp();
    await stage.lake.catchUp();
  }
  expect(await stage.lake.freeze()).toBe(true);
  const ofOldDay = async () => (await stage.files()).filter(({ day }) => day === OLD_DAY).length;
  expect(await ofOldDay()).toBe(2);
  stage.nowMs += 120 * MINUTE_MS;
  const merge: EngineCalls["merge"] = ({ files, ...task }) => engine.merge({ ...task, files: [files[0]!, files[0]!] });
  stage.lake = stage.newLake({ ...waitingEngine(engine, async () => {}), merge });
  await expect(aTurn()).rejects.toThrow("does not hold what it should");
  expect([await ofOldDay(), await oldInFiles()]).toEqual([
    2,
    [
      ["a", "old 1"],
      ["a", "old 2"],
    ],
  ]);
  // The failure has marked the day to be written anew.
  await apply.pool.query("delete from lake_mark");
  stage.lake = stage.newLake();
  await aTurn();
  expect(await ofOldDay()).toBe(1);
  await expectExact();
});
