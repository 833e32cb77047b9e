import { beforeAll, expect, test } from "vitest";
import { createApp } from "../../src/admin/apps.ts";
import { addCampaign, editCampaign } from "../../src/admin/setting/campaigns.ts";
import { DeskStage } from "./desk-stage.ts";

const stage = new DeskStage();
const ID = "0123456789abcdef";
let app_id: number;

beforeAll(async () => {
  app_id = (await createApp(stage.desk, { name: "New" })).appId;
});

test("creating and changing a campaign is logged with its id, even if the server made the id", async () => {
  const { campaignId: made } = await addCampaign(stage.desk, { app_id, name: "Spring" });
  await addCampaign(stage.desk, { app_id, turbo_promoted_object_id: ID });
  const edited = await editCampaign(stage.desk, { app_id, turbo_promoted_object_id: ID, ad_platform: "vivo" });
  expect(edited).toMatchObject({ name: "", adPlatform: "vivo" });
  expect((await stage.audit()).slice(1)).toEqual([
    { action: "campaigns/create", appId: app_id, details: { app_id, name: "Spring", turbo_promoted_object_id: made } },
    { action: "campaigns/create", appId: app_id, details: { app_id, turbo_promoted_object_id: ID } },
    { action: "campaigns/edit", appId: app_id, details: { app_id, turbo_promoted_object_id: ID, ad_platform: "vivo" } },
  ]);
});

test("a campaign that cannot be logged is not created", async () => {
  const before = await stage.count("campaign");
  await stage.withoutAuditLog(async () => {
    await expect(addCampaign(stage.desk, { app_id, name: "Unnoted" })).rejects.toThrow(/audit_log/);
  });
  expect(await stage.count("campaign")).toBe(before);
});

test.each<[string, () => Promise<unknown>, RegExp]>([
  ["an id that is taken", () => addCampaign(stage.desk, { app_id, turbo_promoted_object_id: ID }), /already has/],
  ["a long name", () => addCampaign(stage.desk, { app_id, name: "n".repeat(201) }), /^name must/],
  ["an unknown platform", () => addCampaign(stage.desk, { app_id, ad_platform: "natural" }), /^ad_platform/],
  ["an unknown app", () => addCampaign(stage.desk, { app_id: 99 }), /no app 99/],
  ["an unknown id", () => editCampaign(stage.desk, { app_id, turbo_promoted_object_id: "x" }), /no campaign "x"/],
])("%s is refused from every caller, and nothing is logged", async (_, refused, sentence) => {
  const before = [await stage.count("campaign"), await stage.count("audit_log")];
  await expect(refused()).rejects.toThrow(sentence);
  expect([await stage.count("campaign"), await stage.count("audit_log")]).toEqual(before);
});
