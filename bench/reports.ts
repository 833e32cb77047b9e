import type pg from "pg";
import { ReportClient } from "../src/client/report-client.ts";
import { elapsedMs, systemClock } from "../src/clock.ts";
import { insertApp } from "../src/db/app.ts";
import { createDeveloperApp, decideDeveloperApp } from "../src/db/developer-app.ts";
import { markSlices } from "../src/db/dirty-day.ts";
import { addDays, calendarOf } from "../src/domain/calendar.ts";
import { COHORTS } from "../src/domain/cube.ts";
import { refreshOnce } from "../src/refresh/refresh.ts";
import { openVault } from "../src/vault.ts";
import { bareReport, PAGE_SIZE, PLATFORMS, type Question } from "./bare-reports.ts";
import { measureBeside } from "./beside.ts";
import { type Child, type Setup, startServer } from "./children.ts";
import { withDatabase } from "./database.ts";
import { type Cost, type Figure, type Measured, median } from "./figures.ts";
import { DAYS, storeMarket } from "./report-market.ts";

const RUNS = 5;
const TIME_ZONE = "Asia/Shanghai";
const METRICS = [
  ...["AdCost", "AppActivateStandard", "AppGamePayAmountStandard", "AppGamePayUserCntStandard", "AppROI"],
  ...["AppFirstDayROI", "App7DayROI", "App7DayLTV", "AppRetention1d", "AppARPU"],
];
const DISTINCT_METRICS = ["AppDAU", "AppGamePayUserCntStandard", "AppAdUserCnt", "AppARPU", ...METRICS.slice(0, 6)];
const COUNTED_ANEW = "a day counted anew";

const TARGETS: Readonly<Record<string, string>> = {
  "ad report": "< 150",
  "ad report, distinct users": "< 1000",
  "order list, page 1": "< 20",
  "order list, page 1000": "< 60",
  "user list, page 1": "< 20",
  "user list, page 1000": "< 60",
  "user list by payments": "< 150",
  [COUNTED_ANEW]: "< 700",
};

/** Each report at one scale beside its bare statement, in ms, and the time to start on that data. */
type Timed = { scale: number; reports: ReadonlyMap<string, { ours: number; bare: number }>; readyMs: number };

/** Measures reports on growing numbers of users, their effect on collection, and the time to count a day. */
export async function measureReports(setup: Setup): Promise<Measured> {
  const { dataDir, sizes, scales } = setup;
  const { question, appKey } = await withDatabase(dataDir, (pool) => prepare(pool, dataDir));
  const timed: Timed[] = [];
  const figures: Figure[] = [];
  let stored = 0;
  for (const scale of scales) {
    const size = { ...question, from: stored, until: Math.round((sizes.users * scale) / scales.at(-1)!) };
    // Reports never read events: only the first users have them, to fill the shared memory.
    const reports = await withDatabase(dataDir, async (pool) => {
      await storeMarket(pool, size, stored === 0 ? sizes.eventsPerUser : 0);
      return new Map([[COUNTED_ANEW, await countDays(pool, question)]]);
    });
    stored = size.until;
    const server = await startServer(setup.env);
    const client = new ReportClient({ baseUrl: `http://127.0.0.1:${server.port}`, appKey });
    const times = Object.entries(reportsOf(client, question));
    const ours = new Map<string, number>();
    for (const [name, pull] of times) ours.set(name, await medianMs(pull));
    if (scale === scales.at(-1)) figures.push(await besideReports(setup, server, { client, question }));
    await server.stop();
    const bare = await withDatabase(dataDir, async (pool) => {
      const found = new Map<string, number>();
      for (const name of ours.keys()) found.set(name, await medianMs(bareReport(pool, name, question)));
      return found;
    });
    for (const [name, ms] of ours) reports.set(name, { ours: ms, bare: bare.get(name)! });
    timed.push({ scale, reports, readyMs: server.readyMs });
  }
  return { figures: [...figures, ...figuresOf(timed.at(-1)!, stored)], costs: costsOf(timed) };
}

function figuresOf({ reports }: Timed, users: number): Figure[] {
  return [...reports].map(([name, { ours, bare }]) => ({
    name: nameOf(name),
    what: `${name} (${users} users)`,
    unit: "ms",
    ours,
    bare,
    beside: "one plain statement",
    target: TARGETS[name] ?? "",
  }));
}

function costsOf(timed: readonly Timed[]): Cost[] {
  const ready = timed.map(({ scale, readyMs }) => ({ scale, perUnit: readyMs }));
  const reports = [...timed[0]!.reports.keys()].map((name) => ({
    name: nameOf(name),
    what: `${name}, by users`,
    unit: "ms",
    points: timed.map(({ scale, reports: at }) => ({ scale, perUnit: at.get(name)!.ours })),
  }));
  return [...reports, { name: "ready", what: "ready after start, by users", unit: "ms", points: ready }];
}

function nameOf(report: string): string {
  return report.replaceAll(/[^a-z0-9]+/gi, "_");
}

/**
 * Makes a separate app with a developer application that may pull its reports: the demo app's last day holds all users of
 * the earlier steps, who would be counted too.
 */
async function prepare(pool: pg.Pool, dataDir: string): Promise<{ question: Question; appKey: string }> {
  const vault = openVault({ dataDir, secretKey: "" });
  const about = { name: "reports", timeZone: TIME_ZONE, metadataMode: "open", createdAtMs: systemClock() } as const;
  const app = await insertApp(pool, vault, about);
  const rate = { calls: 1_000_000, windowS: 1 };
  const made = await createDeveloperApp(pool, vault, { name: "bench", purpose: "", apps: "all", rate, createdAtMs: 0 });
  const { developerId, appKey } = made;
  await decideDeveloperApp(pool, { developerId, state: "approved", reason: "", decidedAtMs: 0 });
  return { question: { appId: app.appId, lastDay: calendarOf(TIME_ZONE).dayOf(systemClock()) }, appKey };
}

/** Counts all marked days, then the last day once more; only the latter is timed. */
async function countDays(pool: pg.Pool, question: Question): Promise<{ ours: number; bare: number }> {
  const { appId, lastDay } = question;
  while ((await refreshOnce(pool, { atOnce: 2 })) > 0) process.stderr.write("counting days …\n");
  const slices = COHORTS.map((cohort) => ({ appId, cohort, day: lastDay }));
  const ours = await medianMs(async () => {
    await markSlices(pool, slices, 0);
    // The parallelism that the server uses while little arrives.
    await refreshOnce(pool, { atOnce: 2 });
  });
  return { ours, bare: await medianMs(bareReport(pool, COUNTED_ANEW, question)) };
}

function reportsOf(client: ReportClient, { appId, lastDay }: Question): Record<string, () => Promise<unknown>> {
  const ad = {
    app_id: appId,
    date_list: [addDays(lastDay, -29), lastDay],
    dims_list: ["date", "ad_platform", "advertiser_id", "gid", "os_platform"],
    decimal_point: 4 as const,
  };
  const filtered = {
    app_id: appId,
    user_filtering: { create_date_list: [addDays(lastDay, 1 - DAYS), lastDay], ad_platform_list: PLATFORMS },
    event_filtering: {},
  };
  const page = (number: number) => ({ ...filtered, page: number, page_size: PAGE_SIZE });
  const sorted = { ...page(1), order_by_list: [{ field: "user$pay_amount_sum", sort: 1 as const }] };
  return {
    "ad report": () => client.adReport({ ...ad, metrics_list: METRICS, statistics_caliber: "user_activated_time" }),
    "ad report, distinct users": () =>
      client.adReport({ ...ad, metrics_list: DISTINCT_METRICS, statistics_caliber: "behavior_occurred_time" }),
    "order list, page 1": () => client.orderList(page(1)),
    "order list, page 1000": () => client.orderList(page(1_000)),
    "user list, page 1": () => client.userList(page(1)),
    "user list, page 1000": () => client.userList(page(1_000)),
    "user list by payments": () => client.userList(sorted),
  };
}

/** Requests per second while reports are pulled one after another, compared with requests per second alone. */
async function besideReports(
  setup: Setup,
  server: Child,
  { client, question: { appId, lastDay } }: { client: ReportClient; question: Question },
): Promise<Figure> {
  const report = {
    app_id: appId,
    date_list: [addDays(lastDay, -29), lastDay],
    dims_list: ["date", "ad_platform"],
    decimal_point: 4 as const,
    metrics_list: METRICS,
    statistics_caliber: "user_activated_time" as const,
  };
  const rates = await measureBeside(setup, server, { sender: "beside reports", work: () => client.adReport(report) });
  return {
    name: "collection_beside_reports",
    what: "requests of 20 events beside reports",
    unit: "requests/s",
    ...rates,
    beside: "the same server without reports",
    target: "≥ 0.80",
  };
}

async function medianMs(work: () => Promise<unknown>): Promise<number> {
  await work();
  const times: number[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    const startedMs = elapsedMs();
    await work();
    times.push(elapsedMs() - startedMs);
  }
  return median(times);
}
