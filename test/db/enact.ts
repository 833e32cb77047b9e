import { Readable } from "node:stream";
import { setEcpm } from "../../src/admin/setting/ecpms.ts";
import { setShares } from "../../src/admin/setting/shares.ts";
import { COST_COLUMNS, importCosts } from "../../src/cost/file-import.ts";
import { storeAdvertisers } from "../../src/db/ad-names.ts";
import { type PlayerRevenue, storeAdRevenue, storePlayerRevenue, type UnitRevenue } from "../../src/db/ad-revenue.ts";
import { changeApp } from "../../src/db/app.ts";
import { storeRuleSettings } from "../../src/db/attribution-setting.ts";
import { createCampaign } from "../../src/db/campaign.ts";
import { storeCosts } from "../../src/db/cost.ts";
import { storeCostHours } from "../../src/db/cost-hour.ts";
import { inTransaction } from "../../src/db/engine/pool.ts";
import { storeRebates } from "../../src/db/rebate.ts";
import { refreshOnce } from "../../src/refresh/refresh.ts";
import {
  ACCOUNTS,
  arriving,
  CAMPAIGN_ROWS,
  CUT_UNIT,
  ECPMS,
  hasDevice,
  type Made,
  type MadeMarket,
  PLAYERS,
  PULLED,
  REBATES,
  RETURN_MS,
} from "../report/market.ts";
import { addDays } from "../report/oracle-days.ts";
import type { CostRow, Happening, HourRow, ShareRule } from "../report/oracle-market.ts";
import { type ApplyStage, pay, profile, track } from "./apply-stage.ts";
import { vault } from "./temp-database.ts";

/** Plays the market in two halves with a refresh after each, so that late events and touches meet an existing cube. */
export async function enact(stage: ApplyStage, app: number, market: MadeMarket): Promise<void> {
  await settle(stage, app);
  await changeApp(stage.pool, app, { refundsOn: market.refundsOn });
  for (const isLate of [false, true]) {
    // Rules that come later count for payments that are counted already.
    if (isLate) await setShares({ pool: stage.pool, ...DESK }, { app_id: app, rules: market.shareRules.map(ruleOf) });
    for (const person of market.people) await live({ stage, app, person }, isLate);
    await stage.applyAll();
    // Half of the costs come late, and are what tells the account of some users who are counted by then.
    if (isLate) await importFile(stage, app, market.costs);
    else await pullCosts(stage, app, market.costs);
    while ((await refreshOnce(stage.pool)) > 0);
    if (isLate) continue;
    await estimate(stage, app);
    await pullRevenue(stage, app);
    await pullPlayers(stage, app);
    while ((await refreshOnce(stage.pool)) > 0);
  }
  await storeHours(stage, app, market.hours);
}

/** Half of the costs, with errors and under other creatives, which the file corrects. */
async function pullCosts({ pool }: ApplyStage, appId: number, costs: readonly CostRow[]): Promise<void> {
  const known = costs.filter((_, index) => index % 2 === 0);
  await storeCosts(
    pool,
    known.map((cost) => ({ ...costOf(cost, 5), cid: `pulled ${cost.creative}`, appId })),
    0,
  );
}

async function importFile({ pool }: ApplyStage, appId: number, costs: readonly CostRow[]): Promise<void> {
  const lines = costs.map((cost) => {
    const cells = { ...cost, date: cost.day, cost: (cost.costE4 / 10_000).toFixed(4) };
    return COST_COLUMNS.map((column) => cells[column]).join(",");
  });
  const file = Readable.from([`${COST_COLUMNS.join(",")}\n${lines.join("\n")}\n`]);
  await inTransaction(pool, (tx) => importCosts(tx, file, { appId, changedAtMs: 0 }));
}

async function storeHours(stage: ApplyStage, appId: number, hours: readonly HourRow[]): Promise<void> {
  const keyOf = ({ ad_platform: adPlatform, advertiser_id: advertiserId, day }: HourRow) => ({
    appId,
    adPlatform,
    advertiserId,
    day,
  });
  const days = new Map(hours.map((row) => [JSON.stringify(keyOf(row)), keyOf(row)]));
  for (const [text, key] of days) {
    const own = hours.filter((row) => JSON.stringify(keyOf(row)) === text);
    await storeCostHours(stage.pool, key, own);
  }
}

function ruleOf({ method, isVirtual, fromDay, toDay, shareBp, ...rule }: ShareRule) {
  const payment = { pay_method: method, is_virtual: isVirtual };
  return { ...rule, ...payment, start_date: fromDay, end_date: toDay, share: shareBp / 10_000 };
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
  const newClientId = `${person.clientId}-new`;
  if (person.isRenamed) await stage.append("reset_client_id", person.clientId, { new_client_id: newClientId }, { app });
  if (person.isErased) await stage.append("erase", person.isRenamed ? newClientId : person.clientId, {}, { app });
}

function costOf(cost: CostRow, error: number) {
  return {
    day: cost.day,
    adPlatform: cost.ad_platform,
    advertiserId: cost.advertiser_id,
    gid: cost.gid,
    aid: cost.aid,
    cid: cost.creative,
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
      return pay(happening.orderId, happening.cents, kindOf(happening), happening.atMs);
    case "refund": {
      const amount = happening.cents === null ? {} : { $pay_amount: happening.cents };
      const ids = { $order_id: happening.orderId, $refund_id: happening.refundId };
      return track("$RefundEvent", { ...ids, ...amount }, happening.atMs);
    }
    case "ad":
      return track("$AdShow", adOf(happening), happening.atMs);
  }
}

function adOf({ micros, unit }: Extract<Happening, { kind: "ad" }>): object {
  const told = micros === 0 ? {} : { $ecpm: micros / 1000 };
  return { ...told, $ad_type: "reward", $ad_unit_id: unit === CUT_UNIT ? `${unit}季节` : unit };
}

/** Sets eCPMs after the first ads have been counted without them; the second one at another amount first. */
async function estimate({ pool }: ApplyStage, appId: number): Promise<void> {
  for (const { unit: ad_unit_id, fromDay: start_date, toDay: end_date, viewMicros } of ECPMS) {
    const body = { app_id: appId, ad_unit_id, start_date, end_date };
    await setEcpm({ pool, ...DESK }, { ...body, ecpm: 1 });
    await refreshOnce(pool);
    await setEcpm({ pool, ...DESK }, { ...body, ecpm: viewMicros / 1000 });
  }
}

/** What the platform says, after it has said something else and about another day. */
async function pullRevenue({ pool }: ApplyStage, appId: number): Promise<void> {
  const key = { appId, adPlatform: "wechat", advertiserId: "wx1" };
  const days = [...new Set(PULLED.map(({ day }) => day))];
  const store = (day: string, units: UnitRevenue[]) =>
    inTransaction(pool, (tx) => storeAdRevenue(tx, key, { day, units, pulledAtMs: 0 }));
  await store(addDays(days[0]!, 2), [{ adUnit: "unit1", views: 1, micros: 500 }]);
  await store(days[0]!, [{ adUnit: "unit1", views: 1, micros: 333 }]);
  while ((await refreshOnce(pool)) > 0);
  await store(addDays(days[0]!, 2), []);
  for (const day of days) {
    const told = PULLED.filter((one) => one.day === day);
    await store(
      day,
      told.map(({ unit: adUnit, micros }) => ({ adUnit, views: 1, micros })),
    );
  }
}

/** The same by player. */
async function pullPlayers({ pool }: ApplyStage, appId: number): Promise<void> {
  const key = { appId, adPlatform: "douyin", advertiserId: "tt1" };
  const store = (day: string, players: PlayerRevenue[]) =>
    inTransaction(pool, (tx) => storePlayerRevenue(tx, key, { day, players, pulledAtMs: 0 }));
  const days = [...new Set(PLAYERS.map(({ day }) => day))];
  for (const day of days) await store(day, [{ openId: "open-u0", views: 1, micros: 999 }]);
  while ((await refreshOnce(pool)) > 0);
  for (const day of days) {
    const told = PLAYERS.filter((one) => one.day === day);
    await store(
      day,
      told.map(({ openId, micros }) => ({ openId, views: 1, micros })),
    );
  }
}

const DESK = { vault, clock: () => 0, by: { name: "mei", address: "" } };

function kindOf({ method = "", isVirtual = false }: { method?: string; isVirtual?: boolean }): object {
  return { ...(method !== "" && { $pay_method: method }), ...(isVirtual && { $is_virtual: true }) };
}

async function register({ stage, app, person }: Part, afterMs = 0): Promise<void> {
  const { clientId, openId, channel, version, registeredAtMs, source } = person;
  const named = { client_id: clientId, name: clientId, wx_openid: openId, channel, version };
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
  const { advertiser_id, gid, aid, creative, csite } = person;
  const ids =
    person.ad_platform === "tencent"
      ? { account_id: advertiser_id, campaign_id: gid, adgroup_id: aid, ad_id: creative, site_set_name: csite }
      : { account_id: advertiser_id, did: gid, aid, cid: creative };
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
    cid: person.creative,
    csite: person.csite,
  });
  await stage.append("click", "", String(query), { app, at: person.touchedAtMs! });
}
