import { beforeAll, expect, test } from "vitest";
import { createApp } from "../../src/admin/apps.ts";
import { dropCallback, listCallbacks, setCallback } from "../../src/admin/setting/callbacks.ts";
import { vault } from "../db/temp-database.ts";
import { DeskStage } from "./desk-stage.ts";

const stage = new DeskStage();
const URL = "https://game.example/told";
let app_id: number;

beforeAll(async () => {
  app_id = (await createApp(stage.desk, { name: "New" })).appId;
});

const setEvent = (more: { app_id?: number; url?: string; secret?: string } = {}) =>
  setCallback({ ...stage.desk, mayCallPrivate: false }, { app_id, kind: "event", url: URL, events: ["win"], ...more });

test("setting and removing a callback is logged with its author, and without secrets", async () => {
  const { secret } = await setEvent();
  expect(secret).toEqual(expect.any(String));
  await setEvent({ secret: "given-by-a-person" });
  expect(await dropCallback(stage.desk, { app_id, kind: "event" })).toEqual({ given_up: 0 });
  const details = { app_id, kind: "event", url: URL, events: ["win"] };
  expect((await stage.audit()).slice(1)).toEqual([
    { action: "callbacks/set", appId: app_id, details },
    { action: "callbacks/set", appId: app_id, details: { ...details, secret: "…" } },
    { action: "callbacks/remove", appId: app_id, details: { app_id, kind: "event" } },
  ]);
});

test("a callback that cannot be logged is not set", async () => {
  await stage.withoutAuditLog(async () => {
    await expect(setEvent()).rejects.toThrow(/audit_log/);
  });
  expect(await listCallbacks(stage.pool, vault, app_id)).toEqual([]);
});

test.each<[string, () => Promise<unknown>, RegExp]>([
  ["a long address", () => setEvent({ url: `${URL}/${"x".repeat(10_000)}` }), /^url must/],
  ["a private address", () => setEvent({ url: "http://127.0.0.1/" }), /private network/],
  ["an unknown app", () => setEvent({ app_id: 99 }), /no app 99/],
  ["the removal of none", () => dropCallback(stage.desk, { app_id, kind: "event" }), /no callback of kind event/],
])("%s is refused from every caller, and nothing is logged", async (_, refused, sentence) => {
  const before = await stage.count("audit_log");
  await expect(refused()).rejects.toThrow(sentence);
  expect(await stage.count("audit_log")).toBe(before);
  expect(await listCallbacks(stage.pool, vault, app_id)).toEqual([]);
});
