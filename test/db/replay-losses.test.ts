import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { replayLosses } from "../../src/cli/operation/replay-losses.ts";
import { emptyFacts } from "../../src/db/facts.ts";
import { sourceOf } from "../../src/journal/entry-log.ts";
import { segmentPath } from "../../src/journal/segment.ts";
import { openJournal } from "../journal/temp-journal.ts";
import { ApplyStage, pay } from "./apply-stage.ts";

let stage: ApplyStage;
beforeAll(async () => {
  stage = await ApplyStage.open();
});
beforeEach(async () => {
  await stage.begin();
  await stage.register("u");
  await stage.collect("u", [pay("o1", 100), pay("o2", 100)]);
  await stage.applyAll();
});
afterAll(() => stage.close());

const losses = () =>
  replayLosses(stage.pool, { id: stage.journal.id, unit: "bytes", sources: [sourceOf(stage.journal, 0)] });

test("a rebuild from the only journal, intact, loses nothing", async () => {
  await stage.pool.query("insert into journal_cursor values ('of a process that only sends', 0)");
  expect(await losses()).toEqual([]);
});

test("a rebuild from a journal without its beginning loses the entries there", async () => {
  const { dir, durable } = stage.journal;
  await stage.journal.close();
  rmSync(segmentPath(dir, 0));
  stage.journal = await openJournal(dir);
  await stage.journal.skipTo(durable);
  await stage.collect("u", [pay("o3", 100)]);
  await stage.applyAll();
  expect(await losses()).toEqual([
    `${durable} applied bytes of this journal are gone (see JOURNAL_KEEP_DAYS) or damaged.`,
    "The tables hold 3 events, 1 users and 3 orders; this journal holds 1 events.",
  ]);
});

test("a rebuild from a journal that ends before its cursor loses the applied entries beyond its end", async () => {
  await stage.pool.query("update journal_cursor set position = position + 50");
  expect(await losses()).toEqual([
    expect.stringMatching(/^50 applied bytes of this journal/),
    expect.stringMatching(/^The tables hold/),
  ]);
});

test("a rebuild loses entries damaged after they were applied, but not those damaged before, which never were", async () => {
  const { dir, durable } = stage.journal;
  await stage.collect("u", [pay("o3", 100)]);
  await stage.collect("u", [pay("o4", 100)]);
  await stage.applyAll();
  await stage.journal.close();
  overwrite(segmentPath(dir, 0), durable + 20);
  stage.journal = await openJournal(dir);
  expect(await losses()).toEqual([
    expect.stringMatching(/^\d+ applied bytes of this journal are gone .* or damaged\.$/),
    "The tables hold 4 events, 1 users and 4 orders; this journal holds 3 events.",
  ]);
  await stage.restart();
  await emptyFacts(stage.pool, stage.term);
  await stage.applyAll();
  expect([await stage.count("orders"), await losses()]).toEqual([3, []]);
});

function overwrite(path: string, at: number): void {
  const file = openSync(path, "r+");
  writeSync(file, "x", at);
  closeSync(file);
}
