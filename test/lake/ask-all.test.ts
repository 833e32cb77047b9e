import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type AskTask, ask } from "../../src/lake/ask.ts";
import { Asker } from "../../src/lake/asker.ts";
import { LIMITS } from "../../src/limits.ts";
import { gatherClients } from "../../src/report/list/segment-users.ts";
import { LakeStage, takeInstance } from "./lake-stage.ts";

const ROWS = 25_000;

let stage: LakeStage;
let asker: Asker;
beforeAll(async () => {
  stage = await LakeStage.open();
  await stage.begin();
  await stage.apply.register("a");
  await stage.apply.applyAll();
  await stage.lake.catchUp();
  const engine = { ask: (task: AskTask) => ask(task, { takeInstance }), cancel: async () => {}, stop: () => {} };
  asker = new Asker({ engine, root: stage.folder.root, freeBytesMin: 0 });
});
afterAll(() => stage.close());

const question = (statement: string) => ({
  read: stage.apply.pool,
  app: { appId: stage.apply.app.appId, timeZone: "Asia/Shanghai" },
  statement,
});
const left = async () => readdir(join(stage.folder.root, "temp"));

test("all rows of an answer are read in pieces, and leave nothing behind", async () => {
  const before = await left();
  const pieces = await asker.askAll(question(`select 'ü' || range as client_id from range(${ROWS})`));
  expect(await left()).toEqual(before);
  const rows: unknown[] = [];
  let largest = 0;
  for await (const piece of pieces) {
    rows.push(...piece);
    largest = Math.max(largest, piece.length);
    // Whoever reads slowly holds up nobody.
    if (rows.length === piece.length) expect((await asker.ask(question("select 1"))).rows).toEqual([[1]]);
  }
  expect(rows).toEqual(Array.from({ length: ROWS }, (_, n) => [`ü${n}`]));
  expect(largest).toBeLessThan(ROWS / 2);
});

test("people find every view, and our own statements those that they name", async () => {
  const views = "(select string_agg(view_name, ' ' order by view_name) from duckdb_views() where not internal)";
  const seen = async (statement: string, byHand: boolean) => {
    return (await asker.ask({ ...question(statement), byHand })).rows;
  };
  expect(await seen(`select ${views}`, true)).toEqual([["costs events orders users"]]);
  expect(await seen(`select ${views}, count(*) from users`, false)).toEqual([["users", "1"]]);
});

test("an answer without rows has no pieces", async () => {
  expect.assertions(0);
  const pieces = await asker.askAll(question("select client_id from users where false"));
  for await (const piece of pieces) expect(piece).toBe("nothing");
});

test("a question that cannot be answered is refused before anything is read", async () => {
  const before = await left();
  await expect(asker.askAll(question("select nothing from nowhere"))).rejects.toThrow(/nowhere/);
  expect(await left()).toEqual(before);
});

test("a list is filtered by at most so many users, and a larger segment is refused with what to do", async () => {
  const pieces = (count: number) => asker.askAll(question(`select 'c' || range from range(${count})`));
  expect(await gatherClients(await pieces(LIMITS.segmentUsers), "payers")).toHaveLength(LIMITS.segmentUsers);
  await expect(gatherClients(await pieces(LIMITS.segmentUsers + 1), "payers")).rejects.toThrow(
    /^The segment "payers" has more than 100000 users, by whom no list can be filtered: narrow the segment, or export it\.$/,
  );
});
