import { readFileSync } from "node:fs";
import { parse } from "csv-parse/sync";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import { SEGMENT_DAYS as OF_SERVER } from "../../src/contract/analysis/saved-segment.ts";
import { SEGMENT_DAYS } from "../../web/src/analysis/segment.ts";
import { LakeStage, PLAYERS } from "./lake-stage.ts";
import { isSettled } from "./report-stage.ts";

const stage = new LakeStage();

/** Every third player pays. */
const PAYERS = PLAYERS / 3;
const PAID = { kind: "did", source: "order", measure: "count", operator: "at_least", values: [1], last_days: 7 };

async function saved(name: string, condition: object = PAID): Promise<number> {
  const { data } = await stage.site.api("segments/save", { app_id: stage.appId, name, condition });
  return data.segment_id;
}

/** Saved before the console is loaded, which keeps what it knows for a while. */
let payersId: string;
let weekId: string;
beforeAll(async () => {
  payersId = String(await saved("Payers"));
  await saved("Taken");
  weekId = String(await saved("Paid this week"));
});

const count = (page: Page, users: number) => page.getByRole("heading", { name: `${users} users` });

async function downloaded(page: Page, button: string): Promise<unknown[]> {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: button }).click(),
  ]);
  const rows = parse(readFileSync(await download.path()), { bom: true }) as unknown[];
  await page.getByRole("dialog").getByRole("button", { name: "Close" }).click();
  return rows;
}

test("is readable in both themes and languages, and fits a phone", async () => {
  const id = await saved("Paid, from Kuaishou, mode easy", {
    join: "and",
    parts: [
      { ...PAID, measure: "sum", amount: "pay_cents", operator: "between", values: [100, 1000] },
      { kind: "did_not", source: "event", event: "level", date_list: ["2026-01-01", "2026-01-31"] },
      { kind: "user", field: "ad_platform", operator: "equal", values: ["tencent", "kuaishou"] },
      { kind: "registered" },
    ],
  });
  const visit = await stage.open("/segments", { segment: String(id) });
  await isSettled(visit.page);
  await visit.page.locator(".client-ids li").first().waitFor();
  await visit.inspect("segments");
  await visit.fitsPhone("segments");
});

test("a segment is made of conditions, saved, exported, renamed and removed", async () => {
  const { page } = await stage.open("/segments");
  await count(page, PLAYERS).waitFor();
  await page.getByLabel("Of", { exact: true }).selectOption("Orders");
  await count(page, PAYERS).waitFor();
  await page.getByText("Save the segment to export it.").waitFor();
  await page.getByRole("button", { name: "Add criterion" }).click();
  await page.getByLabel("Users who").last().selectOption("are");
  await page.getByLabel("Field").selectOption("Platform");
  await page.getByLabel("Values").fill("tencent");
  await page.getByLabel("Values").press("Enter");
  await count(page, PAYERS).waitFor();
  await page.getByRole("button", { name: "Save…" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Tencent payers");
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await page.getByText("The segment “Tencent payers” is saved.").waitFor();
  expect((await downloaded(page, "Export client ids")).slice(0, 2)).toEqual([["client_id"], ["player-00"]]);
  // The players have reported no devices.
  expect(await downloaded(page, "Export device ids")).toEqual([]);
  await page.getByLabel("Value", { exact: true }).fill("2");
  await page.getByLabel("Value", { exact: true }).press("Enter");
  await count(page, 0).waitFor();
  await page.getByText("changed", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await expect.poll(() => page.getByText("changed", { exact: true }).count()).toBe(0);
  await page.getByRole("button", { name: "Rename…" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Paid twice");
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await page.getByRole("heading", { name: "Paid twice" }).waitFor();
  await page.getByRole("button", { name: "Remove…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove", exact: true }).click();
  await page.getByText("The segment “Paid twice” is removed.").waitFor();
  await page.getByRole("heading", { name: "New segment" }).waitFor();
});

test("the same in Chinese", async () => {
  const visit = await stage.open("/segments");
  const { page } = visit;
  await visit.look({ theme: "light", language: "zh" });
  await page.getByLabel("对象", { exact: true }).selectOption("订单");
  await page.getByRole("heading", { name: `${PAYERS} 个用户` }).waitFor();
  await page.getByRole("button", { name: "保存…" }).click();
  await page.getByLabel("名称", { exact: true }).fill("付费用户");
  await page.getByRole("dialog").getByRole("button", { name: "保存" }).click();
  await page.getByText("分群“付费用户”已保存。").waitFor();
  await page.getByRole("button", { name: "导出用户 ID" }).waitFor();
  await page.getByRole("button", { name: "删除…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "删除", exact: true }).click();
  await page.getByText("分群“付费用户”已删除。").waitFor();
  await visit.lookAsBefore();
});

test("a name that is taken is refused in the dialog", async () => {
  const { page } = await stage.open("/segments");
  await page.getByRole("button", { name: "Save…" }).click();
  await page.getByLabel("Name", { exact: true }).fill("Taken");
  await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
  await page.getByRole("dialog").getByText("The app already has a segment with this name.").waitFor();
});

test("every question is asked about the users of a chosen segment, also in a saved view", async () => {
  const id = payersId;
  const LEVEL = JSON.stringify([{ source: "event", event: "level" }]);
  const visit = await stage.open("/analysis", {
    series: JSON.stringify([{ source: "event", event: "level", measure: "users" }]),
    by: "total",
  });
  const { page } = visit;
  const total = () => page.locator("table tbody tr td").nth(1).innerText();
  await expect.poll(total).toBe(String(PLAYERS));
  await page.getByLabel("Segment", { exact: true }).selectOption("Payers");
  await expect.poll(total).toBe(String(PAYERS));
  await visit.inspect("analysis-segment");
  await visit.fitsPhone("analysis-segment");
  await page.getByText("Show as SQL").click();
  await page.getByText("having count(*) >= cast('1' as decimal(38, 6))").waitFor();
  const tab = async (query: Record<string, string>) => (await stage.open("/analysis", { segment: id, ...query })).page;
  const level = { source: "event", event: "level" };
  const funnel = await tab({ tab: "funnel", steps: JSON.stringify([level, level]) });
  await funnel.getByRole("button", { name: `1 level: ${PAYERS} users reached it. Show them` }).waitFor();
  const retention = await tab({ tab: "retention", from_to: JSON.stringify([level, level]) });
  const row = retention.locator(".heat-map tr", { hasText: stage.days.from });
  await expect.poll(() => row.locator("td").first().innerText()).toBe(String(PAYERS));
  const answered = async (name: string, query: Record<string, string>) => {
    const asked = page.waitForResponse((response) => response.url().endsWith(`/analysis/${name}`));
    await tab(query);
    const { question } = (await asked).request().postDataJSON();
    expect(question.segment).toEqual({ kind: "saved", segment: Number(id) });
    expect((await (await asked).json()).code).toBe(0);
  };
  await answered("distribution", { tab: "distribution", counted: LEVEL });
  await answered("path", { tab: "path", start: LEVEL });
  const parameters = { of: "analysis", segment: id };
  await stage.site.api("report/views/save", { app_id: stage.appId, name: "Of payers", parameters });
  const { page: segments } = await stage.open("/segments", { segment: id });
  await segments.getByRole("button", { name: "Remove…" }).click();
  await segments.getByText("A saved view uses it, and cannot be answered without it until it is changed.").waitFor();
  await segments.getByRole("dialog").getByRole("button", { name: "Remove anyway" }).click();
  await segments.getByText("The segment “Payers” is removed.").waitFor();
  const { page: orphaned } = await stage.open("/analysis", { segment: id });
  await orphaned.getByText(`The app has no saved segment with the id ${id}: choose another one.`).waitFor();
});

test("the lists of users and orders are filtered by a segment", async () => {
  const visit = await stage.open("/users");
  const { page } = visit;
  await page.getByText(`${PLAYERS} users`).waitFor();
  await page.getByRole("button", { name: "Filter", exact: true }).click();
  await page.getByRole("dialog").getByLabel("Segment", { exact: true }).selectOption("Paid this week");
  await visit.inspect("users-segment");
  await page.getByRole("dialog").getByRole("button", { name: "Apply" }).click();
  await page.getByText(`${PAYERS} users`).waitFor();
  expect((await downloaded(page, "CSV")).length).toBe(PAYERS + 1);
  await page.getByRole("button", { name: "Remove filter: Segment" }).click();
  await page.getByText(`${PLAYERS} users`).waitFor();
  const { page: orders } = await stage.open("/orders", { filters: JSON.stringify({ segment: weekId }) });
  await orders.getByText("Segment: Paid this week").waitFor();
  await expect.poll(() => orders.locator("table tbody tr").count()).toBe(PAYERS);
});

test("the page begins with the days that lists and exports are about", () => {
  expect(SEGMENT_DAYS).toBe(OF_SERVER);
});
