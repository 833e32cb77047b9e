import { readFileSync } from "node:fs";
import { parse } from "csv-parse/sync";
import { expect, test } from "vitest";
import { shareOver, valueOver } from "../../web/src/pages/analysis/retention/retention-share.ts";
import { LakeStage, PLAYERS } from "./lake-stage.ts";
import { isDrawn, isSettled } from "./report-stage.ts";

const stage = new LakeStage();

const LEVEL = { source: "event", event: "level" };
const STEPS = { tab: "funnel", steps: JSON.stringify([LEVEL, { source: "order" }]) };
const RETURNS = { tab: "retention", from_to: JSON.stringify([LEVEL, LEVEL]) };

test("a funnel is readable in both themes and languages, and fits a phone", async () => {
  const visit = await stage.open("/analysis", { ...STEPS, users_by: "ad_platform" });
  await isSettled(visit.page);
  await visit.page.locator(".funnel li").nth(1).waitFor();
  await visit.inspect("funnel");
  await visit.fitsPhone("funnel");
});

test("a funnel is made of steps, and those who stopped open", async () => {
  const { page } = await stage.open("/analysis", { tab: "funnel" });
  await page.getByLabel("Event", { exact: true }).fill("level");
  const reached = (step: string, users: number) =>
    page.getByRole("button", { name: `${step}: ${users} users reached it. Show them` });
  await reached("1 level", PLAYERS).waitFor();
  await reached("2 Orders", PLAYERS / 3).waitFor();
  await page.getByRole("button", { name: /stopped here, after 1 level/ }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText(`${(PLAYERS / 3) * 2} users`).waitFor();
  expect(await dialog.getByRole("link").first().innerText()).toBe("player-01");
  await dialog.getByRole("button", { name: "Close" }).click();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download CSV" }).click(),
  ]);
  expect(parse(readFileSync(await download.path()), { bom: true })).toEqual([
    ["Group", "1 level", "2 Orders"],
    ["all", String(PLAYERS), String(PLAYERS / 3)],
  ]);
  await page.getByRole("button", { name: "Add step" }).click();
  await page.getByRole("button", { name: "Remove step 3" }).click();
  await reached("2 Orders", PLAYERS / 3).waitFor();
});

test("retention is readable in both themes and languages, and fits a phone", async () => {
  const visit = await stage.open("/analysis", { ...RETURNS, users_by: "ad_platform" });
  await isSettled(visit.page);
  await isDrawn(visit.page, 1);
  await visit.inspect("retention");
  await visit.fitsPhone("retention");
});

test("a cohort counts in a period only once that has begun", () => {
  const cohorts = [
    { cohort: "2024-01-01", users: 10, returned: [10, 5, 2] },
    { cohort: "2024-01-02", users: 30, returned: [30, 9, 0] },
  ];
  const isBegun = (cohort: string, period: number) => (cohort === "2024-01-01" ? period <= 1 : period === 0);
  expect([0, 1, 2].map((period) => shareOver({ cohorts }, period, isBegun))).toEqual([1, 0.5, undefined]);
  const valued = cohorts.map((one) => ({ ...one, values: [20, 5, 7] }));
  expect([0, 1, 2].map((period) => valueOver({ cohorts: valued }, period, isBegun))).toEqual([1, 2.5, undefined]);
});

test("retention shows who came back, day by day, and opens to them", async () => {
  const { page } = await stage.open("/analysis", RETURNS);
  const row = page.locator(".heat-map tr", { hasText: stage.days.from });
  const shown = ["12", "100%", "100%", "", "", "", "", "", ""];
  await expect.poll(() => row.locator("td").allInnerTexts()).toEqual(shown);
  // Days that have not come are not days on which nobody came back.
  expect(await page.locator(".heat-all td").allInnerTexts()).toEqual(shown);
  await row.getByRole("button", { name: /Day 1: 12 users/ }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText(`${PLAYERS} users`).waitFor();
  await dialog.getByRole("button", { name: "Close" }).click();
  await page.getByLabel("Periods").selectOption("Weeks");
  await page.getByRole("columnheader", { name: "Week 7" }).waitFor();
});

test("retention shows what users are worth, cumulated, and opens to those who came back", async () => {
  const { page } = await stage.open("/analysis", RETURNS);
  const row = page.locator(".heat-map tr", { hasText: stage.days.from });
  const rest = ["", "", "", "", "", ""];
  await page.getByLabel("Show", { exact: true }).selectOption("Times per user, cumulated");
  // One level each on the first day, two on average on the second.
  await expect.poll(() => row.locator("td").allInnerTexts()).toEqual(["12", "1", "3", ...rest]);
  await page.getByRole("region", { name: "Then" }).getByLabel("Of", { exact: true }).selectOption("Orders");
  await page.getByLabel("Show", { exact: true }).selectOption("Sum per user, cumulated (LTV)");
  await page.getByText("A sum adds up a number").waitFor();
  await page.getByLabel("Number").selectOption("Paid, in cents");
  const worth = String((600 * (PLAYERS / 3)) / PLAYERS);
  await expect.poll(() => row.locator("td").allInnerTexts()).toEqual(["12", "0", worth, ...rest]);
  await row
    .getByRole("button", { name: new RegExp(`^${worth} per user, .*, until Day 1: ${PLAYERS / 3} users`) })
    .click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText(`${PLAYERS / 3} users`).waitFor();
  await dialog.getByRole("button", { name: "Close" }).click();
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download CSV" }).click(),
  ]);
  const [head, all] = parse(readFileSync(await download.path()), { bom: true }) as string[][];
  const figures = Object.fromEntries(head!.map((name, index) => [name, all![index]]));
  expect(figures).toMatchObject({
    Users: String(PLAYERS),
    "Came back in period 1": String(PLAYERS / 3),
    "In period 1": String(600 * (PLAYERS / 3)),
    "Per user until period 7": worth,
  });
});

test("the value of cohorts is readable in both themes and languages, and fits a phone", async () => {
  const visit = await stage.open("/analysis", { ...RETURNS, users_by: "ad_platform", value: "sum:property:score" });
  await isSettled(visit.page);
  await isDrawn(visit.page, 1);
  await visit.inspect("retention-value");
  await visit.fitsPhone("retention-value");
});
