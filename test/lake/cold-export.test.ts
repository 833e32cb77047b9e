import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openEventDays } from "../../src/db/event-day.ts";
import { ColdReader } from "../../src/lake/cold-reader.ts";
import type { EngineProcess } from "../../src/lake/engine-process.ts";
import { MIB } from "../../src/limits.ts";
import { exportRows } from "../../src/report/list/export.ts";
import { DAY_MS, NOW_MS, track } from "../db/apply-stage.ts";
import { ROOT } from "../process/launch.ts";
import { LakeStage } from "./lake-stage.ts";

const OLD_MS = NOW_MS - 9 * DAY_MS;
const OLD_DAY = "2024-06-06";
/** More than the engine gives at once. */
const EVENTS = 7_000;

let stage: LakeStage;
let engine: EngineProcess;
beforeAll(async () => {
  stage = await LakeStage.open();
  stage.hotDays = 3;
  await stage.begin();
  // As it is built, because it starts a process.
  const built = await import(pathToFileURL(join(ROOT, "dist/src/lake/engine-process.js")).href);
  engine = new built.EngineProcess({ memoryBytes: 256 * MIB, threads: 1, root: stage.folder.root });
  await freezeMany();
});
afterAll(async () => {
  engine.close();
  await stage.close();
});

async function freezeMany(): Promise<void> {
  const { apply, lake } = stage;
  await apply.register("a");
  await apply.collect("a", [track("old", {}, OLD_MS)]);
  await apply.applyAll();
  await openEventDays(apply.pool, [{ day: OLD_DAY, receivedAtMs: NOW_MS }]);
  await apply.pool.query(
    `insert into event select ${apply.app.appId}, 'a', '${OLD_DAY}', ${OLD_MS} + n, gen_random_uuid(), 'track', 'e', '{}', ${NOW_MS}
      from generate_series(1, ${EVENTS - 1}) n`,
  );
  await lake.catchUp();
  await lake.catchUp();
  expect(await lake.freeze()).toBe(true);
}

/** Exports the cold day; `between` runs after each page. */
async function exported(between: (page: number) => Promise<void>): Promise<string[]> {
  const { apply, folder } = stage;
  const texts: string[] = [];
  await exportRows(apply.pool, apply.app, {
    what: { kind: "events", fromDay: OLD_DAY, untilDay: "2024-06-07" },
    format: "ndjson",
    cold: new ColdReader({ engine, root: folder.root }),
    write: async (text) => {
      texts.push(text);
      await between(texts.length);
    },
  });
  return texts.join("").trimEnd().split("\n");
}

describe("an export of a cold day", () => {
  test("has all events, however long its reader rests", async () => {
    const lines = await exported(async () => engine.rest());
    expect([lines.length, new Set(lines).size]).toEqual([EVENTS, EVENTS]);
  });

  test("fails when the engine's process ends, and never seems complete", async () => {
    const pages: number[] = [];
    const cut = exported(async (page) => {
      pages.push(page);
      if (page !== 1) return;
      engine.stop();
      // Another export begins, whose rows the first one must not get.
      await engine.open("select 1");
    });
    await expect(cut).rejects.toMatchObject({ code: "COLD_UNREADABLE" });
    expect(pages.length).toBeLessThan(EVENTS / 500);
    expect(await exported(async () => {})).toHaveLength(EVENTS);
  });
});

describe("a cursor", () => {
  test("of a process that has ended is neither read nor ended in the next one", async () => {
    const first = await engine.open("select 1");
    engine.stop();
    const second = await engine.open("select 2");
    expect(second).not.toBe(first);
    await expect(engine.fetch(first)).rejects.toThrow("ended before all rows were read");
    await expect(engine.end(first)).rejects.toThrow("ended before all rows were read");
    expect([await engine.fetch(second), await engine.fetch(second)]).toEqual([[[2]], []]);
    await engine.end(second);
  });

  test("that is not open cannot be read", async () => {
    await expect(stage.engine.fetch("none")).rejects.toThrow("not open");
    await expect(stage.engine.end("none")).rejects.toThrow("not open");
  });

  test("keeps the process, which rests once it has ended", async () => {
    // Each process has its own.
    const folder = () => engine.rows("select current_setting('temp_directory')");
    const first = await folder();
    const cursor = await engine.open("select pi()");
    engine.rest();
    expect(await engine.fetch(cursor)).toEqual([[Math.PI]]);
    expect(await folder()).toEqual(first);
    await engine.end(cursor);
    engine.rest();
    expect(await folder()).not.toEqual(first);
  });
});
