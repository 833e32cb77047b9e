import { readFileSync } from "node:fs";
import { parse } from "csv-parse/sync";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { bucketText, edgesOf, sharesOf } from "../../web/src/pages/analysis/distribution/buckets.ts";
import { measureOf, measureText } from "../../web/src/pages/analysis/question/number-of.ts";
import { LakeStage, PLAYERS } from "./lake-stage.ts";
import { count, isDrawn, isSettled } from "./report-stage.ts";

const stage = new LakeStage();
const THIRD = PLAYERS / 3;
const LEVELS = { tab: "distribution", counted: JSON.stringify([{ source: "event", event: "level" }]) };

const cells = async (page: Page) => {
  const rows = await page.locator("table tbody tr").all();
  return Promise.all(rows.map((row) => row.locator("td").allInnerTexts()));
};
const tiles = (page: Page) => page.locator(".tile .value").allInnerTexts();

/** The scores of the stage's players, added up by hand. */
const SCORES = Array.from({ length: PLAYERS }, (_, number) =>
  Array.from({ length: 1 + (number % 3) }, (_, nth) => 10 * nth + number).reduce((sum, score) => sum + score, 1),
);

test("a distribution is readable in both themes and languages, and fits a phone", async () => {
  const visit = await stage.open("/analysis", { ...LEVELS, per_user: "sum:property:score" });
  await isSettled(visit.page);
  await isDrawn(visit.page, 1);
  await visit.page.getByText("Show as SQL").click();
  await visit.inspect("distribution");
  await visit.fitsPhone("distribution");
});

test("users are counted by how often and on how many days they did something, and open", async () => {
  const { page } = await stage.open("/analysis", { tab: "distribution" });
  await page.getByLabel("Event", { exact: true }).fill("level");
  const third = String(THIRD);
  await expect
    .poll(() => cells(page))
    .toEqual([
      ["2", third, "33.33%", "33.33%"],
      ["3", third, "33.33%", "66.67%"],
      ["4", third, "33.33%", "100%"],
    ]);
  expect(await tiles(page)).toEqual([String(PLAYERS), "3", "3", "2", "4"]);
  await page.getByRole("button", { name: `3: ${THIRD} users. Show them`, exact: true }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByText(`${THIRD} users`).waitFor();
  expect(await dialog.getByRole("link").first().innerText()).toBe("player-01");
  await dialog.getByRole("button", { name: "Close" }).click();
  await page.getByRole("button", { name: `All users: ${PLAYERS} users. Show them` }).click();
  await dialog.getByText(`${PLAYERS} users`).waitFor();
  await dialog.getByRole("button", { name: "Close" }).click();
  await page.getByLabel("Count", { exact: true }).selectOption("Days with it");
  await expect.poll(() => cells(page)).toEqual([["2", String(PLAYERS), "100%", "100%"]]);
});

test("a sum asks for its number, has buckets of one's own, and the same address and file for everybody", async () => {
  const { page } = await stage.open("/analysis", LEVELS);
  await page.getByLabel("Count", { exact: true }).selectOption("Sum of a number");
  await page.getByText("A sum adds up a number").waitFor();
  await page.getByLabel("Number").selectOption("score");
  const mean = SCORES.reduce((sum, score) => sum + score) / PLAYERS;
  await expect.poll(async () => (await tiles(page))[1]).toBe(count.format(mean));
  await page.getByLabel("Buckets begin at").fill("10, 40");
  await page.getByLabel("Buckets begin at").press("Enter");
  const within = (from: number, until: number) =>
    String(SCORES.filter((score) => score >= from && score < until).length);
  const numbers = [within(0, 10), within(10, 40), within(40, Number.POSITIVE_INFINITY)];
  const shown = async (shownOn: Page) => (await cells(shownOn)).map(([name, users]) => [name, users]);
  const expected = ["< 10", "10 – < 40", "≥ 40"].map((name, index) => [name, numbers[index]]);
  await expect.poll(() => shown(page)).toEqual(expected);
  const other = await stage.site.visit();
  await other.page.goto(page.url());
  await expect.poll(() => shown(other.page)).toEqual(expected);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download CSV" }).click(),
  ]);
  expect(parse(readFileSync(await download.path()), { bom: true })).toEqual([
    ["From", "Below", "Users"],
    ["", "10", numbers[0]],
    ["10", "40", numbers[1]],
    ["40", "", numbers[2]],
  ]);
});

test("edges that the server refuses are told at the field, and an answer without users says what to change", async () => {
  const { page } = await stage.open("/analysis", { ...LEVELS, edges: "5, 1" });
  const edges = page.getByLabel("Buckets begin at");
  await expect.poll(() => page.getByRole("alert").innerText()).toBe("edges must ascend: 1 is not above 5.");
  expect(await edges.getAttribute("aria-invalid")).toBe("true");
  await edges.fill("many");
  await edges.press("Enter");
  await expect
    .poll(() => page.getByRole("alert").innerText())
    .toBe("Write numbers with commas between them, such as 1, 5, 10.");
  await edges.fill("");
  await edges.press("Enter");
  await page.getByRole("button", { name: /^All users/ }).waitFor();
  await page.getByLabel("Event", { exact: true }).fill("never-sent");
  await page.getByLabel("Event", { exact: true }).press("Enter");
  await page.getByRole("heading", { name: "No user did this in the range" }).waitFor();
});

test("a distribution is asked and saved as a view in Chinese too", async () => {
  const visit = await stage.open("/analysis", LEVELS);
  await isSettled(visit.page);
  await visit.look({ theme: "light", language: "zh" });
  const { page } = visit;
  await page.getByLabel("统计", { exact: true }).selectOption("天数");
  await page.getByRole("button", { name: `2：${PLAYERS} 个用户，查看用户` }).waitFor();
  await page.getByRole("button", { name: "视图" }).click();
  await page.getByRole("button", { name: "另存为视图…" }).click();
  await page.getByLabel("视图名称").fill("活跃天数");
  await page.getByRole("button", { name: "保存", exact: true }).click();
  await page.getByRole("button", { name: "活跃天数" }).waitFor();
  const again = await stage.open("/analysis");
  await again.page.getByRole("button", { name: "Views" }).click();
  await again.page.getByRole("button", { name: "活跃天数" }).click();
  await expect.poll(() => cells(again.page)).toEqual([["2", String(PLAYERS), "100%", "100%"]]);
});

test.each([
  [{ from: 3, until: 4 }, "times", "3"],
  [{ from: 6, until: 11 }, "days", "6–10"],
  [{ from: 1.5, until: 3 }, "times", "1.5 – < 3"],
  [{ from: 10, until: 20 }, "sum", "10 – < 20"],
  [{ from: 0.001, until: null }, "sum", "≥ 0.001"],
  [{ from: null, until: -5 }, "sum", "< -5"],
] as const)("the bucket %o of %s reads %s", (bucket, measure, text) => {
  expect(bucketText(bucket, measure, String)).toBe(text);
});

test("edges and measures are read from what people write and from addresses", () => {
  expect(edgesOf("1, 5；10\t-2.5")).toEqual([1, 5, 10, -2.5]);
  expect(edgesOf(" ")).toEqual([]);
  expect(edgesOf("1, x")).toBeUndefined();
  const measures = ["times", "sum"] as const;
  const sum = { measure: "sum", property: "a:b" } as const;
  expect(measureOf(measureText(sum), measures)).toEqual(sum);
  expect(measureOf("sum", measures)).toEqual({ measure: "sum" });
  expect(measureOf("median", measures)).toBeUndefined();
});

test("shares of buckets add up to all users", () => {
  const buckets = [1, 3].map((users) => ({ from: users, until: users + 1, users }));
  expect(sharesOf(buckets, 4)).toEqual([
    { share: 0.25, upTo: 0.25 },
    { share: 0.75, upTo: 1 },
  ]);
});
