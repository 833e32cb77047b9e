import { readFileSync } from "node:fs";
import { parse } from "csv-parse/sync";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { PRESET_EVENTS as SERVER_PRESETS } from "../../src/domain/event/metadata.ts";
import { PRESET_EVENTS } from "../../web/src/analysis/names.ts";
import { suggestionsFor, VIEWS, wordBefore } from "../../web/src/pages/sql/views.ts";
import { ConsoleTest } from "./browser.ts";
import { LakeStage } from "./lake-stage.ts";

const stage = new LakeStage();

const BY_EVENT = "select event, count(*) as n, min(day) as first_day from events group by event order by n desc";
const LONG =
  "select count(*) from range(100000) a, range(100000) b, range(1000) c where a.range + b.range = c.range - 1";

const type = async (page: Page, statement: string) => page.getByLabel("Statement").fill(statement);
const rows = (page: Page) => page.locator("table tbody tr");

test("is readable in both themes and languages, and fits a phone", async () => {
  const visit = await stage.open("/sql");
  await type(visit.page, BY_EVENT);
  await visit.page.getByLabel("Statement").press("Control+Enter");
  await rows(visit.page).first().waitFor();
  await visit.page.getByText("History", { exact: true }).click();
  await visit.inspect("sql");
  await visit.fitsPhone("sql");
});

test("a statement is run by keys, and its rows are downloaded", async () => {
  const { page } = await stage.open("/sql");
  await type(page, "select event, count(*) as n from events where event = 'level' group by event");
  await page.getByLabel("Statement").press("Control+Enter");
  await expect.poll(() => rows(page).locator("td").allInnerTexts()).toEqual(["level", "36"]);
  await page.getByText("1 row", { exact: true }).waitFor();
  await page.getByText(/^Counts everything received before .* Answered in/).waitFor();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download CSV" }).click(),
  ]);
  expect(parse(readFileSync(await download.path()), { bom: true })).toEqual([
    ["event", "n"],
    ["level", "36"],
  ]);
});

test("a refused statement says why below itself", async () => {
  const { page } = await stage.open("/sql");
  await type(page, "drop view events");
  await page.getByRole("button", { name: "Run" }).click();
  await expect.poll(() => page.getByRole("alert").innerText()).toContain("Only queries are answered");
});

test("an answer that is cut says so", async () => {
  const { page } = await stage.open("/sql");
  await type(page, "select * from range(10001)");
  await page.getByRole("button", { name: "Run" }).click();
  await page.getByText(/^Cut: there are more than the 10,000 rows/).waitFor();
  await page.getByText("The first 500 are shown here").waitFor();
});

test("a running statement is cancelled, and the next one is answered", async () => {
  const { page } = await stage.open("/sql");
  await type(page, LONG);
  await page.getByRole("button", { name: "Run" }).click();
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.getByText("Cancelled.").waitFor();
  await type(page, "select 42 as answer");
  await page.getByRole("button", { name: "Run" }).click();
  await expect.poll(() => rows(page).locator("td").allInnerTexts()).toEqual(["42"]);
});

test("earlier statements come back from the history", async () => {
  const { page } = await stage.open("/sql");
  for (const statement of ["select 1 as one", "select 2 as two"]) {
    await type(page, statement);
    await page.getByLabel("Statement").press("Control+Enter");
    await expect.poll(() => rows(page).locator("td").allInnerTexts()).toEqual([statement.split(" ")[1]]);
  }
  await page.getByText("History", { exact: true }).click();
  await page.getByRole("button", { name: "select 1 as one" }).click();
  expect(await page.getByLabel("Statement").inputValue()).toBe("select 1 as one");
  await page.getByRole("button", { name: "Clear the history" }).click();
  await page.getByText("Nothing has been run yet.").waitFor();
});

test("names are inserted by a click, and completed with Tab", async () => {
  const { page } = await stage.open("/sql");
  await type(page, "select ");
  await page.getByRole("button", { name: "client_id", exact: true }).first().click();
  expect(await page.getByLabel("Statement").inputValue()).toBe("select client_id");
  await page.keyboard.type(" from eve");
  await page.getByRole("group", { name: "Suggestions" }).waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.type(" where event = lev");
  await page.getByRole("group", { name: "Suggestions" }).waitFor();
  await page.keyboard.press("Tab");
  expect(await page.getByLabel("Statement").inputValue()).toBe("select client_id from events where event = 'level'");
});

test("the list of columns is that of the views", async () => {
  for (const [view, columns] of Object.entries(VIEWS)) {
    const body = { app_id: stage.appId, statement: `select * from ${view} limit 0` };
    const { data } = await stage.site.api("analysis/sql", body);
    expect([...columns].sort(), view).toEqual([...data.columns].sort());
  }
});

test("the events to choose from include all presets", () => {
  expect([...PRESET_EVENTS].sort()).toEqual([...SERVER_PRESETS].sort());
});

test("suggestions begin like the word at the caret, and a complete word has none", () => {
  const names = ["events", "event", "event_id", "day"].map((name) => ({ name, text: name }));
  const suggested = (statement: string) =>
    suggestionsFor(names, wordBefore(statement, statement.length)).map(({ name }) => name);
  expect(suggested("select ev")).toEqual(["events", "event", "event_id"]);
  expect(suggested("select EVENT_")).toEqual(["event_id"]);
  expect(suggested("select day")).toEqual([]);
  expect(suggested("select e")).toEqual([]);
  expect(suggested("select event ")).toEqual([]);
});

test("says so when the server has no lake", async () => {
  const site = await ConsoleTest.shared();
  const app = await site.server.createApp();
  const visit = await site.visit();
  await visit.open(`/sql?app=${app.appId}`);
  await visit.page.getByRole("heading", { name: "This server has no lake" }).waitFor();
});
