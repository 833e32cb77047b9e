import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { storeAccount } from "../../src/db/platform-account.ts";
import { createPostbackRule } from "../../src/db/postback-rule.ts";
import { runAdReport } from "../../src/report/ad/ad-report.ts";
import { readAdReport } from "../../src/report/ad/ad-report-request.ts";
import { exportRows } from "../../src/report/list/export.ts";
import { readTimeline, readTimelineWish } from "../../src/report/user/timeline.ts";
import { ApplyStage, DAY_MS, HOUR_MS, NOW_MS, pay, profile, track } from "../db/apply-stage.ts";
import { rowsOf, vault } from "../db/temp-database.ts";
import { failingEngine, forgetErased, LakeStage } from "./lake-stage.ts";

/** The same acts on both; in one of them older days are only in the lake. */
let cold: LakeStage;
let plain: ApplyStage;
beforeAll(async () => {
  cold = await LakeStage.open();
  cold.hotDays = 3;
  plain = await ApplyStage.open();
  for (const stage of [cold.apply, plain]) await tellPlatforms(stage);
});
afterAll(async () => {
  await cold.close();
  await plain.close();
});

/** Postbacks, so that a change of the source judges past events again. */
async function tellPlatforms({ pool, app: { appId } }: ApplyStage): Promise<void> {
  const unused = { settings: {}, secrets: {}, tokenExpiresAtMs: null, refreshExpiresAtMs: null, authorisationId: null };
  const account = { appId, adPlatform: "vivo", advertiserId: "", postbacks: true, costs: false, ratePerS: 0 };
  await storeAccount(pool, vault, { ...account, ...unused, lastError: "", lastErrorAtMs: null }, 0);
  const rule = { appId, adPlatform: "", campaignId: "", code: "", conditions: {}, shareBp: 10_000, windowDays: 30 };
  for (const [moment, eventType] of [
    ["event:e", "game_action"],
    ["retention_1", "twice"],
    ["each_ad", "ad_quality"],
  ] as const)
    await createPostbackRule(pool, { ...rule, value: { kind: "as_is" }, enabled: true, moment, eventType } as never, 0);
}

const CLIENTS = ["a", "b", "c", "Ωß"];
const clients = fc.constantFrom(...CLIENTS);
const received = fc.constantFrom(-HOUR_MS, 0, 1, 60_000, DAY_MS).map((ms) => NOW_MS + ms);
/** Some days are near, some become cold. */
const times = fc
  .constantFrom(0, -HOUR_MS, -5 * DAY_MS, -5 * DAY_MS - HOUR_MS, -6 * DAY_MS, -9 * DAY_MS, -40 * DAY_MS)
  .map((ms) => NOW_MS + ms);
const events = fc.oneof(
  fc
    .tuple(fc.constantFrom("e", "f"), fc.constantFrom({}, { n: 1 }, { t: "ä\n\"'" }), times)
    .map((args) => track(...args)),
  fc.tuple(fc.constantFrom(0, 12.5), times).map(([ecpm, time]) => track("$AdShow", { $ecpm: ecpm }, time)),
  times.map((time) => track("$AppRegister", {}, time)),
  fc.tuple(fc.constantFrom("o1", "o2"), times).map(([order, time]) => pay(order, 600, {}, time)),
  fc.tuple(fc.constantFrom(1, 2), times).map(([level, time]) => profile("profile_set", { level }, time)),
);

/** Done to both. */
const told = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      act: fc.constant("collect" as const),
      client: clients,
      at: received,
      sent: fc.array(events, { minLength: 1, maxLength: 4 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ act: fc.constant("rename" as const), client: clients, to: clients, at: received }),
  },
  { weight: 1, arbitrary: fc.record({ act: fc.constant("erase" as const), client: clients, at: received }) },
  {
    weight: 2,
    arbitrary: fc.record({
      act: fc.constant("click" as const),
      client: clients,
      touchedAtMs: fc.constantFrom(1, 2, 26).map((hours) => NOW_MS - hours * HOUR_MS),
    }),
  },
  { weight: 3, arbitrary: fc.record({ act: fc.constant("apply" as const) }) },
);
/** Done where the lake is. "crash": what it does next fails halfway, and another process goes on. */
const hidden = fc.oneof(
  { weight: 3, arbitrary: fc.record({ act: fc.constantFrom("write" as const, "freeze" as const, "turn" as const) }) },
  { weight: 1, arbitrary: fc.record({ act: fc.constant("crash" as const), after: fc.nat(6) }) },
);
const acts = fc.oneof({ weight: 3, arbitrary: told }, { weight: 2, arbitrary: hidden });

type Told = typeof told extends fc.Arbitrary<infer T> ? T : never;
type Hidden = typeof hidden extends fc.Arbitrary<infer T> ? T : never;

async function tell(stage: ApplyStage, act: Told): Promise<void> {
  switch (act.act) {
    case "collect":
      return stage.collect(act.client, act.sent, { at: act.at, registered: "not_required" });
    case "rename":
      await stage.append("reset_client_id", act.client, { new_client_id: act.to }, { at: act.at });
      return;
    case "erase":
      await stage.append("erase", act.client, {}, { at: act.at });
      return;
    case "click": {
      const sent = { company: "vivo", ts: String(act.touchedAtMs), oaid: `o-${act.client}` };
      await stage.append("click", "", new URLSearchParams(sent).toString(), { at: NOW_MS });
      return;
    }
    case "apply":
      return stage.applyAll();
  }
}

async function freezeAll(): Promise<void> {
  await cold.lake.catchUp();
  await cold.lake.freeze();
}

/** Users without a source whose first days are cold. */
async function beginCold(): Promise<void> {
  for (const stage of [cold.apply, plain]) {
    for (const client of CLIENTS.slice(0, 3)) {
      await stage.register(client, { device_info: { os_name: "android", oaid: `o-${client}` } });
      const sent = [-5, -6].map((days) => track("e", {}, NOW_MS + days * DAY_MS));
      await stage.collect(client, [...sent, track("$AdShow", { $ecpm: 12.5 }, NOW_MS - 5 * DAY_MS)]);
    }
    await stage.applyAll();
  }
  await cold.lake.catchUp();
  await freezeAll();
}

async function hide(act: Hidden): Promise<void> {
  if (act.act === "write") await cold.lake.catchUp();
  if (act.act === "freeze") await freezeAll();
  if (act.act === "turn") await cold.lake.turn({ signal: new AbortController().signal, forMs: 60_000 });
  if (act.act === "crash") {
    const lake = cold.newLake(failingEngine(cold.engine, act.after));
    await lake.catchUp().catch(() => {});
    await lake.freeze().catch(() => {});
    cold.lake = cold.newLake();
    await cold.lake.begin();
  }
}

async function perform(act: Told | Hidden): Promise<void> {
  const isHidden = ["write", "freeze", "turn", "crash"].includes(act.act);
  if (isHidden) await hide(act as Hidden);
  else for (const stage of [cold.apply, plain]) await tell(stage, act as Told);
  cold.nowMs += 60_000;
}

const TABLES = [
  ...["user_account", "user_day", "user_ad_day", "orders", "refund", "ledger_minute", "attribution_decision"],
  ...["postback", "user_total", "order_total", "user_key"],
];

/** What people see of both. */
async function seen(stage: ApplyStage) {
  const tables: Record<string, object[]> = {};
  for (const table of TABLES) tables[table] = await rowsOf(stage.pool, table);
  const timelines: Record<string, unknown[]> = {};
  for (const client of CLIENTS) timelines[client] = await timelineOf(stage, client);
  return { tables, timelines, exported: await exported(stage), hours: await hoursOf(stage) };
}

async function timelineOf(stage: ApplyStage, client: string): Promise<unknown[]> {
  const pages: unknown[] = [];
  for (let before: string | undefined; ; ) {
    const wish = readTimelineWish(client, { kinds: "event", limit: "2", ...(before !== undefined && { before }) });
    const page = await readTimeline(stage.pool, stage.app, wish, stage.cold);
    if (!page) return pages;
    pages.push(page);
    if (page.next === null) return pages;
    before = page.next;
  }
}

async function exported(stage: ApplyStage): Promise<string> {
  let text = "";
  const what = { kind: "events", fromDay: "2000-01-01", untilDay: "2100-01-01" } as const;
  const write = async (more: string) => {
    text += more;
  };
  await exportRows(stage.pool, stage.app, { what, format: "ndjson", write, ...(stage.cold && { cold: stage.cold }) });
  return text;
}

async function hoursOf(stage: ApplyStage): Promise<unknown> {
  const day = new Date(NOW_MS - 5 * DAY_MS + 8 * HOUR_MS).toISOString().slice(0, 10);
  const body = {
    app_id: stage.app.appId,
    date_list: [day, day],
    dims_list: ["hour"],
    metrics_list: ["AppDAU", "AppRegisterStandard", "AppAdRevenue", "AppAdShowCnt", "AppAdUserCnt"],
    statistics_caliber: "behavior_occurred_time" as const,
    decimal_point: 4 as const,
  };
  return runAdReport(stage.pool, readAdReport(body), { payShareBp: 10_000, timeZone: "Asia/Shanghai" }, stage.cold);
}

test("whatever comes and whichever days are only in the lake, everything is as if all were in the table", async () => {
  let frozen = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(acts, { minLength: 4, maxLength: 20 }), async (list) => {
      await cold.begin();
      await plain.begin();
      await forgetErased(plain);
      await beginCold();
      for (const act of list) await perform(act);
      for (const stage of [cold.apply, plain]) await stage.applyAll();
      expect(await seen(cold.apply)).toEqual(await seen(plain));
      await freezeAll();
      await freezeAll();
      const state = await cold.apply.pool.query("select count(*) as count from event_day where state = 'cold'");
      frozen += state.rows[0].count;
      expect(await seen(cold.apply)).toEqual(await seen(plain));
      // Each event is in one place, and nothing waits.
      expect(await cold.apply.count("lake_gone")).toBe(0);
      expect(await cold.apply.count("lake_mark")).toBe(0);
      const inFiles = await cold.rowsOf("events");
      const keys = inFiles.map((row) => [row.client_id, row.day, row.event_id].join());
      const stored = await rowsOf(plain.pool, "event");
      expect(keys.sort()).toEqual(
        stored
          .map((row) => Object(row))
          .map((row) => [row.client_id, row.day, row.fingerprint].join())
          .sort(),
      );
    }),
    { numRuns: Number(process.env.LAKE_RUNS ?? 15) },
  );
  expect(frozen).toBeGreaterThan(0);
});
