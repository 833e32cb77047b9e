import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { storeAdvertisers } from "../../src/db/ad-names.ts";
import { storeRuleSettings } from "../../src/db/attribution-setting.ts";
import { createCampaign } from "../../src/db/campaign.ts";
import { storeCosts } from "../../src/db/cost.ts";
import { refreshOnce } from "../../src/refresh/refresh.ts";
import { runAdReport } from "../../src/report/ad-report.ts";
import { readAdReport } from "../../src/report/ad-report-request.ts";
import { METRICS } from "../../src/report/catalogue.ts";
import {
  type Asked,
  type CostRow,
  expectedReport,
  type Happening,
  type Market,
  type Person,
} from "../report/oracle.ts";
import { ApplyStage, pay, profile, track } from "./apply-stage.ts";
import { makeApp } from "./temp-database.ts";

let stage: ApplyStage;
let app: number;
beforeAll(async () => {
  stage = await ApplyStage.open();
});
afterAll(() => stage.close());

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** The clocks of New York go forward in the night before the third day. */
const START_MS = Date.UTC(2024, 2, 8, 5);
const ALL = METRICS.map(({ name }) => name);

const CAMPAIGNS = ["campaign00000001", "campaign00000002", ""];
const PLATFORMS = ["tencent", "kuaishou"];
const pick = <T>(...values: T[]) => fc.constantFrom(...values);

type Source = "organic" | "reported" | "history" | "late_touch" | "returned";

/** A person, and how the server gets to know where from. */
type Made = Person & { source: Source; arrivesLate: boolean[]; isRenamed: boolean; isDeleted: boolean };

/** Known by a device id, and so found by a touch. */
const hasDevice = (source: Source) => source === "late_touch" || source === "returned";
/** After so long a user comes back, by way of another ad. */
const RETURN_MS = 4 * DAY_MS;

const offsets = fc.oneof(
  pick(0, 1, HOUR_MS, DAY_MS - 1, DAY_MS, 3 * DAY_MS, 7 * DAY_MS - 1, 7 * DAY_MS, 30 * DAY_MS - 1, 30 * DAY_MS),
  pick(-HOUR_MS, -2 * DAY_MS),
  fc.integer({ min: 0, max: 32 * 24 }).map((hours) => hours * HOUR_MS),
);

const happenings = fc.array(
  fc.record({
    kind: pick("active", "active", "pay", "pay", "ad", "ad", "register"),
    afterMs: offsets,
    cents: pick(1, 600, 99_999),
    micros: pick(1, 80_000, 33_333),
    order: fc.nat(3),
  }),
  { maxLength: 8 },
);

const people: fc.Arbitrary<Made[]> = fc
  .array(
    fc.record({
      source: pick<Source>("organic", "reported", "reported", "history", "late_touch", "returned"),
      registeredMs: fc
        .oneof(fc.integer({ min: 0, max: 5 * 24 * 60 }), pick(0, 24 * 60, 3 * 24 * 60))
        .map((minutes) => START_MS + minutes * 60_000),
      touchAgeMs: pick(0, 1, HOUR_MS, 26 * HOUR_MS, 3 * DAY_MS),
      ad_platform: pick(...PLATFORMS),
      advertiser_id: pick("acc1", "acc2"),
      gid: pick("g1", "g2"),
      aid: pick("a1", "a2", "a3"),
      csite: pick("", "feed"),
      channel: pick("c1", "c2"),
      os_platform: pick("ios", "android"),
      turbo_promoted_object_id: pick(...CAMPAIGNS),
      version: pick(1, 2),
      happenings,
      arrivesLate: fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }),
      isRenamed: pick(false, false, true),
      isDeleted: pick(false, false, true),
    }),
    { minLength: 1, maxLength: 6 },
  )
  .map((list) =>
    list.map((one, index): Made => {
      const { registeredMs, touchAgeMs, happenings: done, ...rest } = one;
      const clientId = `u${index}`;
      const isPaid = one.source !== "organic" && one.source !== "history";
      return {
        ...rest,
        ...(isPaid
          ? {}
          : { ad_platform: "", advertiser_id: "", gid: "", aid: "", csite: "", turbo_promoted_object_id: "" }),
        // Kuaishou's own report of a click names no placement.
        ...(one.ad_platform === "kuaishou" && one.source === "reported" ? { csite: "" } : {}),
        ...(hasDevice(one.source) ? { os_platform: "android" } : {}),
        ...(one.source === "organic" || one.source === "history" ? { os_platform: "unknown" } : {}),
        clientId,
        registeredAtMs: registeredMs,
        touchedAtMs: isPaid ? registeredMs + (one.source === "returned" ? RETURN_MS : 0) - touchAgeMs : null,
        isHistory: one.source === "history",
        happenings: done.map(({ kind, afterMs, cents, micros, order }, number): Happening => {
          const atMs = registeredMs + afterMs + number;
          if (kind === "pay") return { kind, atMs, cents, orderId: `${clientId}-${order}` };
          if (kind === "ad") return { kind, atMs, micros };
          return { kind: kind as "active" | "register", atMs };
        }),
      };
    }),
  );

const costs: fc.Arbitrary<CostRow[]> = fc.uniqueArray(
  fc.record({
    day: fc.nat(8).map((days) => new Date(START_MS + days * DAY_MS).toISOString().slice(0, 10)),
    ad_platform: pick(...PLATFORMS),
    advertiser_id: pick("acc1", "acc2", ""),
    gid: pick("g1", "g2", ""),
    aid: pick("a1", "a2", "a3", ""),
    csite: pick("", "feed"),
    channel: pick("", "c1"),
    os_platform: pick("", "ios"),
    turbo_promoted_object_id: pick("", "", ...CAMPAIGNS),
    impressions: fc.nat(100_000),
    clicks: fc.nat(1_000),
    costE4: fc.nat(90_000_000),
  }),
  { maxLength: 6, selector: ({ impressions: _i, clicks: _c, costE4: _e, ...key }) => JSON.stringify(key) },
);

const markets = fc.record({
  timeZone: pick("Asia/Shanghai", "America/New_York", "Asia/Kolkata", "Pacific/Auckland"),
  payShareBp: pick(10_000, 6_000, 3_333),
  people,
  costs,
});

const OTHER_DIMS = ["advertiser_id", "gid", "aid", "os_platform", "operator"];
const dims = fc
  .record({
    base: fc.subarray(["date", "ad_platform"]),
    rest: fc.oneof(
      fc.subarray([...OTHER_DIMS, "turbo_promoted_object_id"]),
      fc.subarray([...OTHER_DIMS, "dept"]),
      fc.subarray(["advertiser_id", "gid", "aid", "os_platform", "channel"]),
      fc.subarray(["csite"]),
    ),
  })
  .map(({ base, rest }) => [...base, ...rest]);

const asked: fc.Arbitrary<Asked> = fc
  .record({
    from: fc.integer({ min: -5, max: 8 }),
    days: pick(0, 0, 1, 6, 40),
    dims,
    caliber: pick<Asked["caliber"]>("user_activated_time", "behavior_occurred_time"),
    roiVersion: pick<1 | 2>(1, 2),
    decimals: pick(2, 4),
    adPlatforms: pick([], [], ["tencent"], ["natural", "kuaishou"]),
    channels: pick<string[]>([], [], ["c1"]),
    versions: pick<number[]>([], [], [], [2]),
    campaigns: pick<string[]>([], [], [CAMPAIGNS[0]!]),
  })
  .map(({ from, days, ...rest }) => {
    const day = (offset: number) => new Date(START_MS + offset * DAY_MS).toISOString().slice(0, 10);
    return { ...rest, fromDay: day(from), toDay: day(from + days) };
  });

const ACCOUNTS = [
  { ad_platform: "tencent", advertiser_id: "acc1", operator: "ann", dept: "d1" },
  { ad_platform: "kuaishou", advertiser_id: "acc2", operator: "", dept: "d2" },
];
const CAMPAIGN_ROWS = [
  { id: CAMPAIGNS[0]!, channel: "c1", os_platform: "ios", operator: "bob", dept: "d3" },
  { id: CAMPAIGNS[1]!, channel: "", os_platform: "", operator: "", dept: "" },
];

test("every metric equals its definition, for random markets, dimensions, filters and days", {
  timeout: 240_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(markets, fc.array(asked, { minLength: 8, maxLength: 8 }), async (market, questions) => {
      // An app of its own for each: emptying the tables would take longer than all the rest.
      app = (await makeApp(stage.pool, market.timeZone)).appId;
      await enact(market);
      // The first report of an order stays, so the oracle is told in the order of arrival.
      const told = market.people.map((one) => ({
        ...one,
        happenings: [...arriving(one, false), ...arriving(one, true)],
      }));
      const whole: Market = { ...market, people: told, campaigns: CAMPAIGN_ROWS, accounts: ACCOUNTS };
      for (const question of questions) {
        const expected = expectedReport(whole, question, ALL);
        const report = await ask(question, market.payShareBp);
        expect(sorted(report.items)).toEqual(sorted(expected.items));
        expect(report.total).toEqual(expected.total);
      }
    }),
    { numRuns: 25, endOnFailure: true },
  );
});

function sorted(items: readonly Record<string, string | number>[]): Record<string, string | number>[] {
  return [...items].sort((left, right) => (JSON.stringify(left) < JSON.stringify(right) ? -1 : 1));
}

function ask(question: Asked, payShareBp: number) {
  const request = readAdReport({
    app_id: app,
    date_list: [question.fromDay, question.toDay],
    metrics_list: ALL,
    dims_list: question.dims,
    statistics_caliber: question.caliber,
    decimal_point: question.decimals as 2 | 4,
    roi_version: question.roiVersion,
    filtering: {
      ad_platform_list: question.adPlatforms,
      channel_list: question.channels,
      version_list: question.versions,
      turbo_promoted_object_id_list: question.campaigns,
    },
  });
  return runAdReport(stage.pool, request, { payShareBp });
}

/** Lets it happen: in two halves with a refresh after each, so that late events and touches meet a cube that is there. */
async function enact(
  market: Omit<Market, "campaigns" | "accounts" | "people"> & { people: readonly Made[] },
): Promise<void> {
  const appId = app;
  const rules = { reattribution: true, reclickDays: 0, refluxDays: 1 };
  await storeRuleSettings(stage.pool, { appId, platform: "", rules, changedAtMs: 0 });
  for (const { id, ...campaign } of CAMPAIGN_ROWS) {
    const { os_platform: osPlatform, ...rest } = campaign;
    await createCampaign(stage.pool, {
      ...rest,
      osPlatform,
      appId,
      turboPromotedObjectId: id,
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
  for (const isLate of [false, true]) {
    for (const person of market.people) {
      if (!isLate) await register(person);
      for (const happening of arriving(person, isLate))
        await stage.collect(person.clientId, [eventOf(happening)], { app, at: happening.atMs });
      if (isLate && hasDevice(person.source)) await touch(person);
      if (isLate && person.source === "returned") await register(person, RETURN_MS);
      if (isLate && person.isDeleted)
        await stage.collect(person.clientId, [profile("profile_delete", {}, person.registeredAtMs)], { app });
      if (isLate && person.isRenamed)
        await stage.append("reset_client_id", person.clientId, { new_client_id: `${person.clientId}-new` }, { app });
    }
    await stage.applyAll();
    await storeCosts(
      stage.pool,
      market.costs.map((cost) => costOf(cost, isLate ? 0 : 5)),
      0,
    );
    while ((await refreshOnce(stage.pool)) > 0);
  }
}

function arriving(person: Made, isLate: boolean): Happening[] {
  return person.happenings.filter((_, index) => person.arrivesLate[index] === isLate);
}

function costOf(cost: CostRow, error: number) {
  return {
    appId: app,
    day: cost.day,
    adPlatform: cost.ad_platform,
    advertiserId: cost.advertiser_id,
    gid: cost.gid,
    aid: cost.aid,
    csite: cost.csite,
    channel: cost.channel,
    osPlatform: cost.os_platform,
    turboPromotedObjectId: cost.turbo_promoted_object_id,
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
    case "ad":
      return track("$AdShow", { $ecpm: happening.micros / 1000, $ad_type: "reward" }, happening.atMs);
  }
}

async function register(person: Made, afterMs = 0): Promise<void> {
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

async function touch(person: Made): Promise<void> {
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
