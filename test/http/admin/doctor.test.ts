import { Value } from "typebox/value";
import { expect, test } from "vitest";
import { type DoctorAnswer, doctorAnswer } from "../../../src/contract/admin/doctor.ts";
import type { App } from "../../../src/db/app.ts";
import { consoleUser } from "../../support/admin-caller.ts";
import { sharedServer } from "../../support/shared-server.ts";
import { ask, BASE, DAY_MS, type Row, track } from "../fixture.ts";

const server = sharedServer();
const DEBUG = { headers: { "turbo-debug-mode": "1" } };
const admin = consoleUser(server, "admin");
const analyst = consoleUser(server, "analyst");

async function findingsOf(app: App): Promise<Record<string, DoctorAnswer["findings"][number]>> {
  const { data } = await analyst.get("doctor", { app_id: app.appId });
  expect(Value.Errors(doctorAnswer, data)).toEqual([]);
  return Object.fromEntries((data as DoctorAnswer).findings.map((finding) => [finding.kind, finding]));
}

const collect = (app: App, client: string, events: unknown[], more: object = {}) =>
  server.post("event/collect/", app, { client_id: client, event_list: events, ...more }, DEBUG);

const click = (app: App, query: Record<string, string>) =>
  ask(server, "GET", `${BASE}/event/click/`, { query: { app_id: String(app.appId), company: "tencent", ...query } });

const USER = { headers: { "user-agent": "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X)" } };

async function register(app: App, client: string, more: object = {}): Promise<void> {
  const body = { client_id: client, name: "n", channel: "c", version: 1, wx_openid: `open-${client}`, ...more };
  expect(await server.post("user/register/", app, body, USER)).toMatchObject({ code: 0 });
}

test("an app that has sent nothing, or nothing wrong, has no findings", async () => {
  const app = await server.createApp();
  expect(await findingsOf(app)).toEqual({});
  await register(app, "u");
  await collect(app, "u", [track("$PayEvent", { $pay_amount: 600, $order_id: "o" })]);
  await server.settle();
  expect(await findingsOf(app)).toEqual({});
});

test("mistakes in recent calls are reported with the call that made them", async () => {
  const app = await server.createApp();
  const startedMs = Date.now();
  await register(app, "u", { wx_openid: "wx1234567890abcdef" });
  await collect(app, "u", [track("$PayEvent", { $pay_amount: 6.5 }), track("e", {}, Math.floor(Date.now() / 1000))]);
  await register(app, "v");
  await collect(app, "v", [track("ahead")], { $flush_time: Date.now() + 8 * 3_600_000 });
  await server.post("event/collect/", app, "{", DEBUG);
  await click(app, { track_id: "nobody0000000000", imei: "__IMEI__", ip: "8.8.8.8" });
  await expect.poll(async () => Object.keys(await findingsOf(app))).toContain("unreplaced_macro");
  const found = await findingsOf(app);
  expect(found).toMatchObject({
    openid_is_app_id: { severity: "error", count: 1, example: { client_id: "u", wx_openid: "wx1234567890abcdef" } },
    amount_unit: { severity: "error", example: { amount: 6.5 } },
    payment_without_order_id: { count: 1 },
    time_unit: { example: { event: "e" } },
    clock_skew: { example: { client_id: "v", skew_s: expect.closeTo(28_800, -1) } },
    refused_calls: { subjects: ["event/collect 1001"], example: { code: 1001 } },
    unreplaced_macro: { subjects: ["tencent imei"], example: { value: "__IMEI__" } },
    unknown_campaign: { subjects: ["nobody0000000000"] },
  });
  for (const { first_at_ms, last_at_ms } of Object.values(found)) {
    expect(first_at_ms).toBeGreaterThanOrEqual(startedMs);
    expect(first_at_ms).toBeLessThanOrEqual(last_at_ms);
    expect(last_at_ms).toBeLessThanOrEqual(Date.now());
  }
});

test("mistakes in the tables are reported even after the calls are forgotten", async () => {
  const app = await server.createApp();
  for (let number = 0; number < 5; number += 1) await register(app, `u-${number}`, { wx_openid: "the-same" });
  for (let number = 0; number < 12; number += 1) await click(app, { aid: "7", req: String(number) });
  const order = { $order_id: "twice", $pay_amount: 600, $pay_type: "USD" };
  await server.collect(app, "u-0", [track("$PayEvent", order), track("old", {}, Date.now() - 11 * DAY_MS)]);
  await server.collect(app, "u-0", [track("$PayEvent", { ...order, $pay_amount: 700 })]);
  await server.settle();
  expect(await findingsOf(app)).toMatchObject({
    shared_openid: { count: 5, subjects: ["the-same"] },
    touch_without_key: { count: 12, subjects: ["tencent"], example: { touches: 12, without_key: 12 } },
    repeated_order: { count: 1, subjects: ["twice"], example: { reports: 2, clients: 1, amounts: 2 } },
    rejected_events: { subjects: expect.arrayContaining(["too_old"]) },
    currency_without_rate: { count: 1, subjects: ["USD"] },
  });
});

test("an undeclared event is reported until it is declared", async () => {
  const app = await server.createApp({ metadataMode: "strict" });
  await register(app, "u");
  await collect(app, "u", [track("boss_killed"), track("$MPShow")]);
  await expect
    .poll(async () => (await findingsOf(app)).undeclared_event)
    .toMatchObject({ severity: "error", count: 1, subjects: ["boss_killed"], example: { client_id: "u" } });
  const declared = { app_id: app.appId, names: ["boss_killed"], state: "declared" };
  expect(await admin.post("metadata/events/declare", declared)).toMatchObject({ code: 0 });
  expect((await findingsOf(app)).undeclared_event).toBeUndefined();
});

test("earlier findings are left out if only newer ones are asked for", async () => {
  const app = await server.createApp();
  const startedMs = Date.now();
  await register(app, "u", { wx_openid: "wx1234567890abcdef" });
  await collect(app, "u", [track("$PayEvent", { $pay_amount: 6.5, $order_id: "o" })]);
  await server.settle();
  const kinds = async (since_ms: number) =>
    (await analyst.get("doctor", { app_id: app.appId, since_ms })).data.findings.map(({ kind }: Row) => kind).sort();
  expect(await kinds(startedMs)).toEqual(["amount_unit", "openid_is_app_id"]);
  expect(await kinds(Date.now() + 1)).toEqual([]);
});

test("an app's mistakes are not shown to other apps, and an erased client is no example", async () => {
  const [app, other] = [await server.createApp(), await server.createApp()];
  await register(app, "gone", { wx_openid: "wx1234567890abcdef" });
  await expect.poll(async () => Object.keys(await findingsOf(app))).toEqual(["openid_is_app_id"]);
  expect(await findingsOf(other)).toEqual({});
  expect(await admin.post("users/erase", { app_id: app.appId, client_id: "gone" })).toMatchObject({ code: 0 });
  expect(await findingsOf(app)).toEqual({});
});

test("the doctor needs a signed-in user and an app", async () => {
  const { appId } = await server.createApp();
  expect(await server.get("/admin/api/v1/doctor", { app_id: String(appId) })).toMatchObject({ code: 2002, data: {} });
  expect(await analyst.get("doctor")).toMatchObject({ code: 1004, msg: expect.stringContaining("app_id") });
  expect(await analyst.get("doctor", { app_id: "x" })).toMatchObject({ code: 1004 });
  expect(await analyst.get("doctor", { app_id: appId, since_ms: "now" })).toMatchObject({ code: 1004 });
  expect(await analyst.get("doctor", { app_id: 2_147_483_000 })).toMatchObject({ code: 2001 });
});
