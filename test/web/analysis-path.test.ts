import { readFileSync } from "node:fs";
import { parse } from "csv-parse/sync";
import type { Page } from "playwright-core";
import { beforeAll, expect, test } from "vitest";
import type { PathAnswer } from "../../src/contract/analysis/path.ts";
import { BAR_WIDTH, layoutOf } from "../../web/src/pages/analysis/path/sankey-layout.ts";
import { DAY_MS, HOUR_MS, track } from "../http/fixture.ts";
import { collect, register } from "../http/report/list-people.ts";
import { eventually } from "../support/patience.ts";
import { LakeStage } from "./lake-stage.ts";
import { isSettled } from "./report-stage.ts";

const stage = new LakeStage();

/** What each client does in its sessions, a minute from event to event. */
const SESSIONS: readonly (readonly [client: string, events: string])[] = [
  ["ann", "login level"],
  ["ann", "login shop pay"],
  ["bob", "login shop"],
  ["cat", "login level level"],
  ["dan", "login level shop pay"],
  ["eve", "login"],
];

let app = "";
const QUESTION = { event: "login", direction: "after", gap_minutes: 30, levels: 4 };

beforeAll(async () => {
  const made = await stage.site.server.createApp();
  app = String(made.appId);
  const nowMs = Date.now();
  for (const [index, [client, names]] of SESSIONS.entries()) {
    if (SESSIONS.findIndex(([one]) => one === client) === index)
      await register(stage.site.server, made, client, { active_time: nowMs - DAY_MS, click_company: "" });
    const beginsMs = nowMs - (SESSIONS.length - index) * HOUR_MS;
    const events = names.split(" ").map((name, minute) => ({
      ...track(name, {}, beginsMs + minute * 60_000),
      time_free: true,
    }));
    await collect(stage.site.server, made, client, ...events);
  }
  const question = { date_list: [stage.days.from, stage.days.to], ...QUESTION };
  await eventually(async () => {
    const { data } = await stage.site.api("analysis/path", { app_id: Number(app), question });
    expect(data.answer?.nodes[0]?.sessions).toBe(SESSIONS.length);
  });
});

const LOGIN = { tab: "path", start: JSON.stringify([{ source: "event", event: "login" }]) };
const open = (query: Record<string, string> = {}) => stage.open("/analysis", { app, ...LOGIN, ...query });
const nodes = (page: Page) => page.locator(".sankey-node").allInnerTexts();
const nodeButton = (page: Page, name: string) => page.locator(".sankey").getByRole("button", { name });

test("paths are readable in both themes and languages, and fit a phone", async () => {
  const visit = await open({ branches: "3" });
  await isSettled(visit.page);
  await visit.page.locator(".sankey-node").first().waitFor();
  await visit.inspect("path");
  await visit.fitsPhone("path");
});

test("paths say what follows an event, and the address and the file have it", async () => {
  const { page } = await stage.open("/analysis", { app, tab: "path" });
  await page.getByText("Choose the event where paths begin.").waitFor();
  await page.getByLabel("Event", { exact: true }).fill("login");
  await page.getByLabel("Event", { exact: true }).press("Enter");
  const expected = [
    "login\n6 · 100%",
    "level\n3 · 50%",
    "shop\n2 · 33.33%",
    "level\n1 · 16.67%",
    "pay\n1 · 16.67%",
    "shop\n1 · 16.67%",
    "pay\n1 · 16.67%",
  ];
  await expect.poll(() => nodes(page)).toEqual(expected);
  const other = await stage.site.visit();
  await other.page.goto(page.url());
  await expect.poll(() => nodes(other.page)).toEqual(expected);
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download CSV" }).click(),
  ]);
  expect(parse(readFileSync(await download.path()), { bom: true })).toEqual([
    ["Step", "From", "To", "Sessions"],
    ["Step 1 after", "login", "level", "3"],
    ["Step 1 after", "login", "shop", "2"],
    ["Step 1 after", "login", "Nothing more", "1"],
    ["Step 2 after", "level", "level", "1"],
    ["Step 2 after", "level", "shop", "1"],
    ["Step 2 after", "level", "Nothing more", "1"],
    ["Step 2 after", "shop", "pay", "1"],
    ["Step 2 after", "shop", "Nothing more", "1"],
    ["Step 3 after", "level", "Nothing more", "1"],
    ["Step 3 after", "pay", "Nothing more", "1"],
    ["Step 3 after", "shop", "pay", "1"],
    ["Step 4 after", "pay", "Nothing more", "1"],
  ]);
  await page.getByText("Show as SQL").click();
  await page.getByText("from events").waitFor();
});

test("a node opens to its users by keyboard, a step by its number and by a click on its link", async () => {
  const { page } = await open();
  const dialog = page.getByRole("dialog");
  const ids = async () => {
    await dialog.getByRole("link").first().waitFor();
    const texts = await dialog.getByRole("link").allInnerTexts();
    await dialog.getByRole("button", { name: "Close" }).click();
    return texts;
  };
  await nodeButton(page, "Step 1 after · shop 2 · 33.33% of the sessions · 1 end here. Show the users").press("Enter");
  expect(await ids()).toEqual(["ann", "bob"]);
  await page.getByRole("button", { name: "login → level: 3 sessions. Show the users" }).click();
  expect(await ids()).toEqual(["ann", "cat", "dan"]);
  // The links of the drawing stand in the order of the table: the second one is from login to shop.
  await page.locator(".sankey-link").nth(1).dispatchEvent("click");
  expect(await ids()).toEqual(["ann", "bob"]);
});

test("paths go back from an event as well, show the most frequent events, and speak Chinese", async () => {
  const visit = await open({ start: JSON.stringify([{ source: "event", event: "pay" }]) });
  const { page } = visit;
  await isSettled(page);
  await visit.look({ theme: "dark", language: "zh" });
  await page.getByLabel("展示", { exact: true }).selectOption("前序行为");
  await expect
    .poll(() => nodes(page))
    .toEqual(["pay\n2 · 100%", "shop\n2 · 100%", "level\n1 · 50%", "login\n1 · 50%", "login\n1 · 50%"]);
  // The event itself stands on the right.
  const left = async (name: string) => (await nodeButton(page, name).boundingBox())!.x;
  expect(await left("起点 · pay 2")).toBeGreaterThan(await left("前第 1 步 · shop 2"));
  await nodeButton(page, "前第 2 步 · login 1 · 50% 的会话 · 1 个由此开始，查看用户").press("Enter");
  const dialog = page.getByRole("dialog");
  await dialog.getByText("1 个用户").waitFor();
  expect(await dialog.getByRole("link").allInnerTexts()).toEqual(["ann"]);
});

test("a path question without sessions says what to change, and a refusal its reason", async () => {
  const { page } = await open({ start: JSON.stringify([{ source: "event", event: "never-sent" }]) });
  await page.getByRole("heading", { name: "No session has this event in the range" }).waitFor();
  const filter = { field: "event$bad name", operator: "is_set" };
  await open({ start: JSON.stringify([{ source: "event", event: "login", filter }]) });
  await expect.poll(() => page.getByRole("alert").innerText()).toContain('"bad name" is not a property');
});

const ANSWER: PathAnswer = {
  nodes: [
    { level: 0, event: "a", is_other: false, sessions: 10, ended: 2 },
    { level: 1, event: "b", is_other: false, sessions: 5, ended: 0 },
    { level: 1, event: "", is_other: true, sessions: 3, ended: 0 },
  ],
  links: [
    { level: 0, from: { event: "a", is_other: false }, to: { event: "b", is_other: false }, sessions: 5 },
    { level: 0, from: { event: "a", is_other: false }, to: { event: "", is_other: true }, sessions: 3 },
  ],
};

test("a drawing has heights in proportion to sessions, and nodes that do not overlap", () => {
  const { nodes: placed, links, width, height } = layoutOf(ANSWER, "after", 200);
  const [a, b, other] = placed;
  expect(a!.height / b!.height).toBeCloseTo(2);
  expect(links[0]!.thickness / links[1]!.thickness).toBeCloseTo(5 / 3);
  const leaving = links.reduce((sum, { thickness }) => sum + thickness, 0);
  expect(leaving + a!.ended).toBeCloseTo(a!.height);
  expect(other!.y).toBeGreaterThanOrEqual(b!.y + b!.height);
  expect([a!.x, b!.x, width]).toEqual([0, 200, 400]);
  expect(Math.max(...placed.map(({ y, slot }) => y + slot))).toBe(height);
});

test("a link leaves at the side of the event that is further away", () => {
  const ends = (direction: "after" | "before") =>
    /^M([\d.]+) .* ([\d.]+) [\d.]+$/
      .exec(layoutOf(ANSWER, direction, 200).links[0]!.curve)!
      .slice(1)
      .map(Number);
  expect(ends("after")).toEqual([BAR_WIDTH, 200]);
  expect(ends("before")).toEqual([200, BAR_WIDTH]);
});

test("an answer without sessions is drawn as nothing", () => {
  expect(layoutOf({ nodes: [], links: [] }, "after", 200)).toEqual({ width: 0, height: 0, nodes: [], links: [] });
});
