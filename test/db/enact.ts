import { storeAdvertisers } from "../../src/db/ad-names.ts";
import { changeApp } from "../../src/db/app.ts";
import { storeRuleSettings } from "../../src/db/attribution-setting.ts";
import { createCampaign } from "../../src/db/campaign.ts";
import { storeCosts } from "../../src/db/cost.ts";
import { storeRebates } from "../../src/db/rebate.ts";
import { refreshOnce } from "../../src/refresh/refresh.ts";
import {
  ACCOUNTS,
  arriving,
  CAMPAIGN_ROWS,
  hasDevice,
  type Made,
  type MadeMarket,
  REBATES,
  RETURN_MS,
} from "../report/market.ts";
import { addDays } from "../report/oracle.ts";
import type { CostRow, Happening } from "../report/oracle-market.ts";
import { type ApplyStage, pay, profile, track } from "./apply-stage.ts";

/** Plays the market in two halves with a refresh after each, so that late events and touches meet an existing cube. */
export async function enact(stage: ApplyStage, app: number, market: MadeMarket): Promise<void> {
  await settle(stage, app);
  await changeApp(stage.pool, app, { refundsOn: market.refundsOn });
  for (const isLate of [false, true]) {
    for (const person of market.people) await live({ stage, app, person }, isLate);
    await stage.applyAll();
    // Half of the costs come late, and are what tells the account of some users who are counted by then.
    const known = market.costs.filter((_, index) => isLate || index % 2 === 0);
    const costs = known.map((cost) => ({ ...costOf(cost, isLate ? 0 : 5), appId: app }));
    await storeCosts(stage.pool, costs, 0);
    while ((await refreshOnce(stage.pool)) > 0);
  }
}

/** Sets rules, campaigns, accounts and their rebates. */
async function settle(stage: ApplyStage, appId: number): Promise<void> {
  const rules = { reattribution: true, reclickDays: 0, refluxDays: 1 };
  await storeRuleSettings(stage.pool, { appId, platform: "", rules, changedAtMs: 0 });
  for (const { id, ...campaign } of CAMPAIGN_ROWS) {
    const { os_platform: osPlatform, ...rest } = campaign;
    await createCampaign(stage.pool, {
      ...rest,
      osPlatform,
      appId,
      campaignId: id,
      name: "",
      adPlatform: "",
      createdAtMs: 0,
    });
  }
  await storeAdvertisers(
    stage.pool,
    ACCOUNTS.map(({ ad_platform, advertiser_id, operator, dept }) => ({
      adPlatform: ad_platform,
      advertiserId: advertiser_id,
      name: "",
      status: "",
      remark: "",
      operator,
      dept,
    })),
  );
  await storeRebates(
    stage.pool,
    REBATES.map(({ ad_platform, advertiser_id, toDay, ...rebate }) => ({
      ...rebate,
      appId,
      adPlatform: ad_platform,
      advertiserId: advertiser_id,
      untilDay: addDays(toDay, 1),
    })),
    0,
  );
}

/** A person in an app. */
type Part = { stage: ApplyStage; app: number; person: Made };

async function live(part: Part, isLate: boolean): Promise<void> {
  const { stage, app, person } = part;
  if (!isLate) await register(part);
  for (const happening of arriving(person, isLate))
    await stage.collect(person.clientId, [eventOf(happening)], { app, at: happening.atMs });
  if (!isLate) return;
  if (hasDevice(person.source)) await touch(part);
  if (person.source === "returned") await register(part, RETURN_MS);
  if (person.isDeleted)
    await stage.collect(person.clientId, [profile("profile_delete", {}, person.registeredAtMs)], { app });
  if (person.isRenamed)
    await stage.append("reset_client_id", person.clientId, { new_client_id: `${person.clientId}-new` }, { app });
}

function costOf(cost: CostRow, error: number) {
  return {
    day: cost.day,
    adPlatform: cost.ad_platform,
    advertiserId: cost.advertiser_id,
    gid: cost.gid,
    aid: cost.aid,
    csite: cost.csite,
    channel: cost.channel,
    osPlatform: cost.os_platform,
    campaignId: cost.turbo_promoted_object_id,
    impressions: cost.impressions,
    clicks: cost.clicks,
    costE4: cost.costE4 + error,
  };
}

function eventOf(happening: Happening): object {
  switch (happening.kind) {
    case "active":
      return track("login", {}, happening.atMs);
    case "register":
      return track("$AppRegister", {}, happening.atMs);
    case "pay":
      return pay(happening.orderId, happening.cents, {}, happening.atMs);
    case "refund": {
      const amount = happening.cents === null ? {} : { $pay_amount: happening.cents };
      const ids = { $order_id: happening.orderId, $refund_id: happening.refundId };
      return track("$RefundEvent", { ...ids, ...amount }, happening.atMs);
    }
    case "ad":
      return track("$AdShow", { $ecpm: happening.micros / 1000, $ad_type: "reward" }, happening.atMs);
  }
}

async function register({ stage, app, person }: Part, afterMs = 0): Promise<void> {
  const { clientId, channel, version, registeredAtMs, source } = person;
  const named = { client_id: clientId, name: clientId, channel, version };
  const head = { app, at: registeredAtMs + afterMs };
  switch (source) {
    case "organic":
      return stage.register(clientId, named, head);
    case "history":
      await stage.append(
        "initialize",
        clientId,
        {
          ...named,
          history_info: { create_time: registeredAtMs, company: "" },
        },
        { app },
      );
      return;
    case "late_touch":
    case "returned":
      return stage.register(
        clientId,
        { ...named, device_info: { os_name: "android", oaid: `oaid-of-${clientId}` } },
        head,
      );
    case "reported":
      await stage.append("attributed", clientId, { ...named, ...reportOf(person) }, head);
  }
}

function reportOf(person: Made): object {
  const { advertiser_id, gid, aid, csite } = person;
  const ids =
    person.ad_platform === "tencent"
      ? { account_id: advertiser_id, campaign_id: gid, adgroup_id: aid, site_set_name: csite }
      : { account_id: advertiser_id, did: gid, aid };
  return {
    turbo_promoted_object_id: person.turbo_promoted_object_id,
    active_time: person.registeredAtMs,
    active_ip: "",
    click_time: person.touchedAtMs,
    click_ip: "",
    click_company: person.ad_platform,
    ad_data: { [person.ad_platform]: ids },
    os_type: person.os_platform,
  };
}

async function touch({ stage, app, person }: Part): Promise<void> {
  const query = new URLSearchParams({
    company: person.ad_platform,
    track_id: person.turbo_promoted_object_id,
    ts: String(person.touchedAtMs),
    click_id: `click-of-${person.clientId}`,
    oaid: `oaid-of-${person.clientId}`,
    advertiser_id: person.advertiser_id,
    gid: person.gid,
    aid: person.aid,
    csite: person.csite,
  });
  await stage.append("click", "", String(query), { app, at: person.touchedAtMs! });
}
