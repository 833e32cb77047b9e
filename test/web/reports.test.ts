import { readFileSync } from "node:fs";
import { parse } from "csv-parse/sync";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { addDays } from "../../src/domain/calendar.ts";
import { METRICS } from "../../src/report/metric/catalogue.ts";
import type { Visit } from "./browser.ts";
import { count, isDrawn, isSettled, money, percent, ReportStage } from "./report-stage.ts";
import { dayOf } from "./results-stage.ts";

const stage = new ReportStage();

type Body = Record<string, unknown>;

describe("the overview", () => {
  const CALIBER = { statistics_caliber: "behavior_occurred_time" };
  const TILES = ["AdCost", "AppActivateStandard", "AppRevenue", "AppROI", "AppDAU", "AppGamePayUserCntStandard"];

  const tile = (page: Page, name: string) =>
    page.locator(".tile", { has: page.getByText(name, { exact: true }) }).first();

  async function open(more: Record<string, string> = {}): Promise<Visit> {
    const visit = await stage.visit.open(`/overview?${stage.query(more)}`);
    await isSettled(visit.page);
    return visit;
  }

  test("is readable in both themes and languages, and fits a phone", async () => {
    // A week shows everything that two weeks do, with a quarter of the cohorts' cells.
    const visit = await open({ from: addDays(stage.days.to, -6) });
    const { page } = visit;
    await isDrawn(page, 4);
    await visit.inspect("overview");
    await visit.fitsPhone("overview");
  });

  test("shows what the report says, from one call: tiles, comparisons and retention", async () => {
    const visit = await stage.site.visit();
    const asked: string[] = [];
    visit.page.on("request", (request) => request.url().includes("/report/") && asked.push(request.url()));
    await visit.open(`/overview?${stage.query()}`);
    await isSettled(visit.page);
    expect(asked.map((url) => url.split("/report/")[1]!.split("?")[0]).sort()).toEqual(["ad/batch", "catalogue"]);
    const [total] = (await stage.report({ ...CALIBER, metrics_list: TILES })).total;
    const value = async (name: string) => tile(visit.page, name).locator(".value").textContent();
    expect(await value("Ad cost")).toBe(money.format(total.AdCost));
    expect(await value("Activations")).toBe(count.format(total.AppActivateStandard));
    expect(await value("Revenue")).toBe(money.format(total.AppRevenue));
    expect(await value("ROI")).toBe(percent.format(total.AppROI));
    expect(await value("Active users")).toBe(count.format(total.AppDAU));
    expect(await value("Payers")).toBe(count.format(total.AppGamePayUserCntStandard));
    const came = stage.registeredAtMs.filter((ms) => dayOf(ms) >= stage.days.from);
    expect(total.AppActivateStandard).toBe(came.length);
    await comparesDaysAndWeeks(visit.page);
    await showsRetention(visit.page);
  });

  /** Checks the last whole day and week, with those before. */
  async function comparesDaysAndWeeks(page: Page): Promise<void> {
    const yesterday = addDays(stage.days.to, -1);
    const of = async (from: string, to: string) =>
      (await stage.report({ ...CALIBER, date_list: [from, to], metrics_list: ["AdCost"] })).total[0].AdCost as number;
    const week = await of(addDays(yesterday, -6), yesterday);
    const before = await of(addDays(yesterday, -13), addDays(yesterday, -7));
    const shown = await tile(page, "Ad cost").locator("dd").allTextContents();
    expect(shown[0]).toBe(money.format(await of(yesterday, yesterday)));
    expect(shown[2]).toBe(money.format(week));
    const change = (week - before) / before;
    expect(shown[3]).toBe(`${change > 0 ? "▲" : "▼"} ${(Math.abs(change) * 100).toFixed(1)} %`);
  }

  /** Checks retention by cohort against the report, without any day in the future. */
  async function showsRetention(page: Page): Promise<void> {
    const { items } = await stage.report({
      ...CALIBER,
      dims_list: ["date"],
      metrics_list: ["AppRetention1d", "AppRetention7d"],
    });
    const cellsOf = async (day: string) =>
      page
        .locator(".heat-map tr", { has: page.getByText(day, { exact: true }) })
        .locator("td")
        .allTextContents();
    const first = items.find((item: { date: string }) => item.date === stage.days.from);
    const cells = await cellsOf(stage.days.from);
    expect([cells[1], cells[7]]).toEqual([percent.format(first.AppRetention1d), percent.format(first.AppRetention7d)]);
    expect(cells[9]).toBe("");
    expect((await cellsOf(stage.days.to)).slice(1).join("")).toBe("");
  }

  test("sets the hours of today beside those of yesterday and of a week ago", async () => {
    const { page } = await open();
    const card = page.locator(".card", { has: page.getByRole("heading", { name: "Today by the hour" }) });
    await card.getByText("Show as table").click();
    const hours = await card.locator("tbody td:nth-child(1)").allTextContents();
    expect([hours.length, hours[0], hours[23]]).toEqual([24, "00:00", "23:00"]);
    const { to: today } = stage.days;
    const shows = async (metric: string, format: Intl.NumberFormat) => {
      for (const [at, day] of [today, addDays(today, -1), addDays(today, -7)].entries()) {
        const asked = { ...CALIBER, date_list: [day, day], dims_list: ["hour"], metrics_list: [metric] };
        const { items } = await stage.report(asked);
        const byHour = new Map(items.map((item: Record<string, unknown>) => [`${item.hour}:00`, item[metric]]));
        const expected = hours.map((hour) => format.format((byHour.get(hour) as number | undefined) ?? 0));
        const shown = () => card.locator(`tbody td:nth-child(${at + 2})`).allTextContents();
        await expect.poll(shown).toEqual(expected);
      }
    };
    await shows("AppActivateStandard", count);
    await card.getByLabel("Figure").selectOption("AppGamePayAmountStandard");
    await shows("AppGamePayAmountStandard", money);
  });

  test("keeps its filters in the address, so that a link shows the same", async () => {
    const { page } = await open();
    await page.getByRole("button", { name: "Platform", exact: true }).click();
    await page.getByLabel("Ocean Engine").check();
    await page.getByRole("button", { name: "Platform: Ocean Engine" }).waitFor();
    await page.keyboard.press("Escape");
    await isSettled(page);
    const filtering = { ad_platform_list: ["bytedance"] };
    const [total] = (await stage.report({ ...CALIBER, metrics_list: ["AdCost"], filtering })).total;
    const expected = money.format(total.AdCost);
    await expect.poll(() => tile(page, "Ad cost").locator(".value").textContent()).toBe(expected);
    expect(new URL(page.url()).searchParams.get("ad_platform")).toBe("bytedance");
    const other = await stage.site.visit();
    await other.page.goto(page.url());
    await isSettled(other.page);
    await expect.poll(() => tile(other.page, "Ad cost").locator(".value").textContent()).toBe(expected);
    await other.page.getByRole("button", { name: "Clear filters" }).click();
    await expect.poll(() => tile(other.page, "Ad cost").locator(".value").textContent()).not.toBe(expected);
  });

  test("says what to do for days without data", async () => {
    const visit = await stage.open("/overview?from=2020-01-01&to=2020-01-07");
    await visit.page.getByText("No data for these dates").waitFor();
    await visit.go(stage.addressOf("/overview?from=1990-01-01&to=2026-01-07"));
    await visit.page.getByText(/spans more than/).waitFor();
  });
});

describe("the ad report", () => {
  async function open(more: Record<string, string> = {}): Promise<Visit> {
    const visit = await stage.visit.open(`/report?${stage.query(more)}`);
    await isSettled(visit.page);
    return visit;
  }
  const table = (page: Page) => page.getByRole("region", { name: "Report", exact: true });
  const heads = async (page: Page) =>
    (await table(page).locator("thead th").allTextContents()).map((text) => text.trim());
  const column = async (page: Page, at: number) => table(page).locator(`tbody td:nth-child(${at})`).allTextContents();

  test("is readable in both themes and languages", async () => {
    const visit = await open({ dims: "ad_platform", chart_metrics: "AdCost,AppROI" });
    await visit.inspect("ad-report", async (page) => {
      await isSettled(page);
      await isDrawn(page, 1);
    });
    await visit.fitsPhone("ad-report");
  });

  test("shows rows, totals and money to the cent as in the report", async () => {
    const { page } = await open({ dims: "ad_platform", metrics: "AdCost,AppROI,AppRetention1d" });
    const metrics_list = ["AdCost", "AppROI", "AppRetention1d"];
    const { items, total } = await stage.report({ dims_list: ["ad_platform"], metrics_list });
    expect(await heads(page)).toEqual(["Ad platform", "Ad cost", "ROI", "Day-1 retention"]);
    expect(await column(page, 2)).toEqual(items.map((item: Body) => money.format(Number(item.AdCost))));
    expect(await column(page, 3)).toEqual(items.map((item: Body) => percent.format(Number(item.AppROI))));
    expect(await table(page).locator("tfoot td").allTextContents()).toEqual([
      ...["Total", money.format(total[0].AdCost), percent.format(total[0].AppROI)],
      percent.format(total[0].AppRetention1d),
    ]);
  });

  test("can be sorted and paged, with the state in its address", async () => {
    const { page } = await open({ dims: "date,ad_platform", metrics: "AdCost,AppRevenue", size: "20" });
    await table(page).locator("thead").getByRole("button", { name: "Ad cost" }).click();
    await expect.poll(() => new URL(page.url()).searchParams.get("sort")).toBe("AdCost:desc");
    const order_by_list = [{ field: "AdCost", sort: 1 }];
    const asked = { dims_list: ["date", "ad_platform"], metrics_list: ["AdCost"], order_by_list, page_size: 20 };
    const costs = async (number: number) =>
      (await stage.report({ ...asked, page: number })).items.map((item: Body) => money.format(Number(item.AdCost)));
    const [first, second] = [await costs(1), await costs(2)];
    await expect.poll(() => column(page, 3)).toEqual(first);
    await page.getByRole("button", { name: "Next" }).click();
    await expect.poll(() => column(page, 3)).toEqual(second);
    expect(new URL(page.url()).searchParams.get("page")).toBe("2");
    await table(page).locator("thead").getByRole("button", { name: "Ad cost" }).click();
    await expect.poll(() => new URL(page.url()).searchParams.get("page")).toBeNull();
  });

  test("greys out what cannot be combined, with the reason, and refuses it in words if it is typed", async () => {
    const visit = await open({ dims: "date" });
    const { page } = visit;
    await page.getByRole("button", { name: "Choose dimensions" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Channel").check();
    await expect.poll(() => dialog.getByLabel("Campaign").isDisabled()).toBe(true);
    await expect.poll(() => dialog.getByText("Cannot be combined with Channel.").count()).toBe(4);
    await expect.poll(() => dialog.getByLabel("Plan", { exact: true }).isDisabled()).toBe(false);
    await dialog.getByRole("button", { name: "Apply" }).click();
    await expect.poll(async () => (await heads(page)).slice(0, 2)).toEqual(["Date", "Channel"]);
    await visit.go(`/report?${stage.query({ dims: "csite,gid" })}`);
    await page.getByText("csite and gid cannot be queried together.").waitFor();
  });

  test("metrics are found by name or definition, and added", async () => {
    const { page } = await open({ metrics: "AdCost" });
    await page.getByRole("button", { name: "Choose metrics" }).click();
    const dialog = page.getByRole("dialog");
    await expect.poll(() => dialog.getByRole("checkbox").count()).toBe(METRICS.length);
    await dialog.getByLabel("Search by name or definition").fill("divided by clicks");
    await expect.poll(() => dialog.getByRole("checkbox").count()).toBe(1);
    await dialog.getByLabel("Cost per click").check();
    await dialog.getByRole("button", { name: "Apply" }).click();
    await expect.poll(() => heads(page)).toEqual(["Date", "Ad cost", "Cost per click"]);
  });

  test("columns are moved by the keyboard and by dragging", async () => {
    const { page } = await open({ metrics: "AdCost,AppRevenue,AppROI" });
    const chip = (name: string) =>
      page.getByRole("list", { name: "Metrics" }).getByRole("button", { name, exact: true });
    await chip("Ad cost").focus();
    await page.keyboard.press("ArrowRight");
    await expect.poll(() => heads(page)).toEqual(["Date", "Revenue", "Ad cost", "ROI"]);
    await page.keyboard.press("ArrowRight");
    await expect.poll(() => heads(page)).toEqual(["Date", "Revenue", "ROI", "Ad cost"]);
    await chip("Ad cost").dragTo(chip("Revenue"));
    await expect.poll(() => heads(page)).toEqual(["Date", "Ad cost", "Revenue", "ROI"]);
    expect(new URL(page.url()).searchParams.get("metrics")).toBe("AdCost,AppRevenue,AppROI");
    await chip("ROI").focus();
    await page.keyboard.press("Delete");
    await expect.poll(() => heads(page)).toEqual(["Date", "Ad cost", "Revenue"]);
  });

  test("opens a number to what it is made of, which adds up to it", async () => {
    const metrics = "AdCost,AppROI,App7DayLTV,AppGamePayUserCntStandard,AppRetention1d";
    const { page } = await open({ dims: "ad_platform", metrics });
    const row = table(page).locator("tbody tr", { hasText: "Ocean Engine" });
    await expect.poll(() => row.getByRole("button").count()).toBe(5);
    const ofTotal = table(page).locator("tfoot").getByRole("button").nth(1);
    for (const button of [...(await row.getByRole("button").all()), ofTotal]) {
      const shown = await button.textContent();
      await button.click();
      const dialog = page.getByRole("dialog");
      await dialog.getByText("It adds up: the rows below make exactly this number.").waitFor();
      await expect.poll(() => dialog.locator(".figure-value").textContent()).toBe(shown);
      await expect.poll(() => dialog.getByText("≠").count()).toBe(0);
      await dialog.getByRole("button", { name: "Close" }).click();
    }
  });

  test("lists what is behind a number: users, orders and costs", async () => {
    const visit = await open({ dims: "ad_platform", metrics: "AppROI" });
    const { page } = visit;
    await table(page).locator("tbody tr", { hasText: "Ocean Engine" }).getByRole("button").click();
    const dialog = page.getByRole("dialog");
    await dialog.locator(".figure-value").waitFor();
    const [users, orders, costs] = await dialog.getByRole("tab").allTextContents();
    expect([users, orders, costs].map((title) => title!.split(" ")[0])).toEqual(["Users", "Orders", "Costs"]);
    await dialog.getByRole("tab", { name: /Orders/ }).click();
    const listed = await dialog.getByRole("region", { name: "Orders" }).locator("tbody tr").count();
    expect(orders).toBe(`Orders (${listed})`);
    const link = dialog.getByRole("region", { name: "Orders" }).getByRole("link").first();
    const clientId = (await link.textContent())!;
    await link.click();
    await page.getByRole("heading", { name: clientId }).waitFor();
    await page.goBack();
    await isSettled(page);
    await visit.inspect("ad-report-cell", async () => {
      await isSettled(page);
      await page
        .locator("tbody tr", { hasText: /Ocean Engine|巨量引擎/ })
        .getByRole("button")
        .click();
      await page.locator(".figure-value").waitFor();
    });
  });

  test("is downloaded as it is shown", async () => {
    const { page } = await open({ dims: "ad_platform,date", metrics: "AdCost,AppROI", sort: "AdCost:asc" });
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download CSV" }).click(),
    ]);
    expect(download.suggestedFilename()).toBe(`ad-report-${stage.appId}-${stage.days.from}-${stage.days.to}.csv`);
    const rows: string[][] = parse(readFileSync(await download.path(), "utf8"), { bom: true });
    const asked = { dims_list: ["ad_platform", "date"], metrics_list: ["AdCost", "AppROI"] };
    const { items, total } = await stage.report({ ...asked, order_by_list: [{ field: "AdCost", sort: 0 }] });
    expect(rows[0]).toEqual(["Ad platform", "Date", "Ad cost", "ROI"]);
    expect(rows.slice(1, -1)).toEqual(
      items.map((item: Body) => [item.ad_platform, item.date, String(item.AdCost), String(item.AppROI)]),
    );
    expect(rows.at(-1)).toEqual(["Total", "", String(total[0].AdCost), String(total[0].AppROI)]);
  });

  test("is charted over days or over a dimension", async () => {
    const { page } = await open({ dims: "date,ad_platform", metrics: "AdCost,AppRevenue,AppROI,AppDAU" });
    await page.getByRole("img", { name: "Chart: Ad cost" }).waitFor();
    await page.getByRole("button", { name: "Shown: Ad cost" }).click();
    await page.getByRole("checkbox", { name: "ROI" }).check();
    await page.getByRole("img", { name: "Chart: Ad cost, ROI" }).waitFor();
    await expect.poll(() => page.getByRole("checkbox", { name: "Active users" }).isDisabled()).toBe(true);
    await page.keyboard.press("Escape");
    await page.getByLabel("Over").selectOption({ label: "Ad platform" });
    await page.getByLabel("Chart", { exact: true }).selectOption({ label: "Bars" });
    const address = new URL(page.url()).searchParams;
    expect([address.get("chart"), address.get("chart_by"), address.get("chart_metrics")]).toEqual([
      ...["bar", "ad_platform", "AdCost,AppROI"],
    ]);
    await page.getByLabel("Chart", { exact: true }).selectOption({ label: "No chart" });
    await isDrawn(page, 0);
  });

  test("a view is saved, shared, opened by another person, renamed and removed", async () => {
    const { page } = await open({ dims: "ad_platform", metrics: "AdCost,AppROI", caliber: "behavior_occurred_time" });
    await page.getByRole("button", { name: "Views" }).click();
    await page.getByText("No saved views yet.").waitFor();
    await page.getByRole("button", { name: "Save as view…" }).click();
    await page.getByLabel("View name").fill("Platforms");
    await page.getByText("The range is saved as “last 15 days”").waitFor();
    await page.getByLabel("Share with everyone").check();
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("button", { name: "View: Platforms" }).waitFor();

    const analyst = await stage.site.visit({ as: await stage.site.analyst() });
    await analyst.open(stage.addressOf("/report"));
    await analyst.page.getByRole("button", { name: "Views" }).click();
    await analyst.page.getByRole("button", { name: "Platforms Shared" }).click();
    await expect.poll(() => heads(analyst.page)).toEqual(["Ad platform", "Ad cost", "ROI"]);
    const address = new URL(analyst.page.url()).searchParams;
    expect([address.get("from"), address.get("to"), address.get("caliber")]).toEqual([
      ...[stage.days.from, stage.days.to, "behavior_occurred_time"],
    ]);
    await analyst.page.getByRole("button", { name: "View: Platforms" }).click();
    await expect.poll(() => analyst.page.getByRole("button", { name: "Save changes to" }).count()).toBe(0);

    await page.getByRole("button", { name: "View: Platforms" }).click();
    await page.getByRole("button", { name: "Manage views…" }).click();
    await page.getByRole("button", { name: "Rename" }).click();
    await page.getByRole("dialog", { name: "Rename" }).getByLabel("View name").fill("By platform");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("cell", { name: "By platform", exact: true }).waitFor();
    await page.getByRole("button", { name: "Remove", exact: true }).click();
    await page.getByRole("dialog").getByText("No saved views yet.").waitFor();
  });

  test("as a public call is signed for an admin, and has placeholders for an analyst", async () => {
    const { data } = await stage.site.api("developers/create", { name: "BI", apps: [stage.appId] });
    await stage.site.api("developers/decide", { id: data.id, state: "approved" });
    const { page } = await open();
    await page.getByRole("button", { name: "Copy as API call" }).click();
    const call = page.getByRole("dialog").locator("pre");
    await expect.poll(() => call.textContent()).toMatch(/combo_sql.*Authorization: eyJ.*"sign":"[0-9a-f]{32}"/s);
    await page.getByLabel("Signed by").selectOption({ label: "Unsigned, with placeholders" });
    await expect.poll(() => call.textContent()).toContain("<SIGN>");
    const analyst = await stage.site.visit({ as: await stage.site.analyst() });
    await analyst.open(`/report?${stage.query()}`);
    await analyst.page.getByRole("button", { name: "Copy as API call" }).click();
    await expect.poll(() => analyst.page.getByRole("dialog").locator("pre").textContent()).toContain("<SIGN>");
    await expect.poll(() => analyst.page.getByLabel("Signed by").count()).toBe(0);
  });

  test("a link shows the same to another person", async () => {
    const { page } = await open({
      dims: "os_platform,date",
      metrics: "AppROI,AdCost",
      sort: "AppROI:asc",
      size: "20",
      page: "2",
      roi: "2",
      ad_platform: "tencent,natural",
      decimals: "4",
    });
    const rows = await table(page).locator("tbody").textContent();
    const other = await stage.site.visit({ as: await stage.site.analyst() });
    await other.page.goto(page.url());
    await isSettled(other.page);
    await expect.poll(() => table(other.page).locator("tbody").textContent()).toBe(rows);
    expect(await heads(other.page)).toEqual(["Device type", "Date", "ROI", "Ad cost"]);
  });

  test("opens on a phone, even with long names, and nothing complains on the way", async () => {
    const visit = await stage.site.visit({ size: "phone" });
    await visit.open(`/report?${stage.query({ dims: "turbo_promoted_object_id" })}`);
    await isSettled(visit.page);
    await visit.fitsPhone("ad-report-campaigns");
    expect(visit.complaints).toEqual([]);
  });
});
