import { beforeAll, expect, test } from "vitest";
import type { App } from "../../src/db/app.ts";
import { calendarOf } from "../../src/domain/calendar.ts";
import { untilTodayLasts } from "../support/midnight.ts";
import { ConsoleTest, LastingVisit, type Visit } from "./browser.ts";

await untilTodayLasts();
const TODAY = calendarOf("Asia/Shanghai").dayOf(Date.now());

let site: ConsoleTest;
let app: App;
beforeAll(async () => {
  site = await ConsoleTest.shared();
  app = await site.server.createApp({ name: "Ad game" });
  await site.server.register(app, "player");
  await site.server.collect(app, "player", [
    { type: "track", event: "$AdShow", time: Date.now(), properties: { $ad_unit_id: "adunit-1" } },
  ]);
  await site.server.settle();
});

const lasting = new LastingVisit(() => site);
const open = (tab: string): Promise<Visit> => lasting.open(`/ad-revenue?app=${app.appId}&tab=${tab}`);

test("eCPMs are set, refused when they overlap, changed and removed, and the comparison shows the estimate", async () => {
  const visit = await open("ecpms");
  const { page } = visit;
  const dialog = page.getByRole("dialog");
  await page.getByText("No eCPMs yet").waitFor();
  const fill = async (from: string, ecpm: string) => {
    await page.getByRole("button", { name: "New eCPM" }).click();
    await dialog.getByLabel("Ad unit ID").fill("adunit-1");
    await dialog.getByLabel("First day").fill(from);
    await dialog.getByLabel("eCPM (CNY)").fill(ecpm);
    await dialog.getByRole("button", { name: "Save" }).click();
  };
  await fill("2026-01-01", "200000");
  await dialog.getByText("ecpm must be between 0 and 100000, with at most 3 decimals.").waitFor();
  await dialog.getByLabel("eCPM (CNY)").fill("35.5");
  await dialog.getByRole("button", { name: "Save" }).click();
  const row = page.locator("tbody tr").filter({ hasText: "adunit-1" });
  await expect.poll(() => row.textContent()).toMatch(/adunit-1from 2026-01-01 on35\.5/);
  await fill("2026-02-01", "1");
  await dialog.getByText(/^the periods of ad unit adunit-1 overlap: from 2026-01-01 on and/).waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await visit.inspect("ad-revenue-ecpm", (shown) => shown.getByText("adunit-1").waitFor());
  await row.getByRole("button", { name: "Edit" }).click();
  await dialog.getByLabel("eCPM (CNY)").fill("1000");
  await dialog.getByRole("button", { name: "Save" }).click();
  await expect.poll(() => row.textContent()).toContain("on1000");
  await page.getByRole("tab", { name: "Comparison" }).click();
  const compared = page.locator("tbody tr").filter({ hasText: "adunit-1" });
  await expect.poll(() => compared.textContent()).toBe(`${TODAY}adunit-1100.000.001.001.00––`);
  await visit.inspect("ad-revenue", (shown) => shown.getByText("adunit-1").waitFor());
  await page.getByRole("tab", { name: "eCPM" }).click();
  await row.getByRole("button", { name: "Remove" }).click();
  await dialog.getByRole("button", { name: "Remove" }).click();
  await page.getByText("No eCPMs yet").waitFor();
  expect(visit.complaints).toEqual([]);
});
