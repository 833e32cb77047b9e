import { readFileSync } from "node:fs";
import { parse } from "csv-parse/sync";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { ConsoleTest } from "./browser.ts";
import { LakeStage, PLAYERS } from "./lake-stage.ts";
import { isDrawn, isSettled } from "./report-stage.ts";

const stage = new LakeStage();

const LEVELS = { source: "event", event: "level", measure: "count" };
const series = (...list: object[]) => ({ series: JSON.stringify(list) });
const cells = async (page: Page) => {
  const rows = await page.locator("table tbody tr").all();
  return Promise.all(rows.map((row) => row.locator("td").allInnerTexts()));
};

test("is readable in both themes and languages, and fits a phone", async () => {
  const visit = await stage.open("/analysis", {
    ...series(LEVELS, { source: "order", measure: "sum", amount: "pay_cents" }),
    split: "ad_platform",
    compare: "before",
    formulas: encodeURIComponent("B / A"),
  });
  await isSettled(visit.page);
  await isDrawn(visit.page, 1);
  await visit.page.getByText("Show as SQL").click();
  await visit.inspect("analysis");
  await visit.fitsPhone("analysis");
});

test("counts an event as soon as it is chosen, and keeps the question in the address", async () => {
  const { page } = await stage.open("/analysis");
  await page.getByLabel("Event", { exact: true }).fill("level");
  await expect.poll(() => cells(page)).toEqual([["A level · Times", "36", "12", "24"]]);
  await page.getByLabel("Measure").selectOption("Users");
  await expect.poll(() => cells(page)).toEqual([["A level · Users", "12", "12", "12"]]);
  await page.getByLabel("By", { exact: true }).selectOption("Whole range");
  await expect.poll(() => cells(page)).toEqual([["A level · Users", "12"]]);
  const other = await stage.site.visit();
  await other.page.goto(page.url());
  await expect.poll(() => cells(other.page)).toEqual([["A level · Users", "12"]]);
});

test("splits by the source of users, filters by a property, and computes a formula", async () => {
  const { page } = await stage.open("/analysis", { ...series(LEVELS), by: "total" });
  await page.getByRole("button", { name: "Add condition" }).click();
  await page.getByLabel("Field").selectOption("mode");
  await page.getByLabel("Values").fill("easy");
  await page.getByLabel("Values").press("Enter");
  const mode = { field: "event$mode", operator: "equal", values: ["easy"] };
  const { data } = await stage.ask([{ ...LEVELS, filter: mode }]);
  await expect.poll(() => cells(page)).toEqual([["A level · Times", String(data.answer.lines[0].total)]]);
  await page.getByLabel("Split by").selectOption("Platform");
  await expect
    .poll(async () => (await cells(page)).map(([, name]) => name).sort())
    .toEqual(["Kuaishou", "Organic", "Tencent Ads"].sort());
  await page.getByLabel("Split by").selectOption("Nothing");
  await page.getByRole("button", { name: "Add series" }).click();
  await page.getByRole("button", { name: "Add formula" }).click();
  await page.getByLabel("Formula", { exact: true }).fill("A / B * 100");
  await page.getByLabel("Formula", { exact: true }).press("Enter");
  await expect.poll(async () => (await cells(page)).map(([name]) => name)).toContain("A / B * 100");
});

test("a refusal is shown at the formula that it is about", async () => {
  const { page } = await stage.open("/analysis", { ...series(LEVELS), formulas: encodeURIComponent("A / Z") });
  await expect.poll(() => page.getByRole("alert").innerText()).toContain("names Z");
  expect(await page.getByLabel("Formula", { exact: true }).getAttribute("aria-invalid")).toBe("true");
});

test("a measure of a number asks which before anything is counted", async () => {
  const { page } = await stage.open("/analysis", series({ ...LEVELS, measure: "sum" }));
  await page.getByText("Series A adds up a number").waitFor();
  await page.getByLabel("Number").selectOption("score");
  const total = await stage.total({ measure: "sum", property: "score" });
  await expect.poll(async () => (await cells(page))[0]?.[1]).toBe(new Intl.NumberFormat("en-GB").format(total!));
});

test("a number opens to its users, who link to their pages", async () => {
  const { page } = await stage.open("/analysis", { ...series({ ...LEVELS, measure: "users" }), by: "total" });
  await page.getByRole("button", { name: /show the users/ }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText(`${PLAYERS} users`).waitFor();
  const links = dialog.getByRole("link");
  expect(await links.count()).toBe(PLAYERS);
  await links.first().click();
  await page.getByRole("heading", { name: "player-00" }).waitFor();
});

test("the answer is downloaded as CSV, and the comparison with it", async () => {
  const { page } = await stage.open("/analysis", { ...series(LEVELS), compare: "before" });
  await isSettled(page);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download CSV" }).click(),
  ]);
  const rows = parse(readFileSync(await download.path()), { bom: true });
  const { from, to } = stage.days;
  expect(rows).toEqual([
    ["Series", "Whole range", from, to],
    ["A level · Times", "36", "12", "24"],
    ["A level · Times (Earlier)", "0", "0", "0"],
  ]);
});

test("the statement of an answer opens on the SQL page, where it can be run", async () => {
  const { page } = await stage.open("/analysis", series(LEVELS));
  await page.getByText("Show as SQL").click();
  await page.getByRole("button", { name: "Open on the SQL page" }).click();
  await page.getByRole("heading", { name: "SQL", exact: true }).waitFor();
  await expect.poll(() => page.getByLabel("Statement").inputValue()).toContain("from events");
  await page.getByRole("button", { name: "Run" }).click();
  await page.getByRole("button", { name: "Download CSV" }).waitFor();
});

test("a question is saved as a view, which the ad report does not list", async () => {
  const { page } = await stage.open("/analysis", { ...series(LEVELS), by: "week" });
  await isSettled(page);
  await page.getByRole("button", { name: "Views" }).click();
  await page.getByRole("button", { name: "Save as view…" }).click();
  await page.getByLabel("View name").fill("Levels by week");
  await page.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByRole("button", { name: "View: Levels by week" }).waitFor();
  const again = await stage.open("/analysis");
  await again.page.getByRole("button", { name: "Views" }).click();
  await again.page.getByRole("button", { name: "Levels by week" }).click();
  await expect.poll(() => page.getByLabel("By", { exact: true }).inputValue()).toBe("week");
  await expect.poll(() => page.getByLabel("Event", { exact: true }).inputValue()).toBe("level");
  await stage.open("/report");
  await page.getByRole("button", { name: "Views" }).click();
  await page.getByText("No saved views yet.").waitFor();
});

test("says so when the server has no lake", async () => {
  const site = await ConsoleTest.shared();
  const app = await site.server.createApp();
  const visit = await site.visit();
  await visit.open(`/analysis?app=${app.appId}`);
  await visit.page.getByRole("heading", { name: "This server has no lake" }).waitFor();
  await visit.inspect("analysis-no-lake");
});

test("says so while the first files of an app are written, and continues by itself", async () => {
  const app = await stage.site.server.createApp();
  const visit = await stage.site.visit();
  await visit.page.route("**/admin/api/v1/analysis?*", async (route) => {
    await route.fulfill({ json: { code: 0, msg: "success", data: { lake: "preparing" } } });
  });
  await visit.open(`/analysis?app=${app.appId}`);
  await visit.page.getByRole("heading", { name: "The events are being prepared" }).waitFor();
  await visit.page.unrouteAll({ behavior: "wait" });
  await visit.page.getByLabel("Measure").waitFor();
});
