import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { parse } from "csv-parse/sync";
import { beforeAll, describe, expect, test } from "vitest";
import {
  catalogueAnswer,
  consoleReportAnswer,
  explainedAnswer,
  reportBatchAnswer,
  requestTextAnswer,
} from "../../../src/contract/admin/console-report.ts";
import type { App } from "../../../src/db/app.ts";
import type { DeveloperApp } from "../../../src/db/developer-app.ts";
import { LIMITS } from "../../../src/limits.ts";
import { cliJson } from "../../cli/run.ts";
import { ADMIN, type ConsoleUser, consoleUser, dataOf, refused } from "../../support/admin-caller.ts";
import { sharedServer } from "../../support/shared-server.ts";
import type { Answer } from "../../support/touchpoint.ts";
import { type Row, track } from "../fixture.ts";
import { adReportOf, dayOf, Reports, recentDays } from "../report/reports.ts";

const server = sharedServer();
const reports = new Reports(server);
const admin = consoleUser(server, "admin");
const analyst = consoleUser(server, "analyst");
const today = () => dayOf(Date.now());

let app: App;
let developer: DeveloperApp;
beforeAll(async () => {
  app = await server.createApp();
  developer = await reports.developer({ apps: [app.appId] });
  for (const [client, channel] of [
    ["a", "one"],
    ["b", "one"],
    ["c", "=two"],
  ] as const) {
    await server.register(app, client, { channel });
  }
  const order = { $order_id: "o", $pay_amount: 650, $pay_type: "CNY" };
  await server.collect(app, "c", [track("$PayEvent", order)]);
  await reports.takeInCosts(app, ["date,ad_platform,channel,cost", `${today()},tencent,one,12.5`]);
  await cliJson(server.dataDir, ["settle"]);
});

/** By channel: `=two` has the revenue, `one` the cost and two users. */
const report = (more: Row = {}) =>
  adReportOf(app, { dims_list: ["channel"], metrics_list: ["AdCost", "AppActivateStandard", "AppRevenue"], ...more });

describe("the ad report of the console", () => {
  test("has the numbers of the public one, and no rate limit", async () => {
    const signed = await reports.call(developer, "combo_sql", report());
    for (const user of [admin, analyst, analyst]) {
      const data = dataOf(await user.post("report/ad", report()), consoleReportAnswer);
      expect(data).toEqual({
        columns: signed.data.columns,
        items: signed.data.items,
        total: signed.data.total,
        page_info: { page: 1, page_size: 2, total_number: 2, total_page: 1 },
        campaign_names: {},
        data_age_s: expect.any(Number),
      });
    }
    expect(signed.data.items).toEqual([
      { channel: "=two", AdCost: 0, AppActivateStandard: 1, AppRevenue: 6.5 },
      { channel: "one", AdCost: 12.5, AppActivateStandard: 2, AppRevenue: 0 },
    ]);
  });

  test.each<[string, Row[], string[]]>([
    ["a metric, descending", [{ field: "AdCost", sort: 1 }], ["one", "=two"]],
    ["a dimension", [{ field: "channel", sort: 1 }], ["one", "=two"]],
    ["a metric, ascending", [{ field: "AppRevenue", sort: 0 }], ["one", "=two"]],
    ["nothing: by the dimensions", [], ["=two", "one"]],
  ])("is sorted by %s", async (_, order_by_list, expected) => {
    const { items } = (await analyst.post("report/ad", report({ order_by_list }))).data;
    expect(items.map((item: Row) => item.channel)).toEqual(expected);
  });

  test("comes in pages, each with the total of all", async () => {
    const page = async (number: number) =>
      (await analyst.post("report/ad", report({ page: number, page_size: 1 }))).data;
    const pages = [await page(1), await page(2), await page(3)];
    expect(pages.map(({ items }) => items.map((item: Row) => item.channel))).toEqual([["=two"], ["one"], []]);
    for (const { total, page_info } of pages) {
      expect(total).toEqual([{ AdCost: 12.5, AppActivateStandard: 3, AppRevenue: 6.5 }]);
      expect(page_info).toMatchObject({ page_size: 1, total_number: 2, total_page: 2 });
    }
  });

  test("names the campaigns of its rows", async () => {
    const own = await server.createApp();
    const campaign = (await reports.admin("campaigns/create", { app_id: own.appId, name: "春节" })).data;
    const { turbo_promoted_object_id: id } = campaign;
    await reports.takeInCosts(own, ["date,turbo_promoted_object_id,cost", `${today()},${id},1`, `${today()},other,2`]);
    const body = report({ app_id: own.appId, dims_list: ["turbo_promoted_object_id"] });
    const data = dataOf(await analyst.post("report/ad", body), consoleReportAnswer);
    expect(data.items).toHaveLength(2);
    expect(data.campaign_names).toEqual({ [id]: "春节" });
  });

  test("is empty without data", async () => {
    const data = dataOf(
      await analyst.post("report/ad", report({ date_list: ["2020-01-01", "2020-01-01"] })),
      consoleReportAnswer,
    );
    expect(data).toMatchObject({ items: [], total: [], page_info: { total_number: 0, total_page: 0 } });
  });

  test("rounds rates and money to the decimals asked for", async () => {
    const asked = { metrics_list: ["AppGamePayRate", "AppARPU"], dims_list: [] };
    const numbers = async (more: Row) => (await analyst.post("report/ad", report({ ...asked, ...more }))).data.total[0];
    expect(await numbers({})).toEqual({ AppGamePayRate: 0.33, AppARPU: 2.17 });
    expect(await numbers({ rate_decimal_point: 4 })).toEqual({ AppGamePayRate: 0.3333, AppARPU: 2.17 });
    expect(await analyst.post("report/ad", report({ rate_decimal_point: 3 }))).toMatchObject(
      refused(/rate_decimal_point/),
    );
  });

  test("follows its filters, on any dimension", async () => {
    const found = async (filtering: Row) => (await analyst.post("report/ad", report({ filtering }))).data.items.length;
    expect(await found({ os_platform_list: ["unknown"] })).toBe(1 + 1);
    expect(await found({ os_platform_list: ["ios"] })).toBe(0);
    expect(await found({ ad_platform_list: ["tencent"], advertiser_id_list: [""] })).toBe(1);
    expect(await found({ gid_list: ["g"] })).toBe(0);
  });

  test.each<[string, Row, RegExp, number?]>([
    ["no app", { app_id: undefined }, /app_id/],
    ["an app that does not exist", { app_id: 999_999_999 }, /app_id/, 2001],
    ["a metric that does not exist", { metrics_list: ["Luck"] }, /Luck/],
    ["dimensions that exclude one another", { dims_list: ["csite", "gid"] }, /csite and gid/, 2006],
    ["a sort by a missing column", { order_by_list: [{ field: "gid", sort: 0 }] }, /order_by_list: "gid"/],
    ["an invalid direction", { order_by_list: [{ field: "channel", sort: 2 }] }, /sort/],
    ["the page before the first", { page: 0 }, /page must be/],
    ["pages that are too long", { page_size: LIMITS.pageSize + 1 }, /page_size/],
    ["one date", { date_list: [today()] }, /date_list/],
    ["a filter of a wrong type", { filtering: { gid_list: 5 } }, /gid_list/],
  ])("is refused for %s", async (_, change, msg, code) => {
    expect(await analyst.post("report/ad", report(change))).toMatchObject(refused(msg, code));
  });
});

describe("several reports at once", () => {
  const one = {
    date_list: recentDays(),
    metrics_list: ["AdCost"],
    dims_list: ["channel"],
    decimal_point: 2,
    statistics_caliber: "user_activated_time",
  };

  test("are answered in order, each as if asked alone", async () => {
    const asked = [one, { ...one, dims_list: [] }, { ...one, metrics_list: ["AppDAU"], dims_list: ["date"] }];
    const { reports: all } = dataOf(
      await analyst.post("report/ad/batch", { app_id: app.appId, reports: asked }),
      reportBatchAnswer,
    );
    for (const [index, body] of asked.entries()) {
      const { columns, items, total } = (await analyst.post("report/ad", { ...body, app_id: app.appId })).data;
      expect(all[index]).toEqual({ columns, items, total });
    }
    expect(all).toHaveLength(3);
  });

  test.each<[string, Row, RegExp, number?]>([
    ["none", { reports: [] }, /reports/],
    ["too many", { reports: Array(LIMITS.reportsAtOnce + 1).fill(one) }, /reports/],
    ["an invalid one", { reports: [one, { ...one, dims_list: ["channel", "dept"] }] }, /channel and dept/, 2006],
    ["an incomplete one", { reports: [one, {}] }, /reports\.1\.date_list/],
    ["an app that does not exist", { app_id: 999_999_999, reports: [one] }, /app_id/, 2001],
  ])("are refused: %s", async (_, change, msg, code) => {
    expect(await analyst.post("report/ad/batch", { app_id: app.appId, ...change })).toMatchObject(refused(msg, code));
  });
});

describe("the file of a report", () => {
  async function csv(body: Row): Promise<{ type: string; rows: string[][] }> {
    const init = { method: "POST", headers: analyst.headers, body: JSON.stringify(body) };
    const response = await fetch(`${server.url}${ADMIN}/report/ad/csv`, init);
    const text = Buffer.from(await response.arrayBuffer()).toString("utf8");
    expect(text.startsWith("\uFEFF")).toBe(true);
    return { type: response.headers.get("content-type")!, rows: parse(text, { bom: true }) };
  }

  test("holds what the report shows, in order, with the total and without formulas", async () => {
    const { type, rows } = await csv(report({ order_by_list: [{ field: "AdCost", sort: 1 }] }));
    expect(type).toBe("text/csv; charset=utf-8");
    expect(rows).toEqual([
      ["Channel", "Ad cost", "Activations", "Revenue"],
      ["one", "12.5", "2", "0"],
      ["'=two", "0", "1", "6.5"],
      ["Total", "12.5", "3", "6.5"],
    ]);
  });

  test("is available in Chinese, and puts names beside their ids", async () => {
    const body = report({ dims_list: ["gid", "date"], dims_metrics_list: ["gName"], language: "zh" });
    const { rows } = await csv(body);
    expect(rows[0]).toEqual(["计划", "计划名称", "日期", "消耗", "激活数", "总收入"]);
    expect(rows.at(-1)?.[0]).toBe("合计");
  });

  test.each<[string, Row, RegExp, number?]>([
    ["an unknown language", { language: "fr" }, /language/],
    ["a sort by a missing column", { order_by_list: [{ field: "gid", sort: 0 }] }, /order_by_list/],
    ["an app that does not exist", { app_id: 999_999_999 }, /app_id/, 2001],
  ])("is refused for %s", async (_, change, msg, code) => {
    expect(await analyst.post("report/ad/csv", report(change))).toMatchObject(refused(msg, code));
  });
});

describe("the catalogue", () => {
  const catalogue = async (query: Record<string, string> = {}) =>
    dataOf(await analyst.get("report/catalogue", query), catalogueAnswer);

  test("lists every metric of the public list, with both names and its formula", async () => {
    const { metrics, measures, groups } = await catalogue();
    const { list } = (await reports.call(developer, "metrics/list", {})).data;
    expect(metrics.map(({ name, label, cname, unit, tip }: Row) => ({ name, label, cname, unit, tip }))).toEqual(list);
    const known = new Set(measures.map(({ name }: Row) => name));
    for (const { formula, group } of metrics) {
      expect([...formula.of, ...formula.by].filter((name: string) => !known.has(name))).toEqual([]);
      expect(groups).toContainEqual(expect.objectContaining({ name: group }));
    }
  });

  test("says for each pair of dimensions how a report with both is answered", async () => {
    const { dimensions } = await catalogue();
    const excluded = (one: Row, other: Row) => one.incompatible.find(({ name }: Row) => name === other.name)?.reason;
    for (const one of dimensions) {
      for (const other of dimensions.filter((dimension: Row) => dimension.name > one.name)) {
        const reason = excluded(one, other);
        expect(excluded(other, one)).toBe(reason);
        const dims_list = [one.name, other.name];
        // A report by the hour has few days, and no costs by creative.
        const byHour = { date_list: [today(), today()], metrics_list: ["AppActivateStandard"] };
        const answer = await analyst.post(
          "report/ad",
          report({ ...(dims_list.includes("hour") && byHour), dims_list }),
        );
        expect([answer.code, answer.msg]).toEqual(reason ? [2006, reason] : [0, "success"]);
      }
    }
  });

  test("has the formulas of the requested caliber and model", async () => {
    const formula = async (name: string, query: Record<string, string>) =>
      (await catalogue(query)).metrics.find((metric: Row) => metric.name === name).formula;
    const second = { statistics_caliber: "behavior_occurred_time" };
    expect(await formula("AppARPU", {})).toEqual({
      of: ["pay_cents", "ad_micros"],
      by: ["users"],
      times: 1,
      has_pay_share: false,
    });
    expect(await formula("AppARPU", second)).toMatchObject({ by: ["active_users"] });
    expect(await formula("App7DayROI", {})).toMatchObject({ of: ["pay_d7", "ad_d7"], by: ["cost_e4"] });
    expect(await formula("App7DayROI", { roi_version: "2" })).toMatchObject({
      of: ["pay_s7", "ruled_s7", "share_s7", "ad_s7"],
      has_pay_share: true,
    });
    expect(await formula("AdCpm", {})).toMatchObject({ times: 1000 });
    expect(await analyst.get("report/catalogue", { roi_version: "3" })).toMatchObject(refused(/roi_version/));
  });
});

describe("a report as a public call", () => {
  const ask = (user: ConsoleUser, more: Row = {}) => user.post("report/request-text", report(more));

  /** Runs a text in a shell, in which `curl` prints its arguments. */
  async function argumentsOf(text: string): Promise<string[]> {
    const folder = mkdtempSync(join(tmpdir(), "touchpoint-curl-"));
    try {
      writeFileSync(join(folder, "curl"), `#!/bin/sh\nprintf '%s\\0' "$@"\n`);
      chmodSync(join(folder, "curl"), 0o755);
      const env = { PATH: `${folder}:${process.env.PATH}` };
      const { stdout } = await promisify(execFile)("sh", ["-c", text], { env });
      return stdout.split("\0").slice(0, -1);
    } finally {
      rmSync(folder, { recursive: true });
    }
  }

  test("is answered with the same report if an admin signs it, whatever its filters hold", async () => {
    const filtering = { channel_list: ["one", "it's $(id) `id` \\ \" 渠道\n"] };
    const id = developer.developerId;
    const { is_signed, curl } = dataOf(await ask(admin, { filtering, developer_id: id }), requestTextAnswer);
    expect(is_signed).toBe(true);
    const [silent, url, , authorization, , type, raw, body] = await argumentsOf(curl);
    expect([silent, type, raw]).toEqual(["-sS", "Content-Type: application/json", "--data-raw"]);
    const headers = { authorization: authorization!.replace("Authorization: ", "") };
    const answer = (await (await fetch(url!, { method: "POST", headers, body: body! })).json()) as Answer;
    expect(answer.code).toBe(0);
    const shown = (await admin.post("report/ad", report({ filtering }))).data;
    expect(answer.data).toMatchObject({ items: shown.items, total: shown.total });
    expect(shown.items).toHaveLength(1);
  });

  test("goes to the public address", async () => {
    const { curl, body } = dataOf(await ask(admin, { base_url: "https://track.example.com/" }), requestTextAnswer);
    expect(curl).toContain("'https://track.example.com/openapi/api/v1/report/combo_sql/'");
    expect(JSON.parse(body)).toEqual(report());
  });

  test("has placeholders without a signature, and never shows the key", async () => {
    for (const user of [admin, analyst]) {
      const data = dataOf(await ask(user), requestTextAnswer);
      expect(data).toMatchObject({ is_signed: false, curl: expect.stringContaining("<SIGN>") });
      expect(JSON.parse(data.body)).toEqual(report());
      expect(data.node).toContain("<APP_KEY>");
      expect(JSON.stringify(data)).not.toContain(developer.appKey);
    }
  });

  test("is not signed for an analyst, or for an application that may not make it", async () => {
    const { developerId } = developer;
    expect(await ask(analyst, { developer_id: developerId })).toMatchObject(refused(/Only admins/, 2004));
    expect(await ask(admin, { developer_id: 2_000_000_000 })).toMatchObject(refused(/developer_id/));
    const disabled = await reports.developer({ state: "disabled", reason: "left" });
    expect(await ask(admin, { developer_id: disabled.developerId })).toMatchObject(refused(/disabled: left/, 2004));
    const other = await reports.developer({ apps: [app.appId + 1] });
    expect(await ask(admin, { developer_id: other.developerId })).toMatchObject(refused(/not granted/, 2004));
    expect(await ask(admin, { metrics_list: [] })).toMatchObject(refused(/metrics_list/));
    expect(await ask(admin, { base_url: "ftp://x" })).toMatchObject(refused(/base_url/));
    expect(await ask(admin, { app_id: 999_999_999 })).toMatchObject(refused(/app_id/, 2001));
  });
});

describe("the rows behind a number", () => {
  const cell = (more: Row) => ({
    app_id: app.appId,
    date_list: recentDays(),
    statistics_caliber: "behavior_occurred_time",
    decimal_point: 2,
    ...more,
  });

  test("add up to it, even if not all are listed", async () => {
    const data = dataOf(await analyst.post("report/explain", cell({ metric: "AppARPU", limit: 1 })), explainedAnswer);
    expect(data).toMatchObject({
      value: 2.17,
      pay_share: 1,
      formula: { of: ["pay_cents", "ad_micros"], by: ["active_users"] },
      sums: { pay_cents: 650, ad_micros: 0, active_users: 3 },
      numbers: { users: 3, orders: 1, costs: 0 },
      added: { users: { pay_cents: 650, ad_micros: 0, active_users: 3 }, orders: { cents: 650 }, costs: {} },
    });
    expect(data.users).toHaveLength(1);
    const spent = dataOf(await analyst.post("report/explain", cell({ metric: "AdCpc" })), explainedAnswer);
    expect(spent.added.costs).toEqual(spent.sums);
  });

  test.each([0, LIMITS.explainedRows + 1])("cannot be limited to %i", async (limit) => {
    expect(await analyst.post("report/explain", cell({ metric: "AdCost", limit }))).toMatchObject(refused(/limit/));
  });
});
