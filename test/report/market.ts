import fc from "fast-check";
import type { AdReportBody } from "../../src/report/ad/ad-report-request.ts";
import type {
  Account,
  Asked,
  Campaign,
  CostRow,
  Ecpm,
  Happening,
  HourRow,
  Market,
  Person,
  PlayerRevenue,
  PulledRevenue,
  Rebate,
  ShareRule,
} from "./oracle-market.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** The clocks of New York go forward in the night before the third day. */
const START_MS = Date.UTC(2024, 2, 8, 5);

/** The last one means no campaign. */
const CAMPAIGNS = ["campaign00000001", "campaign00000002", ""];
const PLATFORMS = ["tencent", "kuaishou"];
const pick = <T>(...values: T[]) => fc.constantFrom(...values);

type Source = "organic" | "reported" | "history" | "late_touch" | "returned";

/** A person, and how the server learns their source. */
export type Made = Person & { source: Source; arrivesLate: boolean[]; isRenamed: boolean; isDeleted: boolean };

/** Known by a device id, and so found by a touch. */
export const hasDevice = (source: Source) => source === "late_touch" || source === "returned";
/** The time after which a user comes back, through another ad. */
export const RETURN_MS = 4 * DAY_MS;

/** What is left of a unit's id that is too long: 198 bytes, and the next character would need three. */
export const CUT_UNIT = "夏".repeat(66);

const offsets = fc.oneof(
  pick(0, 1, HOUR_MS, DAY_MS - 1, DAY_MS, 3 * DAY_MS, 7 * DAY_MS - 1, 7 * DAY_MS, 30 * DAY_MS - 1, 30 * DAY_MS),
  pick(-HOUR_MS, -2 * DAY_MS),
  fc.integer({ min: 0, max: 32 * 24 }).map((hours) => hours * HOUR_MS),
);

/** The same thing at the same instant would be the same event, which counts once. */
const happenings = fc.uniqueArray(
  fc.record({
    kind: pick("active", "active", "pay", "pay", "ad", "ad", "register", "refund", "refund"),
    afterMs: offsets,
    cents: pick(1, 600, 99_999),
    micros: pick(1, 80_000, 33_333, 0, 0),
    unit: pick("unit1", "unit2", "", CUT_UNIT),
    order: fc.nat(1),
    isWhole: fc.boolean(),
    method: pick("", "wechat", "midas"),
    isVirtual: pick(false, false, true),
  }),
  { maxLength: 8, selector: ({ kind, afterMs }) => `${kind} ${afterMs}` },
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
      // Launches of some platforms do not name the account.
      advertiser_id: pick("acc1", "acc2", ""),
      gid: pick("g1", "g2"),
      aid: pick("a1", "a2", "a3"),
      creative: pick("", "k1", "k2"),
      csite: pick("", "feed"),
      channel: pick("c1", "c2"),
      os_platform: pick("ios", "android"),
      turbo_promoted_object_id: pick(...CAMPAIGNS),
      version: pick(1, 2),
      happenings,
      arrivesLate: fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }),
      isRenamed: pick(false, false, true),
      isDeleted: pick(false, false, true),
      isErased: pick(false, false, false, true),
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
          : {
              ad_platform: "",
              advertiser_id: "",
              gid: "",
              aid: "",
              creative: "",
              csite: "",
              turbo_promoted_object_id: "",
            }),
        // Kuaishou's own report of a click names no placement.
        ...(one.ad_platform === "kuaishou" && one.source === "reported" ? { csite: "" } : {}),
        ...(hasDevice(one.source) ? { os_platform: "android" } : {}),
        ...(one.source === "organic" || one.source === "history" ? { os_platform: "unknown" } : {}),
        clientId,
        openId: index % 2 === 0 ? `open-${clientId}` : "",
        registeredAtMs: registeredMs,
        touchedAtMs: isPaid ? registeredMs + (one.source === "returned" ? RETURN_MS : 0) - touchAgeMs : null,
        isHistory: one.source === "history",
        happenings: done.map(
          ({ kind, afterMs, cents, micros, unit, order, isWhole, method, isVirtual }, at): Happening => {
            const atMs = registeredMs + afterMs;
            if (kind === "pay") return { kind, atMs, cents, orderId: `${clientId}-${order}`, method, isVirtual };
            if (kind === "ad") return { kind, atMs, micros, unit };
            if (kind === "refund")
              return {
                kind,
                atMs,
                orderId: `${clientId}-${order}`,
                cents: isWhole ? null : cents,
                refundId: `${clientId}-r${at}`,
              };
            return { kind: kind as "active" | "register", atMs };
          },
        ),
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
    creative: pick("", "", "k1", "k2"),
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

/** Parts of a few ads' costs by the hour, some of which are more than the day's cost. */
const hourParts = fc.array(
  fc.record({ of: fc.nat(5), hour: pick("00", "01", "13", "23"), share: pick(0.1, 0.3, 0.5, 0.9) }),
  { maxLength: 5 },
);

function hoursOf(rows: readonly CostRow[], parts: readonly { of: number; hour: string; share: number }[]): HourRow[] {
  const hours = new Map<string, HourRow>();
  for (const { of, hour, share } of parts) {
    const cost = rows[of];
    if (!cost || cost.ad_platform === "" || cost.advertiser_id === "") continue;
    const { day, ad_platform, advertiser_id, gid, aid } = cost;
    const ad = { day, ad_platform, advertiser_id, gid, aid, hour };
    const figure = (value: number) => Math.floor(value * share);
    const { impressions, clicks, costE4 } = cost;
    const figures = { impressions: figure(impressions), clicks: figure(clicks), costE4: figure(costE4) };
    hours.set(JSON.stringify(ad), { ...ad, ...figures });
  }
  return [...hours.values()];
}

/** The events of a market; its campaigns and accounts are always the same. */
export type MadeMarket = Pick<Market, "timeZone" | "payShareBp" | "shareRules" | "refundsOn" | "costs" | "hours"> & {
  people: Made[];
};

const ANY_PAYMENT = { os_platform: "", channel: "", method: "", isVirtual: null, fromDay: "", toDay: "" };
const dayAfter = (days: number) => new Date(START_MS + days * DAY_MS).toISOString().slice(0, 10);

/** From special to general, so that none is idle whichever of them an app has. */
const SHARE_RULES: ShareRule[] = [
  { ...ANY_PAYMENT, os_platform: "ios", channel: "c1", fromDay: dayAfter(1), toDay: dayAfter(4), shareBp: 9_999 },
  { ...ANY_PAYMENT, isVirtual: true, method: "midas", shareBp: 6_667 },
  { ...ANY_PAYMENT, os_platform: "ios", toDay: dayAfter(9), shareBp: 7_000 },
  { ...ANY_PAYMENT, method: "wechat", fromDay: dayAfter(2), shareBp: 0 },
  { ...ANY_PAYMENT, os_platform: "unknown", isVirtual: false, shareBp: 10_000 },
  { ...ANY_PAYMENT, channel: "c2", shareBp: 8_501 },
];

export const markets: fc.Arbitrary<MadeMarket> = fc
  .record({
    timeZone: pick("Asia/Shanghai", "America/New_York", "Asia/Kolkata", "Pacific/Auckland"),
    payShareBp: pick(10_000, 6_000, 3_333),
    shareRules: fc.subarray(SHARE_RULES),
    refundsOn: pick<Market["refundsOn"]>("order", "refund"),
    people,
    costs,
    hourParts,
  })
  .map(({ hourParts: parts, ...market }) => ({ ...market, hours: hoursOf(market.costs, parts) }));

const OTHER_DIMS = ["advertiser_id", "gid", "aid", "creative", "os_platform", "operator"];
const dims = fc
  .record({
    base: fc.subarray(["date", "ad_platform"]),
    rest: fc.oneof(
      fc.subarray([...OTHER_DIMS, "turbo_promoted_object_id"]),
      fc.subarray([...OTHER_DIMS, "dept"]),
      fc.subarray(["advertiser_id", "gid", "aid", "creative", "os_platform", "channel"]),
      fc.subarray(["csite"]),
    ),
  })
  .map(({ base, rest }) => [...base, ...rest]);

const rarely = (list: string[]) => pick<string[]>([], [], [], [], [], list);

/** Questions about ranges of as many days, grouped by dimensions of which some are always there. */
function questions(moreDays: fc.Arbitrary<number>, always: readonly string[]): fc.Arbitrary<Asked> {
  return fc
    .record({
      from: fc.integer({ min: -5, max: 8 }),
      days: moreDays,
      dims,
      caliber: pick<Asked["caliber"]>("user_activated_time", "behavior_occurred_time"),
      roiVersion: pick<1 | 2>(1, 2),
      decimals: pick(2, 4),
      lists: fc.record({
        ad_platform: pick([], [], ["tencent"], ["natural", "kuaishou"]),
        channel: pick<string[]>([], [], ["c1"]),
        turbo_promoted_object_id: pick<string[]>([], [], [CAMPAIGNS[0]!]),
        advertiser_id: rarely(["acc1"]),
        gid: rarely(["g1", ""]),
        aid: rarely(["a1", "a3"]),
        creative: rarely(["k1", ""]),
        os_platform: rarely(["ios", "unknown"]),
        csite: rarely(["feed"]),
      }),
      versions: pick<number[]>([], [], [], [2]),
    })
    .map(({ from, days, ...rest }) => {
      const day = (offset: number) => new Date(START_MS + offset * DAY_MS).toISOString().slice(0, 10);
      return { ...rest, dims: [...rest.dims, ...always], fromDay: day(from), toDay: day(from + days) };
    });
}

export const asked: fc.Arbitrary<Asked> = questions(pick(0, 0, 1, 6, 40), []);
export const askedByHour: fc.Arbitrary<Asked> = questions(pick(0, 1), ["hour"]);

export const ACCOUNTS: Account[] = [
  { ad_platform: "tencent", advertiser_id: "acc1", operator: "ann", dept: "d1" },
  { ad_platform: "kuaishou", advertiser_id: "acc2", operator: "", dept: "d2" },
];
export const CAMPAIGN_ROWS: Campaign[] = [
  { id: CAMPAIGNS[0]!, channel: "c1", os_platform: "ios", operator: "bob", dept: "d3" },
  { id: CAMPAIGNS[1]!, channel: "", os_platform: "", operator: "", dept: "" },
];

/** The last two are one account's, with a day between them that has none. */
export const REBATES: Rebate[] = [
  {
    ad_platform: "tencent",
    advertiser_id: "acc1",
    fromDay: dayAfter(0),
    toDay: "9999-12-30",
    cashBp: 333,
    creditBp: 700,
  },
  {
    ad_platform: "kuaishou",
    advertiser_id: "acc2",
    fromDay: dayAfter(0),
    toDay: dayAfter(3),
    cashBp: 0,
    creditBp: 10_000,
  },
  {
    ad_platform: "kuaishou",
    advertiser_id: "acc2",
    fromDay: dayAfter(5),
    toDay: dayAfter(6),
    cashBp: 9_999,
    creditBp: 0,
  },
];

/** A day between the first two has none. */
export const ECPMS: Ecpm[] = [
  { unit: "unit1", fromDay: dayAfter(-5), toDay: dayAfter(2), viewMicros: 35_501 },
  { unit: "unit1", fromDay: dayAfter(4), toDay: "9999-12-30", viewMicros: 7 },
  { unit: "unit2", fromDay: dayAfter(1), toDay: dayAfter(9), viewMicros: 80_000 },
];

/** More than the clients have reported, less than that, nothing, and what cannot be divided evenly. */
export const PULLED: PulledRevenue[] = [
  ...["unit1", "unit2"].map((unit) => ({ unit, day: dayAfter(0), micros: 1_000_000 })),
  ...[0, 2].map((days) => ({ unit: CUT_UNIT, day: dayAfter(days), micros: 400_003 })),
  { unit: "unit1", day: dayAfter(1), micros: 10 },
  { unit: "unit2", day: dayAfter(1), micros: 0 },
  { unit: "unit1", day: dayAfter(3), micros: 200_003 },
  { unit: "unit2", day: dayAfter(4), micros: 77_777 },
  { unit: "unseen", day: dayAfter(4), micros: 5 },
];

/** A known player with and without others, less than was reported, and nobody whom the app knows. */
export const PLAYERS: PlayerRevenue[] = [
  { openId: "open-u0", day: dayAfter(0), micros: 500_001 },
  { openId: "open-u2", day: dayAfter(1), micros: 10 },
  { openId: "a stranger", day: dayAfter(1), micros: 300_007 },
  { openId: "open-u0", day: dayAfter(2), micros: 70_001 },
  { openId: "open-u2", day: dayAfter(2), micros: 80_000 },
  { openId: "a stranger", day: dayAfter(3), micros: 1_000_003 },
];

/** The person's events that arrive early, or those that arrive late. */
export function arriving(person: Made, isLate: boolean): Happening[] {
  return person.happenings.filter((_, index) => person.arrivesLate[index] === isLate);
}

/** The market as the oracle sees it. The first report of an order stays, so events are in the order of arrival. */
export function toldOf(market: MadeMarket): Market {
  const people = market.people.map((one) => ({
    ...one,
    happenings: [...arriving(one, false), ...arriving(one, true)],
  }));
  return {
    ...market,
    people,
    campaigns: CAMPAIGN_ROWS,
    accounts: ACCOUNTS,
    rebates: REBATES,
    ecpms: ECPMS,
    pulledRevenue: PULLED,
    playerRevenue: PLAYERS,
  };
}

/** The question as the body of a report. */
export function bodyOf(appId: number, question: Asked, metrics: readonly string[]): AdReportBody {
  return {
    app_id: appId,
    date_list: [question.fromDay, question.toDay],
    metrics_list: metrics,
    dims_list: question.dims,
    statistics_caliber: question.caliber,
    decimal_point: question.decimals as 2 | 4,
    roi_version: question.roiVersion,
    filtering: {
      ...Object.fromEntries(Object.entries(question.lists).map(([name, list]) => [`${name}_list`, list])),
      version_list: question.versions,
    },
  };
}

/** What the rule for reports by the hour looks at. */
export function ruleOf(question: Asked): { reading: Asked; isByCreative: boolean } {
  const isByCreative = question.dims.includes("creative") || (question.lists.creative ?? []).length > 0;
  return { reading: question, isByCreative };
}
