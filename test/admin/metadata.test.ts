import { expect, test } from "vitest";
import { createApp } from "../../src/admin/apps.ts";
import { declareAppEvents, declareAppProperties } from "../../src/admin/setting/metadata.ts";
import { loadAppMeta } from "../../src/db/metadata.ts";
import { LIMITS } from "../../src/limits.ts";
import { DeskStage } from "./desk-stage.ts";

const stage = new DeskStage();
const newApp = async () => (await createApp(stage.desk, { name: "New" })).appId;
const namesOf = async (appId: number) => {
  const { events, properties } = await loadAppMeta(stage.pool, { appId, limit: LIMITS.namesPerApp });
  return { events: events.map(({ name }) => name), properties: properties.map(({ name, type }) => `${name} ${type}`) };
};

test("a declaration is logged with its author", async () => {
  const app_id = await newApp();
  const properties = [
    { scope: "user", name: "level", type: "string" },
    { scope: "user", name: "level", type: "number" },
  ] as const;
  await declareAppEvents(stage.desk, { app_id, names: ["win", "win"], state: "declared" });
  await declareAppProperties(stage.desk, { app_id, properties: [...properties] });
  expect(await namesOf(app_id)).toEqual({ events: ["win"], properties: ["level number"] });
  expect((await stage.audit()).slice(1)).toEqual([
    { action: "metadata/events/declare", appId: app_id, details: { app_id, names: ["win", "win"], state: "declared" } },
    { action: "metadata/properties/declare", appId: app_id, details: { app_id, properties } },
  ]);
});

test("a name that cannot be logged, exceeds the limit or belongs to no app is not declared", async () => {
  const app_id = await newApp();
  const declare = (body: { app_id: number }) =>
    declareAppEvents(stage.desk, { ...body, names: ["one_more"], state: "declared" });
  await stage.withoutAuditLog(async () => {
    await expect(declare({ app_id })).rejects.toThrow(/audit_log/);
  });
  await expect(declare({ app_id: 99 })).rejects.toThrow(/no app 99/);
  expect(await namesOf(app_id)).toEqual({ events: [], properties: [] });
  await stage.pool.query(
    "insert into event_meta (app_id, name, state, changed_at_ms) select $1, 'e' || n, 'observed', 0 from generate_series(1, $2) as n",
    [app_id, LIMITS.namesPerApp],
  );
  await expect(declare({ app_id })).rejects.toThrow(/more than .* names/);
});
