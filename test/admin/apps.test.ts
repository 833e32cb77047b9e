import { expect, test } from "vitest";
import { createApp, editApp, rotateAppSecret } from "../../src/admin/apps.ts";
import { DeskStage } from "./desk-stage.ts";

const stage = new DeskStage();

test("a change to an app is logged with its author, and without secrets", async () => {
  const { appId, timeZone, metadataMode } = await createApp(stage.desk, { name: "New" });
  expect({ timeZone, metadataMode }).toEqual({ timeZone: "Asia/Shanghai", metadataMode: "open" });
  expect(await editApp(stage.desk, { app_id: appId, name: "Renamed", pay_share: 0.6 })).toMatchObject({
    name: "Renamed",
    payShareBp: 6_000,
  });
  const secret = await rotateAppSecret(stage.desk, { app_id: appId, which: "app_key" });
  const audit = await stage.audit();
  expect(audit).toEqual([
    { action: "apps/create", appId, details: { name: "New" } },
    { action: "apps/edit", appId, details: { app_id: appId, name: "Renamed", pay_share: 0.6 } },
    { action: "apps/rotate", appId, details: { app_id: appId, which: "app_key" } },
  ]);
  expect(JSON.stringify(audit)).not.toContain(secret);
});

test("an app, its first rules and the log entry are created together or not at all", async () => {
  const [apps, rules] = [await stage.count("app"), await stage.count("postback_rule")];
  await stage.withoutAuditLog(async () => {
    await expect(createApp(stage.desk, { name: "Unnoted" })).rejects.toThrow(/audit_log/);
  });
  expect([await stage.count("app"), await stage.count("postback_rule")]).toEqual([apps, rules]);
});

test.each<[string, () => Promise<unknown>, RegExp]>([
  ["an empty name", () => createApp(stage.desk, { name: " " }), /^name is empty/],
  ["a long name", () => createApp(stage.desk, { name: "n".repeat(201) }), /^name must/],
  ["an unknown time zone", () => createApp(stage.desk, { name: "x", time_zone: "Mars/Base" }), /^time_zone/],
  ["an unknown currency", () => createApp(stage.desk, { name: "x", currency: "yuan" }), /^currency/],
  ["an unknown app", () => editApp(stage.desk, { app_id: 99, name: "x" }), /no app 99/],
  ["an unknown app's secret", () => rotateAppSecret(stage.desk, { app_id: 99, which: "app_key" }), /no app 99/],
  [
    "an id that no table holds",
    () => rotateAppSecret(stage.desk, { app_id: 2 ** 40, which: "app_key" }),
    /no app 1099/,
  ],
])("%s is refused from every caller, and nothing is logged", async (_, refused, sentence) => {
  const before = [await stage.count("app"), await stage.count("audit_log")];
  await expect(refused()).rejects.toThrow(sentence);
  expect([await stage.count("app"), await stage.count("audit_log")]).toEqual(before);
});
