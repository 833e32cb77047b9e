import type pg from "pg";
import { ReportClient } from "../src/client/report-client.ts";
import { elapsedMs } from "../src/clock.ts";
import { createDeveloperApp, decideDeveloperApp } from "../src/db/developer-app.ts";
import { markSlices } from "../src/db/dirty-day.ts";
import { addDays } from "../src/domain/calendar.ts";
import { PLACEMENTS } from "../src/domain/cube.ts";
import { refreshOnce } from "../src/refresh/refresh.ts";
import { openVault } from "../src/vault.ts";
import { type Child, type Setup, startChild } from "./children.ts";
import { type Row, withDatabase } from "./database.ts";
import { type RequestMaker, runLoad } from "./load.ts";
import { DAYS, storeMarket } from "./report-market.ts";

const RUNS = 5;
const METRICS = [
  ...["AdCost", "AppActivateStandard", "AppGamePayAmountStandard", "AppGamePayUserCntStandard", "AppROI"],
  ...["AppFirstDayROI", "App7DayROI", "App7DayLTV", "AppRetention1d", "AppARPU"],
];
const DISTINCT_METRICS = ["AppDAU", "AppGamePayUserCntStandard", "AppAdUserCnt", "AppARPU", ...METRICS.slice(0, 6)];

type Options = Setup & {
  appId: number;
  lastDay: string;
  /** Millions of users at the least scale. */
  millions: number;
  /** How many times as many, one after the other. */
  scales: readonly number[];
  eventsPerUser: number;
  connections: number;
  seconds: number;
  requests: () => RequestMaker;
};

/** Reports on a million users, then on two and four; what they cost collection; and how long a day takes to count. */
export async function measureReports(options: Options): Promise<{ rows: Row[]; figures: Record<string, number> }> {
  const rows: Row[] = [];
  const figures: Record<string, number> = {};
  const appKey = await withDatabase(options.dataDir, (pool) => makeDeveloper(pool, options.dataDir));
  let stored = 0;
  for (const scale of options.scales) {
    const until = scale * options.millions;
    const refreshMs = await withDatabase(options.dataDir, async (pool) => {
      const size = { appId: options.appId, lastDay: options.lastDay, fromMillion: stored, untilMillion: until };
      // Reports never read events: only the first million comes with them, to fill the memory that all share.
      await storeMarket(pool, size, stored === 0 ? options.eventsPerUser : 0);
      return countDays(pool, options);
    });
    stored = until;
    const server = await startChild(options.serverScript, [], options.env, options.ready);
    const client = new ReportClient({ baseUrl: `http://127.0.0.1:${server.port}`, appKey });
    const measured = { ...(await timeReports(client, options)), "a day counted anew": refreshMs };
    if (scale === options.scales[0]) {
      const ratio = await compareCollection(server, client, options);
      figures.collection_beside_reports_ratio = ratio;
      rows.push({ what: "collection beside reports", bare: "", ours: "", ratio, target: "≥ 0.80" });
    }
    await server.stop();
    for (const [what, ms] of Object.entries(measured)) {
      figures[`${what.replaceAll(/[^a-z0-9]+/gi, "_")}_ms_${scale}x`] = Math.round(ms);
      rows.push({
        what: `${what}, ms (${until} million users)`,
        bare: "",
        ours: Math.round(ms),
        ratio: "",
        target: TARGETS[what] ?? "",
      });
    }
  }
  return { rows, figures };
}

const TARGETS: Readonly<Record<string, string>> = {
  "ad report": "< 300",
  "ad report, distinct users": "< 1000",
  "order list, page 1": "< 100",
  "order list, page 1000": "< 300",
  "user list, page 1": "< 100",
  "user list, page 1000": "< 300",
  "a day counted anew": "< 2000",
};

async function makeDeveloper(pool: pg.Pool, dataDir: string): Promise<string> {
  const vault = openVault({ dataDir, secretKey: "" });
  const rate = { calls: 1_000_000, windowS: 1 };
  const made = await createDeveloperApp(pool, vault, { name: "bench", purpose: "", apps: "all", rate, createdAtMs: 0 });
  const { developerId, appKey } = made;
  await decideDeveloperApp(pool, { developerId, state: "approved", reason: "", decidedAtMs: 0 });
  return appKey;
}

/** Counts everything that is marked, then the day with the most users once more; the last one is timed. */
async function countDays(pool: pg.Pool, { appId, lastDay }: Options): Promise<number> {
  while ((await refreshOnce(pool, { atOnce: 2 })) > 0) process.stderr.write("counting days …\n");
  const slices = PLACEMENTS.map((placement) => ({ appId, placement, day: lastDay }));
  return median(async () => {
    await markSlices(pool, slices, 0);
    // As the server does it while little comes in.
    await refreshOnce(pool, { atOnce: 2 });
  });
}

async function timeReports(client: ReportClient, { appId, lastDay }: Options): Promise<Record<string, number>> {
  const ad = {
    app_id: appId,
    date_list: [addDays(lastDay, -29), lastDay],
    dims_list: ["date", "ad_platform", "advertiser_id", "gid", "os_platform"],
    decimal_point: 4 as const,
  };
  const filtered = {
    app_id: appId,
    user_filtering: {
      create_date_list: [addDays(lastDay, 1 - DAYS), lastDay],
      ad_platform_list: ["tencent", "kuaishou"],
    },
    event_filtering: {},
  };
  const page = (number: number) => ({ ...filtered, page: number, page_size: 20 });
  const sorted = { ...page(1), order_by_list: [{ field: "user$pay_amount_sum", sort: 1 as const }] };
  return {
    "ad report": await median(() =>
      client.adReport({ ...ad, metrics_list: METRICS, statistics_caliber: "user_activated_time" }),
    ),
    "ad report, distinct users": await median(() =>
      client.adReport({ ...ad, metrics_list: DISTINCT_METRICS, statistics_caliber: "behavior_occurred_time" }),
    ),
    "order list, page 1": await median(() => client.orderList(page(1))),
    "order list, page 1000": await median(() => client.orderList(page(1_000))),
    "user list, page 1": await median(() => client.userList(page(1))),
    "user list, page 1000": await median(() => client.userList(page(1_000))),
    "user list by payments": await median(() => client.userList(sorted)),
  };
}

/** Requests a second beside reports that are pulled one after the other, against requests a second alone. */
async function compareCollection(server: Child, client: ReportClient, options: Options): Promise<number> {
  const { connections, appId, lastDay, seconds } = options;
  const load = () => runLoad({ port: server.port, requests: options.requests(), connections, seconds });
  await load();
  const ratios: number[] = [];
  for (let round = 0; round < RUNS; round += 1) {
    const alone = await load();
    let isOver = false;
    const pulling = (async () => {
      while (!isOver) await timeReportsOnce(client, { appId, lastDay });
    })();
    const beside = await load();
    isOver = true;
    await pulling;
    ratios.push(beside.perSecond / alone.perSecond);
  }
  return Math.round(middle(ratios) * 100) / 100;
}

async function timeReportsOnce(client: ReportClient, at: { appId: number; lastDay: string }): Promise<void> {
  await client.adReport({
    app_id: at.appId,
    date_list: [addDays(at.lastDay, -29), at.lastDay],
    dims_list: ["date", "ad_platform"],
    decimal_point: 4,
    metrics_list: METRICS,
    statistics_caliber: "user_activated_time",
  });
}

async function median(work: () => Promise<unknown>): Promise<number> {
  await work();
  const times: number[] = [];
  for (let run = 0; run < RUNS; run += 1) {
    const startedMs = elapsedMs();
    await work();
    times.push(elapsedMs() - startedMs);
  }
  return middle(times);
}

function middle(values: readonly number[]): number {
  return [...values].sort((left, right) => left - right)[values.length >> 1]!;
}
