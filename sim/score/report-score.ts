import type { ReportClient } from "../../src/client/report-client.ts";
import { expectedReport } from "../../test/report/oracle.ts";
import type { Asked, Market as OracleMarket, Person as OraclePerson } from "../../test/report/oracle-market.ts";
import type { Played } from "../market/simulation.ts";
import type { Person } from "../market/truth.ts";
import { daysOf, type Found, type Pair } from "./findings.ts";

/** The errors of the reports. Relative errors are weighted by the expected values of the rows. */
export type ReportScore = {
  rows: number;
  /** Errors against the definitions, with people attributed as the server did: only counting can be wrong here. */
  counting: Record<Family, number>;
  /** Errors against the sources that could be known. */
  truth: Record<Family, number>;
};

type Family = "users" | "refunds" | "ads" | "cost" | "roi" | "ltv" | "retention";

const METRICS: Readonly<Record<Family, readonly string[]>> = {
  users: ["AppActivateStandard", "AppDAU", "AppGamePayUserCntStandard", "AppGamePayAmountStandard", "AppAdRevenue"],
  refunds: ["AppRefundAmount", "AppRefundCnt"],
  ads: ["AppAdRevenue", "AppAdReportedRevenue", "AppAdPulledRevenue", "AppAdEstimatedRevenue", "AppAdEcpm"],
  cost: ["AdCost", "AdRealCost", "AdShow", "AdClick"],
  roi: ["AppROI", "AppFirstDayROI", "App24hROI", "App7DayROI", "App30DayROI", "AppReal7DayROI"],
  ltv: ["AppFirstDayLTV", "App24hLTV", "App7DayLTV", "App30DayLTV"],
  retention: ["AppRetention1d", "AppRetention3d", "AppRetention7d", "AppRetention14d"],
};
const FAMILIES = Object.keys(METRICS) as Family[];
const NAMES = [...new Set(FAMILIES.flatMap((family) => METRICS[family]))];

/** Cohorts by day and platform, by platform and ad, and in total, in both calibers and both kinds of windows. */
const QUESTIONS: readonly Pick<Asked, "dims" | "caliber" | "roiVersion">[] = [
  { dims: ["date", "ad_platform"], caliber: "user_activated_time", roiVersion: 1 },
  { dims: ["ad_platform", "aid"], caliber: "behavior_occurred_time", roiVersion: 2 },
  { dims: [], caliber: "user_activated_time", roiVersion: 2 },
];

export async function scoreReports(played: Played, client: ReportClient, pairs: readonly Pair[]): Promise<ReportScore> {
  const { from, to } = daysOf(played);
  const asServed = oracleMarket(played, pairs.map(asServerAttributed));
  const asKnown = oracleMarket(played, pairs.map(asTrulyAttributed));
  const score: ReportScore = { rows: 0, counting: zeros(), truth: zeros() };
  const sums = { counting: zeros(), truth: zeros() };
  const sizes = { counting: zeros(), truth: zeros() };
  for (const question of QUESTIONS) {
    const asked: Asked = {
      ...question,
      fromDay: from,
      toDay: to,
      decimals: 4,
      lists: {},
      versions: [],
    };
    const { items } = await client.adReport({
      app_id: played.operator.app.appId,
      date_list: [from, to],
      metrics_list: NAMES,
      dims_list: question.dims,
      statistics_caliber: question.caliber,
      roi_version: question.roiVersion,
      decimal_point: 4,
      filtering: {},
    });
    const served = byKey(items as Row[], question.dims);
    score.rows += served.size;
    for (const [kind, market] of [
      ["counting", asServed],
      ["truth", asKnown],
    ] as const) {
      const expected = byKey(expectedReport(market, asked, NAMES).items, question.dims);
      for (const family of FAMILIES) add(family, { served, expected, sum: sums[kind], size: sizes[kind] });
    }
  }
  for (const kind of ["counting", "truth"] as const) {
    for (const family of FAMILIES) score[kind][family] = sums[kind][family] / (sizes[kind][family] || 1);
  }
  return score;
}

type Row = Record<string, string | number>;

function zeros(): Record<Family, number> {
  return { users: 0, refunds: 0, ads: 0, cost: 0, roi: 0, ltv: 0, retention: 0 };
}

function byKey(rows: readonly Row[], dims: readonly string[]): Map<string, Row> {
  return new Map(rows.map((row) => [JSON.stringify(dims.map((name) => row[name])), row]));
}

type Compared = {
  served: Map<string, Row>;
  expected: Map<string, Row>;
  sum: Record<Family, number>;
  size: Record<Family, number>;
};

/** A row that is missing on one side counts as zeros there. */
function add(family: Family, { served, expected, sum, size }: Compared): void {
  for (const key of new Set([...served.keys(), ...expected.keys()])) {
    for (const name of METRICS[family]) {
      const [is, should] = [Number(served.get(key)?.[name] ?? 0), Number(expected.get(key)?.[name] ?? 0)];
      sum[family] += Math.abs(is - should);
      size[family] += Math.abs(should);
    }
  }
}

function oracleMarket({ market, pulledRevenue }: Played, people: OraclePerson[]): OracleMarket {
  const { catalogue, options } = market;
  const { ads: _, ...settings } = catalogue;
  return {
    timeZone: options.timeZone,
    payShareBp: 10_000,
    shareRules: [],
    people,
    costs: market.costs(),
    hours: [],
    refundsOn: "order",
    pulledRevenue,
    playerRevenue: [],
    ...settings,
  };
}

type OracleSource = Pick<
  OraclePerson,
  "ad_platform" | "advertiser_id" | "gid" | "aid" | "creative" | "csite" | "turbo_promoted_object_id" | "touchedAtMs"
>;

function asServerAttributed({ person, found }: Pair): OraclePerson {
  // For Apple, no one reports the time of the touch again.
  const touchedAtMs = found.platform === "asa" ? (person.source?.touchedAtMs ?? null) : found.touchedAtMs;
  const attributed = {
    ...idsOf(found),
    ad_platform: found.platform,
    turbo_promoted_object_id: found.campaignId,
    touchedAtMs,
  };
  return oraclePerson(person, attributed);
}

function asTrulyAttributed({ person }: Pair): OraclePerson {
  const { source, method } = person;
  const isKnown = source !== null && method !== "none";
  const attributed = isKnown
    ? {
        ...idsOf(source),
        ad_platform: source.platform,
        turbo_promoted_object_id: source.campaignId,
        touchedAtMs: source.touchedAtMs,
      }
    : { ...ORGANIC_SOURCE };
  return oraclePerson(person, attributed);
}

const ORGANIC_SOURCE: OracleSource = {
  ad_platform: "",
  advertiser_id: "",
  gid: "",
  aid: "",
  creative: "",
  csite: "",
  turbo_promoted_object_id: "",
  touchedAtMs: null,
};

/** No question of the score is about creatives. */
function idsOf({ advertiserId, gid, aid, csite }: Pick<Found, "advertiserId" | "gid" | "aid" | "csite">) {
  return { advertiser_id: advertiserId, gid, aid, creative: "", csite };
}

function oraclePerson(person: Person, attributed: OracleSource): OraclePerson {
  const { clientId, registeredAtMs, channel, version, os, kind } = person;
  const happenings = person.events.filter(({ type }) => type === "track").map(({ happening }) => happening);
  const isHistory = kind === "migrated";
  // No question of the score is about revenue that is told by player.
  const ids = { clientId, openId: "" };
  return { ...ids, registeredAtMs, channel, version, os_platform: os, isHistory, happenings, ...attributed };
}
