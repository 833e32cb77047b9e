import { beforeAll, expect, test } from "vitest";
import { createApp } from "../../src/admin/apps.ts";
import { beginExport, handOutReport } from "../../src/admin/report/exports.ts";
import { DeskStage } from "./desk-stage.ts";

const stage = new DeskStage();
let app_id: number;

beforeAll(async () => {
  app_id = (await createApp(stage.desk, { name: "New" })).appId;
});

const DAYS = { from: "2024-06-14", to: "2024-06-15" };
const report = () =>
  ({
    app_id,
    date_list: [DAYS.from, DAYS.to],
    statistics_caliber: "user_activated_time",
    decimal_point: 2,
    metrics_list: ["AppROI"],
    dims_list: [],
  }) as Parameters<typeof handOutReport>[1];

test("an export is noted when it begins, without its filters, which name clients", async () => {
  expect(await beginExport(stage.desk, { app_id, kind: "events", ...DAYS })).toMatchObject({
    app: { appId: app_id },
    what: { kind: "events", fromDay: "2024-06-14", untilDay: "2024-06-16" },
    format: "ndjson",
  });
  const user_filtering = { client_id_list: ["hidden"] };
  expect(await beginExport(stage.desk, { app_id, kind: "users", format: "csv", user_filtering })).toMatchObject({
    what: { kind: "users", filter: { user_filtering } },
    format: "csv",
  });
  await handOutReport(stage.desk, report());
  expect((await stage.audit()).slice(1)).toEqual([
    { action: "export", appId: app_id, details: { app_id, kind: "events", ...DAYS } },
    { action: "export", appId: app_id, details: { app_id, kind: "users", format: "csv", user_filtering: "…" } },
    { action: "report/ad/csv", appId: app_id, details: report() },
  ]);
});

test("an export may span more days than a report", async () => {
  const all = { from: "2000-01-01", to: "2099-12-31" };
  expect(await beginExport(stage.desk, { app_id, kind: "events", ...all })).toMatchObject({
    what: { fromDay: "2000-01-01", untilDay: "2100-01-01" },
  });
});

test("nothing is handed out that cannot be noted", async () => {
  await stage.withoutAuditLog(async () => {
    await expect(beginExport(stage.desk, { app_id, kind: "users" })).rejects.toThrow(/audit_log/);
    await expect(handOutReport(stage.desk, report())).rejects.toThrow(/audit_log/);
  });
});

test.each<[string, () => Promise<unknown>, RegExp]>([
  ["an unknown app", () => beginExport(stage.desk, { app_id: 99, kind: "users" }), /no app 99/],
  ["events without days", () => beginExport(stage.desk, { app_id, kind: "events" }), /^from and to/],
  [
    "a wrong filter",
    () => beginExport(stage.desk, { app_id, kind: "users", user_filtering: { create_date_list: ["x", "y"] } }),
    /create_date_list/,
  ],
  ["a report of an unknown app", () => handOutReport(stage.desk, { ...report(), app_id: 99 }), /no app 99/],
])("%s is refused wherever it comes from, and nothing is noted", async (_, refused, sentence) => {
  const before = await stage.count("audit_log");
  await expect(refused()).rejects.toThrow(sentence);
  expect(await stage.count("audit_log")).toBe(before);
});
