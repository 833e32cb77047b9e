import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { loadDecisions } from "../../src/db/attribution-decision.ts";
import { createCampaign } from "../../src/db/campaign.ts";
import { loadUsers } from "../../src/db/user-account.ts";
import { whatIf } from "../../src/report/attribution/what-if.ts";
import { explainUser } from "../../src/report/attribution/why.ts";
import { ApplyStage, HOUR_MS, NOW_MS } from "./apply-stage.ts";
import { makeApp } from "./temp-database.ts";

let stage: ApplyStage;
beforeAll(async () => {
  stage = await ApplyStage.open();
});
beforeEach(async () => {
  await stage.begin();
  await stage.pool.query("delete from campaign");
});
afterAll(() => stage.close());

const userOf = async (clientId: string) => (await loadUsers(stage.pool, [{ appId: stage.app.appId, clientId }]))[0]!;

describe("a registration that names only a campaign", () => {
  const ID = "autumn2026launch";
  const nowhere = { name: "", channel: "", osPlatform: "", operator: "", dept: "", createdAtMs: NOW_MS };
  const campaign = (adPlatform: string, appId = stage.app.appId) =>
    createCampaign(stage.pool, { ...nowhere, appId, campaignId: ID, adPlatform });
  const ofCampaign = { method: "launch_query", adPlatform: "bilibili", campaignId: ID, touchedAtMs: null };
  const organic = { method: "", adPlatform: "", campaignId: ID };
  const byQuery = { ad_data: { turbo_promoted_object_id: ID, scene: "1001" } };

  test.each<[string, object]>([
    ["its promoted_object_id", { promoted_object_id: ID }],
    ["its turbo_promoted_object_id", { turbo_promoted_object_id: ID }],
    ["its launch query", byQuery],
  ])("by %s belongs to the campaign's platform", async (_, more) => {
    await campaign("Bilibili");
    await stage.register("u", more);
    await stage.applyAll();
    expect(await userOf("u")).toMatchObject(ofCampaign);
    const { account } = (await explainUser(stage.pool, stage.app, "u"))!;
    expect(account).toContain(`names the campaign ${ID}, which belongs to bilibili`);
  });

  test("is organic if the campaign is another app's, names no platform or does not exist", async () => {
    await campaign("bilibili", (await makeApp(stage.pool)).appId);
    await stage.register("other", byQuery);
    await stage.applyAll();
    await campaign("");
    await stage.register("nowhere", byQuery);
    await stage.register("unknown", { promoted_object_id: "nobody0000000000" });
    await stage.applyAll();
    expect([await userOf("other"), await userOf("nowhere"), await userOf("unknown")]).toMatchObject([
      ...[organic, organic, { ...organic, campaignId: "nobody0000000000" }],
    ]);
  });

  test("belongs to a touch as soon as one is surer or agrees", async () => {
    await campaign("bilibili");
    await stage.register("u", { ...byQuery, device_info: { os_name: "android", oaid: "u" } });
    await stage.applyAll();
    const link = { company: "bilibili", ts: String(NOW_MS - HOUR_MS), track_id: ID, aid: "7", oaid: "u" };
    await stage.append("click", "", new URLSearchParams(link).toString(), { at: NOW_MS + HOUR_MS });
    await stage.applyAll();
    expect(await userOf("u")).toMatchObject({ method: "device_id", adPlatform: "bilibili", aid: "7" });
  });

  test("uses the campaign's current settings when it is decided again, however the journal is cut", async () => {
    await stage.register("u", byQuery);
    const cut = stage.journal.durable;
    await stage.applyAll();
    expect(await userOf("u")).toMatchObject(organic);
    await campaign("bilibili");
    await stage.register("v", byQuery);
    await stage.applyAll();
    expect([await userOf("u"), await userOf("v")]).toMatchObject([organic, ofCampaign]);
    for (const ends of [[], [cut]]) {
      await stage.applyInSteps(ends);
      expect([await userOf("u"), await userOf("v")]).toMatchObject([ofCampaign, ofCampaign]);
    }
  });

  test("is told apart from an organic one by a what-if, which decides anew", async () => {
    await campaign("bilibili");
    await stage.register("u", byQuery);
    await stage.applyAll();
    const [decision] = await loadDecisions(stage.pool, { appId: stage.app.appId, clientId: "u" });
    expect(decision!.subject).toMatchObject({ launch: null, campaign: { id: ID, platform: "bilibili" } });
    const range = { fromDay: "2024-06-01", toDay: "2024-06-30" };
    const { rows, moved } = await whatIf(stage.pool, stage.app, range, { kind: "everywhere", rules: {} });
    expect(moved).toBe(0);
    expect(rows).toMatchObject([{ ad_platform: "bilibili", campaign: ID, users: 1, users_then: 1 }]);
  });
});
