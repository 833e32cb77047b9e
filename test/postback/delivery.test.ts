import { afterAll, beforeAll, expect, test } from "vitest";
import { type KuaishouStandIn, startKuaishou } from "../../sim/platforms/kuaishou.ts";
import type { App } from "../../src/db/app.ts";
import { storeCallback } from "../../src/db/callback.ts";
import { storeAccount } from "../../src/db/platform-account.ts";
import { openVault } from "../../src/vault.ts";
import type { Row } from "../http/fixture.ts";
import { type List, ReportLists } from "../http/report/report-lists.ts";
import { adReportOf, Reports } from "../http/report/reports.ts";
import { eventually } from "../support/patience.ts";
import { sharedServer } from "../support/shared-server.ts";
import { cleanUp, type Touchpoint, TouchpointProcess } from "../support/touchpoint.ts";
import { Gate } from "./gate.ts";
import { until } from "./postback-stage.ts";

const shared = sharedServer();
const reports = new Reports(shared);
const pages = new ReportLists(shared);
let kuaishou: KuaishouStandIn;
beforeAll(async () => {
  kuaishou = await startKuaishou();
});
afterAll(() => kuaishou.close());

async function account(server: Touchpoint, app: App, url: string): Promise<void> {
  const pool = server.database();
  const vault = openVault({ dataDir: server.dataDir, secretKey: "" });
  const key = { appId: app.appId, adPlatform: "kuaishou", advertiserId: "" };
  const state = {
    secrets: {},
    tokenExpiresAtMs: null,
    refreshExpiresAtMs: null,
    authorisationId: null,
    lastError: "",
    lastErrorAtMs: null,
  };
  const settings = { url: `${url}/track/activate` };
  const more = { postbacks: true, costs: false, ratePerS: 100, settings, ...state };
  await storeAccount(pool, vault, { ...key, ...more }, 0);
  // Not a platform: a failing callback of the app's own must not show anywhere.
  const own = { appId: app.appId, kind: "event" as const, url: "http://127.0.0.1:9/", secret: "s" };
  await storeCallback(pool, vault, { ...own, events: ["$PayEvent"], enabled: true }, 0);
  await pool.end();
}

/** A player brought by an ad, who pays. */
async function player(server: Touchpoint, app: App, client: string, orders: Record<string, number>): Promise<void> {
  await server.register(app, client, { ad_data: { callback: `cb-${client}`, ksUnitId: "1" } });
  const events = Object.entries(orders).map(([order, cents]) => ({
    type: "track",
    event: "$PayEvent",
    time: Date.now(),
    properties: { $pay_amount: cents, $order_id: order, $pay_type: "CNY" },
  }));
  await server.collect(app, client, events);
}

test("accepted postbacks show in the lists, their filters, and the ad report in both calibers", async () => {
  const app = await shared.createApp();
  await account(shared, app, kuaishou.url);
  const developer = await reports.developer();
  const lists = async (list: List, event_filtering: Row = {}) =>
    (await pages.read(list, app, { event_filtering })).list;
  await player(shared, app, "paid", { o1: 600, o2: 50 });
  await shared.register(app, "natural");
  await shared.collect(app, "natural", [
    { type: "track", event: "$PayEvent", time: Date.now(), properties: { $pay_amount: 70, $order_id: "o3" } },
  ]);
  await eventually(() => expect(kuaishou.accepted).toHaveLength(4));
  const shown = (orders: Row[]) =>
    orders
      .map(({ TraceID, Status, PassStatus, BackAmount, PostbackCnt }) => [
        TraceID,
        Status,
        PassStatus,
        BackAmount,
        PostbackCnt,
      ])
      .sort();
  await eventually(async () => {
    expect(shown(await lists("order"))).toEqual([
      ["o1", "succeeded", 1, 600, 0],
      ["o2", "succeeded", 1, 50, 0],
      ["o3", "skipped", 0, 0, 0],
    ]);
  });
  const byTrace = new Map((await lists("order")).map((order: Row) => [order.TraceID, order]));
  expect((byTrace.get("o1") as Row).ModifyTime).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);
  expect((byTrace.get("o3") as Row).ModifyTime).toBe("-");
  expect(shown(await lists("order", { Status: "3" })).map(([order]) => order)).toEqual(["o3"]);
  expect(shown(await lists("order", { Status: "1" })).map(([order]) => order)).toEqual(["o1", "o2"]);
  const users = async (event_type: string, status: string) =>
    (await lists("user", { postback_filtering: { event_type, status } })).map((user: Row) => user.ClientID);
  expect(await users("pay", "1")).toEqual(["paid"]);
  expect(await users("activate", "1")).toEqual(["paid"]);
  expect(await users("activate", "3")).toEqual(["natural"]);
  expect((await users("twice", "0")).sort()).toEqual(["natural", "paid"]);
  for (const statistics_caliber of ["user_activated_time", "behavior_occurred_time"]) {
    const metrics_list = ["AppPostbackCnt", "AppPostbackAmount"];
    const body = adReportOf(app, { metrics_list, dims_list: ["ad_platform"], statistics_caliber });
    await eventually(async () => {
      const { items } = (await reports.call(developer, "combo_sql", body)).data;
      expect(items.filter((item: Row) => item.ad_platform === "kuaishou")).toEqual([
        { ad_platform: "kuaishou", AppPostbackCnt: 4, AppPostbackAmount: 6.5 },
      ]);
      expect(items.filter((item: Row) => item.AppPostbackCnt > 0)).toHaveLength(1);
    });
  }
});

test("a server stopped while it sends loses nothing, and the next one sends the rest", async () => {
  const gate = await Gate.open();
  // Long enough that no call times out at the gate.
  let server = await TouchpointProcess.start({ env: { POSTBACK_DEADLINE_S: "120" } });
  const { dataDir } = server;
  const app = await server.createApp();
  await account(server, app, gate.url);
  await Promise.all(
    Array.from({ length: 40 }, (_, index) => player(server, app, `p${index}`, { [`o${index}`]: 100 + index })),
  );
  await until(() => gate.calls.length === 64);
  const stopping = server.stop();
  await eventually(() => expect(fetch(server.url)).rejects.toThrow());
  gate.answer = { status: 200, body: '{"result":1}' };
  for (let index = 0; index < 64; index += 1) gate.release(gate.answer);
  expect(await stopping).toBe(0);
  server = await TouchpointProcess.start({ dataDir });
  await until(() => gate.calls.length >= 120);
  const pool = server.database();
  await until(async () => (await pool.query("select 1 from outbox where lane like '%kuaishou%'")).rowCount === 0);
  const { rows } = await pool.query(
    "select status, max(attempts) as attempts, count(*)::int as count from postback where ad_platform <> '' group by 1",
  );
  expect(rows).toEqual([{ status: 1, attempts: 1, count: 120 }]);
  expect(gate.calls).toHaveLength(120);
  await pool.end();
  expect(await server.stop()).toBe(0);
  await cleanUp(dataDir);
  gate.close();
});
