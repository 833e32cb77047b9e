import { beforeAll, expect, test } from "vitest";
import { createApp } from "../../src/admin/apps.ts";
import { removeView, renameView, saveView, shareView } from "../../src/admin/report/report-views.ts";
import { everywhere } from "../../src/domain/access/role.ts";
import { DeskStage } from "./desk-stage.ts";

const stage = new DeskStage();
const admin = () => ({ ...stage.desk, actor: { name: "mei", grants: everywhere("admin") } });
const analyst = () => ({
  ...stage.desk,
  by: { name: "bob", address: "" },
  actor: { name: "bob", grants: everywhere("analyst") },
});
let app_id: number;

beforeAll(async () => {
  app_id = (await createApp(stage.desk, { name: "New" })).appId;
});

const save = async (name: string, desk = admin() as Parameters<typeof saveView>[0]) =>
  (await saveView(desk, { app_id, name, parameters: {} })).viewId;
const views = async () => (await stage.pool.query("select * from report_view order by view_id")).rows;

test("changes of a shared view are noted, those of one's own are not", async () => {
  const view_id = await save(" Mine ");
  const key = { app_id, view_id };
  expect(await renameView(admin(), { ...key, name: "Ours" })).toMatchObject({ name: "Ours", owner: "mei" });
  await shareView(admin(), { ...key, is_shared: true });
  await saveView(admin(), { ...key, name: "Ours too", parameters: { a: "b" } });
  await renameView(admin(), { ...key, name: "Ours again" });
  await removeView(admin(), key);
  expect(await views()).toEqual([]);
  expect((await stage.audit()).slice(1)).toEqual([
    { action: "report/views/share", appId: app_id, details: { ...key, is_shared: true } },
    { action: "report/views/save", appId: app_id, details: { ...key, name: "Ours too", parameters: { a: "b" } } },
    { action: "report/views/rename", appId: app_id, details: { ...key, name: "Ours again" } },
    { action: "report/views/remove", appId: app_id, details: key },
  ]);
});

test("no shared view changes when that cannot be noted", async () => {
  const key = { app_id, view_id: await save("Shared") };
  await shareView(admin(), { ...key, is_shared: true });
  const before = await views();
  await stage.withoutAuditLog(async () => {
    await expect(shareView(admin(), { ...key, is_shared: false })).rejects.toThrow(/audit_log/);
    await expect(renameView(admin(), { ...key, name: "x" })).rejects.toThrow(/audit_log/);
    await expect(removeView(admin(), key)).rejects.toThrow(/audit_log/);
  });
  expect(await views()).toEqual(before);
});

test("what a person may not do is refused, and nothing is noted", async () => {
  const shared = { app_id, view_id: await save("For all") };
  await shareView(admin(), { ...shared, is_shared: true });
  const own = { app_id, view_id: await save("Own") };
  const before = [await views(), await stage.count("audit_log")];
  const refused: [() => Promise<unknown>, RegExp][] = [
    [() => renameView(analyst(), { ...shared, name: "x" }), /^Only admins/],
    [() => removeView(analyst(), shared), /^Only admins/],
    [() => removeView(analyst(), own), /no view/],
    [() => shareView(admin(), { app_id, view_id: 999, is_shared: true }), /no view/],
    [() => renameView(admin(), { ...own, name: " " }), /^name is empty/],
    [() => renameView(admin(), { ...own, name: "For all" }), /already exists/],
    [() => saveView(admin(), { app_id: 99, name: "x", parameters: {} }), /no app 99/],
  ];
  for (const [act, sentence] of refused) await expect(act()).rejects.toThrow(sentence);
  expect([await views(), await stage.count("audit_log")]).toEqual(before);
});
