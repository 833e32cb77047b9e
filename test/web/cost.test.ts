import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { CostRow } from "../../sim/platforms/costs.ts";
import { startKuaishou } from "../../sim/platforms/kuaishou.ts";
import { type OceanEngineStandIn, startOceanEngine } from "../../sim/platforms/ocean-engine.ts";
import type { App } from "../../src/db/app.ts";
import { addDays, calendarOf } from "../../src/domain/calendar.ts";
import { ACCOUNT_PLATFORMS, accountFieldsOf } from "../../src/platform/account.ts";
import { FIELD_TEXTS } from "../../web/src/pages/cost/account-field-texts.ts";
import { ACCESS, ACCOUNT, spent } from "../cost/stage.ts";
import { untilTodayLasts } from "../support/midnight.ts";
import { ConsoleTest, LastingVisit, type Visit } from "./browser.ts";

await untilTodayLasts();
const TODAY = calendarOf("Asia/Shanghai").dayOf(Date.now());
const HEADER = "date,ad_platform,advertiser_id,aid,impressions,clicks,cost";

let site: ConsoleTest;
let app: App;
/** An app without costs until a test pulls some. */
let other: App;
let engine: OceanEngineStandIn;

beforeAll(async () => {
  const days = Array.from({ length: 12 }, (_, back) => addDays(TODAY, -back));
  const costs: CostRow[] = days.flatMap((day, at) => [spent(day, 1, 12_345 + at), spent(day, 2, 6_600)]);
  engine = await startOceanEngine({ costs });
  site = await ConsoleTest.shared();
  app = await site.server.createApp({ name: "Idle Farm" });
  other = await site.server.createApp({ name: "Managed" });
  const { settings, secrets } = ACCESS.bytedance(engine);
  const key = { app_id: app.appId, ad_platform: "bytedance", advertiser_id: ACCOUNT };
  await change("accounts/set", { ...key, settings, secrets, postbacks: "off", costs: "on" });
  const lines = days.map((day, at) => `${day},tencent,7788,a-${at},${1000 * at},${10 * at},${100 + at}.25`);
  await change("cost/import", { app_id: app.appId, csv: [HEADER, ...lines].join("\n") });
  await change("advertiser/import", { csv: "ad_platform,advertiser_id,name\ntencent,7788,腾讯一号\n" });
});

afterAll(() => engine.close());

const lasting = new LastingVisit(() => site);

async function change(path: string, body: object): Promise<void> {
  expect(await site.api(path, body)).toMatchObject({ code: 0 });
}

const addressOf = (tab: string, { appId } = app) => `/cost?app=${appId}&tab=${tab}`;
const open = (tab: string): Promise<Visit> => lasting.open(addressOf(tab));

const csvFile = (...lines: string[]) => ({
  name: "costs.csv",
  mimeType: "text/csv",
  buffer: Buffer.from([HEADER, ...lines].join("\n")),
});

describe("pulls", () => {
  test("an app without pulled accounts is told what to do", async () => {
    const empty = await site.server.createApp({ name: "Empty" });
    const { page } = await lasting.open(addressOf("pulls", empty));
    await page.getByText("No accounts with cost pulls on").waitFor();
    await page.getByRole("tab", { name: "Costs" }).click();
    await page.getByText("No costs for these dates").waitFor();
  });

  test("a pull shows its progress, goes on without its page, and can be stopped without harm", async () => {
    engine.fail = () => "hang";
    const visit = await open("pulls");
    const { page } = visit;
    const dialog = page.getByRole("dialog");
    await page.getByRole("button", { name: "Pull now…" }).click();
    await dialog.getByLabel("Days").selectOption("Custom range");
    await dialog.getByLabel("To").fill("2999-01-01");
    await dialog.getByRole("button", { name: "Pull" }).click();
    await dialog.getByText("to is in the future.").waitFor();
    await dialog.getByLabel("Days").selectOption("All days that are not final");
    await dialog.getByRole("button", { name: "Pull" }).click();
    await page.getByText(/^Pulling: 0 of \d+ days$/).waitFor();
    await visit.open(addressOf("pulls"));
    await page.getByText(/^Pulling: 0 of \d+ days$/).waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText("The pull was stopped.").waitFor();
    engine.fail = () => undefined;
    await page.getByRole("button", { name: "Pull now…" }).click();
    await dialog.getByRole("button", { name: "Pull" }).click();
    await page.getByText("Pulled", { exact: true }).waitFor();
    await page.getByRole("img", { name: `${TODAY}: pulled, not final, 2 rows, 189.45` }).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  test("show what an account cost beyond its ads, and so do the stored costs", async () => {
    const managed = { isManaged: true, planName: "Managed by Kuaishou" };
    const costs = [spent(TODAY, 1, 10_000), spent(TODAY, 8, 2_345, managed)];
    const kuaishou = await startKuaishou({ costs });
    const { settings, secrets } = ACCESS.kuaishou(kuaishou);
    const key = { app_id: other.appId, ad_platform: "kuaishou", advertiser_id: ACCOUNT };
    await change("accounts/set", { ...key, settings, secrets, postbacks: "off", costs: "on" });
    await change("cost/pull", { app_id: other.appId, from: TODAY, to: TODAY });
    const { page } = await lasting.open(addressOf("pulls", other));
    const label = new RegExp(`^${TODAY}: pulled, not final, 2 rows, 123\\.45, .*; 23\\.45 of it not by ad$`);
    await page.getByRole("img", { name: label }).waitFor();
    await page.getByText(`reports reach back 180 days, to ${addDays(TODAY, -179)}`).waitFor();
    await page.getByRole("tab", { name: "Costs" }).click();
    await page.getByText("23.45 not by ad").waitFor();
    await page.getByRole("button", { name: "Rows" }).click();
    const row = page.getByRole("dialog").getByRole("row", { name: /Managed by Kuaishou/ });
    await expect.poll(() => row.textContent()).toMatch(/not by ad.*23\.45/);
    await kuaishou.close();
  });

  test("are readable in both themes and languages", async () => {
    const visit = await open("pulls");
    await visit.inspect("cost-pulls", (page) => page.getByRole("img").nth(5).waitFor());
  });
});

describe("stored costs", () => {
  test("are readable in both themes and languages, and fit a phone", async () => {
    const visit = await open("costs");
    await visit.inspect("cost", (page) => page.locator("tfoot").waitFor());
    await visit.fitsPhone("cost");
  });

  test("can be filtered, and opened row by row", async () => {
    const visit = await open("costs");
    const { page } = visit;
    await page.getByLabel("Platform").selectOption("Tencent Ads");
    await page.getByText("Page 1 of 1 · 12 rows").waitFor();
    expect(page.url()).toContain("ad_platform=tencent");
    await expect.poll(() => page.locator("tfoot").textContent()).toContain("1,269.00");
    const row = page.locator("tbody tr").first();
    await expect.poll(() => row.textContent()).toMatch(/腾讯一号 · 7788.*100\.25.*File/);
    await row.getByRole("button", { name: "Rows" }).click();
    await page.getByRole("dialog").getByText("a-0").waitFor();
    expect(visit.complaints).toEqual([]);
  });
});

describe("accounts", () => {
  test("are created from the fields that the platform needs; secrets are never shown again", async () => {
    const visit = await open("accounts");
    const { page } = visit;
    const dialog = page.getByRole("dialog");
    await page.getByRole("button", { name: "New account" }).click();
    await dialog.getByLabel("Platform", { exact: true }).selectOption("Tencent Ads");
    await dialog.getByLabel("Pull costs").check();
    await dialog.getByLabel("Access token · access_token").fill("very-secret-token");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("Costs are pulled per advertiser: advertiser_id is missing.").waitFor();
    await dialog.getByLabel("Advertiser ID at the platform").fill("7788");
    await dialog.getByText(/settings that rarely need changing$/).click();
    await dialog.getByLabel("API address · base_url").fill("nowhere");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("base_url must be an address that begins with http:// or https://.").waitFor();
    await dialog.getByLabel("API address · base_url").fill("http://127.0.0.1:9/");
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByText("Account saved.").waitFor();
    const row = page.locator("tbody tr").filter({ hasText: "7788" });
    await expect.poll(() => row.textContent()).toMatch(/Postbacks.*Costs.*base_url, one secret.*no limit/);
    await visit.inspect("cost-accounts", (shown) => shown.getByText("7788").waitFor());
    expect(await page.content()).not.toContain("very-secret-token");
    await row.getByRole("button", { name: "Edit" }).click();
    await dialog.getByText("Set. Type to replace it.").waitFor();
    await expect.poll(() => dialog.getByLabel("Access token · access_token").inputValue()).toBe("");
    await dialog.getByLabel("Maximum calls per second").fill("10001");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText(/^rate must be a whole number/).waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await row.getByRole("button", { name: "Remove" }).click();
    await dialog.getByRole("button", { name: "Remove" }).click();
    await page.getByText("Account removed.").waitFor();
    expect(visit.complaints).toEqual([]);
  });

  test("every field of every platform has a name in both languages", () => {
    const names = ACCOUNT_PLATFORMS.flatMap((platform) => accountFieldsOf(platform).map(({ name }) => name));
    expect(names.filter((name) => !(name in FIELD_TEXTS))).toEqual([]);
  });
});

describe("rebates", () => {
  test("are set, refused when they overlap, changed and removed", async () => {
    const visit = await open("rebates");
    const { page } = visit;
    const dialog = page.getByRole("dialog");
    await page.getByText("No rebates yet").waitFor();
    const fill = async (from: string, cash: string) => {
      await page.getByRole("button", { name: "New rebate" }).click();
      await dialog.getByLabel("Platform", { exact: true }).selectOption("Tencent Ads");
      await dialog.getByLabel("Advertiser ID at the platform").fill("7788");
      await dialog.getByLabel("First day").fill(from);
      await dialog.getByLabel("Cash rebate (%)").fill(cash);
      await dialog.getByRole("button", { name: "Save" }).click();
    };
    await fill("2026-01-01", "200");
    await dialog.getByText("cash_percent must be between 0 and 99.99, with at most 2 decimals.").waitFor();
    await dialog.getByLabel("Cash rebate (%)").fill("12.5");
    await dialog.getByRole("button", { name: "Save" }).click();
    const row = page.locator("tbody tr").filter({ hasText: "7788" });
    await expect.poll(() => row.textContent()).toMatch(/from 2026-01-01 on12\.5 %0 %87\.50/);
    await fill("2026-02-01", "1");
    await dialog.getByText(/^the rebates of tencent 7788 overlap: from 2026-01-01 on and/).waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await visit.inspect("cost-rebates", (shown) => shown.getByText("7788").waitFor());
    await row.getByRole("button", { name: "Edit" }).click();
    await dialog.getByLabel("Last day").fill("2026-06-30");
    await dialog.getByRole("button", { name: "Save" }).click();
    await expect.poll(() => row.textContent()).toContain("2026-01-01 to 2026-06-30");
    await row.getByRole("button", { name: "Remove" }).click();
    await dialog.getByRole("button", { name: "Remove" }).click();
    await page.getByText("No rebates yet").waitFor();
    expect(visit.complaints).toEqual([]);
  });
});

describe("an upload", () => {
  test("is previewed before it is imported: what is new, what it replaces, and its total", async () => {
    const visit = await open("upload");
    const { page } = visit;
    const file = csvFile(`${TODAY},tencent,7788,a-0,5,1,90`, `${TODAY},tencent,7788,b-1,7,2,11.5`);
    const drop = async () => {
      await page.locator("input[type=file]").setInputFiles(file);
      await page.getByText("11.5", { exact: true }).first().waitFor();
    };
    await drop();
    await page.getByText("costs.csv, read as UTF-8").waitFor();
    await expect
      .poll(() => page.locator(".tile").allTextContents())
      .toEqual(["New1", "Replaced1", "Unchanged0", "Cost (CNY)101.50of which already stored: 100.25"]);
    await page.getByRole("heading", { name: "Replaced rows" }).waitFor();
    expect(await page.locator("del").allTextContents()).toContain("100.25");
    await visit.inspect("cost-upload");
    await page.getByRole("button", { name: "Import 2 rows" }).click();
    await page.getByText("2 rows imported.").waitFor();
    await drop();
    await page.getByText("Unchanged2").waitFor();
    expect(visit.complaints).toEqual([]);
  });

  test("with bad lines names each of them, and cannot be imported", async () => {
    const visit = await open("upload");
    const { page } = visit;
    await page.locator("input[type=file]").setInputFiles(csvFile("yesterday,tencent,1,a,,,1", `${TODAY},vivo,1,a,,,x`));
    await page.getByText("2 invalid lines").waitFor();
    await page.getByText("date must look like 2026-11-15").waitFor();
    await page.getByText("cost must be a number with up to 4 decimals").waitFor();
    await expect.poll(() => page.getByRole("button", { name: /^Import/ }).isDisabled()).toBe(true);
    expect(await visit.findings()).toEqual([]);
    expect(visit.complaints).toEqual([]);
  });

  test("may be dropped, larger than a call may be unpacked, and written by a Chinese spreadsheet", async () => {
    const visit = await open("upload");
    const { page } = visit;
    const channel = "长渠道名称".repeat(10);
    const lines = Array.from({ length: 9_000 }, (_, at) => `${TODAY},vivo,9,${at},${channel},0.5`);
    const text = ["date,ad_platform,advertiser_id,aid,channel,cost", ...lines].join("\n");
    const transfer = await page.evaluateHandle((csv) => {
      const { DataTransfer, File } = globalThis as unknown as {
        DataTransfer: new () => { items: { add(file: object): void } };
        File: new (parts: string[], name: string) => object;
      };
      const dropped = new DataTransfer();
      dropped.items.add(new File([csv], "big.csv"));
      return dropped;
    }, text);
    await page.locator(".drop-zone").dispatchEvent("drop", { dataTransfer: transfer });
    await page.getByText("big.csv, read as UTF-8").waitFor();
    await page.getByRole("button", { name: "Import 9,000 rows" }).waitFor();
    await page.getByRole("button", { name: "Choose another file" }).click();
    // "渠道" in GB18030.
    const chinese = Buffer.concat([Buffer.from(`date,channel\n${TODAY},`), Buffer.from([0xc7, 0xfe, 0xb5, 0xc0])]);
    await page.locator("input[type=file]").setInputFiles({ name: "gb.csv", mimeType: "text/csv", buffer: chinese });
    await page.getByText("gb.csv, read as GB18030").waitFor();
    await page.getByText("渠道", { exact: true }).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  test("of refunds names unknown orders, and is imported all the same", async () => {
    const visit = await lasting.open(`${addressOf("upload")}&kind=refund`);
    const { page } = visit;
    const buffer = Buffer.from("order_id,amount,time\nunheard-of,1.50,2026-11-15 08:00:00\n");
    await page.locator("input[type=file]").setInputFiles({ name: "refunds.csv", mimeType: "text/csv", buffer });
    await page.getByText("change nothing until then: unheard-of").waitFor();
    await expect
      .poll(() => page.locator(".tile").allTextContents())
      .toEqual(["New1", "Replaced0", "Unchanged0", "Unknown orders1"]);
    await page.getByRole("button", { name: "Import 1 rows" }).click();
    await page.getByText("1 rows imported.").waitFor();
    expect(visit.complaints).toEqual([]);
  });

  test("has a template for each kind, which the server accepts", async () => {
    const { page } = await open("upload");
    for (const kind of ["cost", "advertiser", "ad-object", "rebate", "refund"]) {
      await page.getByLabel("File contents").selectOption(kind);
      const [download] = await Promise.all([
        page.waitForEvent("download"),
        page.getByRole("button", { name: "Download template" }).click(),
      ]);
      expect(download.suggestedFilename()).toBe(`${kind}-template.csv`);
      const csv = readFileSync(await download.path(), "utf8");
      const { data } = await site.api(`${kind}/import/preview`, { app_id: app.appId, csv });
      expect([data.problems, data.rows.new > 0]).toEqual([[], true]);
    }
  });
});

test("an analyst sees everything and finds nothing to change", async () => {
  const visit = await site.visit({ as: await site.analyst() });
  const { page } = visit;
  await visit.open(addressOf("costs"));
  for (const tab of ["costs", "accounts", "pulls", "upload"]) {
    if (tab !== "costs") await visit.go(addressOf(tab));
    await page.locator(".table-frame, .drop-zone").last().waitFor();
    await expect
      .poll(() => page.getByRole("button", { name: /^(?:New|Edit|Remove|Pull|Stop)/ }).count(), { message: tab })
      .toBe(0);
  }
  await page.locator("input[type=file]").setInputFiles(csvFile(`${TODAY},tencent,7788,c-1,7,2,11.5`));
  await page.getByText("Only an operator or admin can import it.").waitFor();
  await expect.poll(() => page.getByRole("button", { name: /^Import/ }).count()).toBe(0);
});
