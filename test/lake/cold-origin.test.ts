import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { track } from "../db/apply-stage.ts";
import { LakeStage, OLD_MS } from "./lake-stage.ts";

let stage: LakeStage;
beforeAll(async () => {
  stage = await LakeStage.open();
  stage.hotDays = 3;
});
beforeEach(() => stage.begin());
afterAll(() => stage.close());

const PHONE = { $device_id: "0123456789abcdef".repeat(8) };

test("a day that becomes cold takes the origins of its events along, whose properties are whole in the files", async () => {
  const { apply, lake } = stage;
  await apply.register("a");
  await apply.collect("a", [track("old", { ...PHONE, n: 1 }, OLD_MS), track("new", PHONE)]);
  await apply.applyAll();
  expect(await apply.count("event_origin")).toBe(2);
  await lake.catchUp();
  await lake.catchUp();
  expect(await lake.freeze()).toBe(true);
  const { rows } = await apply.pool.query("select day::text from event_origin");
  expect(rows).toEqual([{ day: "2024-06-15" }]);
  const files = (await stage.rowsOf("events")).map((row) => [row.event, JSON.parse(String(row.properties))]);
  expect(Object.fromEntries(files)).toEqual({ old: { ...PHONE, n: 1 }, new: PHONE });
});

test("a cold day has origins again for events that come later", async () => {
  const { apply, lake } = stage;
  await apply.register("a");
  await apply.collect("a", [track("old", PHONE, OLD_MS)]);
  await apply.applyAll();
  await lake.catchUp();
  await lake.catchUp();
  expect(await lake.freeze()).toBe(true);
  expect(await apply.count("event_origin")).toBe(0);
  // The user's row still names the origin.
  await apply.collect("a", [track("late", { ...PHONE, n: 1 }, OLD_MS + 1)]);
  await apply.applyAll();
  expect(await apply.count("event_origin")).toBe(1);
  await lake.catchUp();
  const files = (await stage.rowsOf("events")).map((row) => [row.event, JSON.parse(String(row.properties))]);
  expect(Object.fromEntries(files)).toEqual({ old: PHONE, late: { ...PHONE, n: 1 } });
});
