import { beforeAll, expect, test } from "vitest";
import { shareListAnswer } from "../../../src/contract/setting/share.ts";
import type { App } from "../../../src/db/app.ts";
import { AdminCaller, consoleUser, dataOf } from "../../support/admin-caller.ts";
import { sharedServer } from "../../support/shared-server.ts";
import type { Row } from "../fixture.ts";

const server = sharedServer();
const admin = new AdminCaller(server);
const analyst = consoleUser(server, "analyst");
const DAY_MS = 86_400_000;
const ANY = { os_platform: "", channel: "", pay_method: "", is_virtual: null, start_date: "", end_date: "" };

let app: App;
beforeAll(async () => {
  app = await server.createApp();
  await server.register(app, "u");
  const properties = { $pay_amount: 1_000, $pay_type: "CNY", $order_id: "o-1", $is_virtual: true };
  await server.collect(app, "u", [{ type: "track", event: "$PayEvent", time: Date.now(), properties }]);
  await server.settle();
});

const dayAt = (ms: number) => new Date(ms).toISOString().slice(0, 10);

/** Payments before and after share, over the days around today in any zone. */
async function reported(): Promise<number[]> {
  await server.settle();
  const answer = await admin.post("report/ad", {
    app_id: app.appId,
    date_list: [dayAt(Date.now() - DAY_MS), dayAt(Date.now() + DAY_MS)],
    metrics_list: ["AppGamePayAmountStandard", "AppGamePayNetAmount", "App24hPayAmount"],
    dims_list: [],
    statistics_caliber: "user_activated_time",
    decimal_point: 2,
    roi_version: 2,
  });
  const [total] = answer.data.total as Row[];
  return [total!.AppGamePayAmountStandard, total!.AppGamePayNetAmount, total!.App24hPayAmount];
}

test("rules count for what was paid before, and the app's own share where none fits", async () => {
  expect(await admin.post("apps/edit", { app_id: app.appId, pay_share: 0.5 })).toMatchObject({ code: 0 });
  await expect.poll(reported).toEqual([10, 5, 5]);
  const rules = [{ is_virtual: true, share: 0.7 }];
  const set = dataOf(await admin.post("shares/set", { app_id: app.appId, rules }), shareListAnswer);
  expect(set).toEqual({ pay_share: 0.5, rules: [{ ...ANY, ...rules[0] }] });
  expect(dataOf(await admin.get("shares", { app_id: app.appId }), shareListAnswer)).toEqual(set);
  await expect.poll(reported).toEqual([10, 7, 7]);
  await admin.post("shares/set", { app_id: app.appId, rules: [{ is_virtual: false, share: 0.7 }] });
  await expect.poll(reported).toEqual([10, 5, 5]);
});

test("rules can be read by an analyst, and changed by an admin only", async () => {
  expect(await analyst.get("shares", { app_id: app.appId })).toMatchObject({ code: 0 });
  expect(await analyst.post("shares/set", { app_id: app.appId, rules: [] })).toMatchObject({ code: 2004 });
});
