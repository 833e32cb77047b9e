import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import type { Visit } from "./browser.ts";
import { dayOf, ResultsStage, rowsOf } from "./results-stage.ts";

const stage = new ResultsStage();

const isShown = (page: Page) => rowsOf(page).first().waitFor();

async function open(path: string): Promise<Visit> {
  const visit = await stage.open(path);
  await isShown(visit.page);
  return visit;
}

/** The texts of one column, from the top. */
async function column(page: Page, title: string): Promise<string[]> {
  const titles = await page.locator("table thead th").allInnerTexts();
  const at = titles.findIndex((text) => text.trim() === title) + 1;
  expect(at, title).toBeGreaterThan(0);
  return page.locator(`table tbody tr td:nth-child(${at})`).allInnerTexts();
}

const LISTS = [
  ["orders", "/orders", "TraceID", "Order ID"],
  ["users", "/users", "ClientID", "Client ID"],
] as const;

describe.each(LISTS)("the list of %s", (list, path, key, title) => {
  test("is readable in both themes and languages, and fits a phone", async () => {
    const visit = await open(`${path}?size=20`);
    await visit.inspect(list, isShown);
    await visit.fitsPhone(list);
    expect(visit.complaints).toEqual([]);
  });

  test("shows the server's rows, newest first, and turns pages", async () => {
    const { page } = await open(`${path}?size=20`);
    const sort = { field: list === "orders" ? "PayEventTime" : "CreateTime", sort: 1 };
    const { list: records, page_info } = await stage.asked(list, { order_by_list: [sort] });
    const ids = records.map((record) => record[key]);
    expect(await column(page, title)).toEqual(ids.slice(0, 20));
    await page.getByRole("button", { name: "Next" }).click();
    await page.getByText("Page 2 of").waitFor();
    await expect.poll(() => column(page, title)).toEqual(ids.slice(20, 40));
    const last = Math.ceil(page_info.total_number / 20);
    await page.getByLabel("Go to page").fill(String(last));
    await page.getByRole("button", { name: "Go", exact: true }).click();
    await expect.poll(() => column(page, title)).toEqual(ids.slice((last - 1) * 20));
    expect(new URL(page.url()).searchParams.get("page")).toBe(String(last));
  });

  test("is sorted by clicking the head of a column, which the address reflects", async () => {
    const { page } = await open(`${path}?size=20`);
    const [shown, field] = list === "orders" ? ["Amount", "Amount"] : ["Total paid", "user$pay_amount_sum"];
    await page.getByRole("button", { name: new RegExp(`^${shown}`) }).click();
    const { list: records } = await stage.asked(list, { order_by_list: [{ field, sort: 1 }], page_size: 20 });
    const amounts = records.map((record) => money(record[field!]));
    await expect.poll(() => column(page, shown)).toEqual(amounts);
    expect(new URL(page.url()).searchParams.get("sort")).toBe(`${field}.desc`);
    await open(`${path}?size=20&sort=${field}.desc`);
    await expect.poll(() => column(page, shown)).toEqual(amounts);
  });
});

describe.each(LISTS)("the content of the list of %s", (list, path) => {
  test("is exported to CSV: every row that the filters match, with every column", async () => {
    const filters = { user: { ad_platform_list: ["tencent", "natural"] }, event: {}, conditions: [] };
    const { page } = await open(`${path}?size=20&filters=${encodeURIComponent(JSON.stringify(filters))}`);
    const { page_info } = await stage.asked(list, { user_filtering: filters.user });
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: "CSV" }).click();
    await page.getByText(`${page_info.total_number} rows exported.`).waitFor();
    const download = await downloading;
    expect(download.suggestedFilename()).toMatch(new RegExp(`^${list}-${stage.appId}-\\d{4}-\\d\\d-\\d\\d\\.csv$`));
    const lines = readFileSync(await download.path(), "utf8")
      .trimEnd()
      .split("\n");
    expect(lines).toHaveLength(page_info.total_number + 1);
    expect(lines[0]!.split(",").length).toBeGreaterThan(45);
  });
});

test("a list has the chosen columns, which the browser remembers", async () => {
  const { page } = await open("/orders?size=20");
  await page.getByRole("button", { name: "Columns" }).click();
  await page.getByRole("button", { name: "Remove: Channel" }).click();
  await page.getByLabel("Find a column").fill("ad revenue, first");
  await page.getByRole("button", { name: "Add: Ad revenue, first 24 h" }).click();
  await page.getByRole("button", { name: "Move left: Ad revenue, first 24 h" }).click();
  await page.getByRole("button", { name: "Apply" }).click();
  const titles = async () => (await page.locator("table thead th").allInnerTexts()).map((text) => text.trim());
  await expect.poll(titles).toContain("Ad revenue, first 24 h");
  expect(await titles()).not.toContain("Channel");
  await page.reload();
  await isShown(page);
  expect((await titles()).at(-2)).toBe("Ad revenue, first 24 h");
  await page.getByRole("button", { name: "Columns" }).click();
  await page.getByRole("button", { name: "Reset to default" }).click();
  await page.getByRole("button", { name: "Apply" }).click();
  await expect.poll(titles).toContain("Channel");
});

test("a list opened on a phone is readable there", async () => {
  const visit = await stage.site.visit({ size: "phone" });
  await visit.open(stage.addressOf("/orders?size=20"));
  await isShown(visit.page);
  expect(await visit.findings("shape")).toEqual([]);
  await visit.fitsPhone("orders-opened");
  expect(visit.complaints).toEqual([]);
});

test("keeps exporting when the page behind it renders again", async () => {
  const visit = await open("/orders?size=20");
  const { page } = visit;
  let exports = 0;
  page.on("request", (request) => {
    if (request.url().endsWith("/export")) exports += 1;
  });
  await page.getByRole("button", { name: "CSV" }).click();
  await page.getByText("rows exported.").waitFor();
  await visit.look({ theme: "dark", language: "zh" });
  await visit.look({ theme: "light", language: "en" });
  await page.getByText("rows exported.").waitFor();
  expect(exports).toBe(1);
});

const money = (cents: number) => new Intl.NumberFormat("en-GB", { minimumFractionDigits: 2 }).format(cents / 100);

const DAY_MS = 86_400_000;
const [FROM, TO] = [dayOf(Date.now() - 400 * DAY_MS), dayOf(Date.now() + DAY_MS)];

describe("filters", () => {
  const dialog = (page: Page) => page.getByRole("dialog", { name: "Filter" });

  test("are readable in both themes and languages", async () => {
    const visit = await open("/orders?size=20");
    await visit.inspect("orders-filter", async (page) => {
      await isShown(page);
      await page.locator("header .button").first().click();
      await page.locator("dialog form").waitFor();
    });
  });

  test("of every kind can be filled in, applied, shown in words, and removed", async () => {
    const visit = await open("/orders");
    const { page } = visit;
    const all = await rowsOf(page).count();
    await page.getByRole("button", { name: "Filter" }).click();
    const form = dialog(page);
    await form.getByLabel("Platform").fill("tencent");
    await form.getByLabel("Platform").press("Enter");
    await form.getByLabel("Platform").fill("natural, kuaishou,");
    await form.getByRole("group", { name: "Amount", exact: true }).getByLabel("from").fill("6");
    await form.getByRole("group", { name: "Registered" }).getByLabel("from").fill(FROM);
    await form.getByRole("group", { name: "Registered" }).getByLabel("to").fill(TO);
    await form.getByLabel("Nth payment").fill("1");
    await form.getByRole("button", { name: "Add condition" }).click();
    await form.getByLabel("Property").fill("user$pay_count");
    await form.getByLabel("Condition").last().selectOption("between");
    await form.locator(".condition").getByLabel("from").fill("1");
    await form.locator(".condition").getByLabel("to").fill("99");
    await form.getByRole("button", { name: "Apply" }).click();
    await dialog(page).waitFor({ state: "detached" });
    const wanted = {
      user_filtering: {
        ad_platform_list: ["tencent", "natural", "kuaishou"],
        create_date_list: [FROM, TO],
      },
      event_filtering: { Amount: { operator: "between", values: [600, 999_999_999_999] }, PayCount: ["1"] },
      property_condition: [{ field: "user$pay_count", operator: "between", values: [1, 99] }],
    };
    const { page_info } = await stage.asked("orders", wanted);
    expect(page_info.total_number).toBeGreaterThan(0);
    expect(page_info.total_number).toBeLessThan(all);
    await expect.poll(() => rowsOf(page).count()).toBe(page_info.total_number);
    const words = await page.locator(".chips").textContent();
    for (const word of ["Tencent Ads, Organic, Kuaishou", "≥ 6.00", `${FROM} – ${TO}`, "is between 1 – 99"])
      expect(words).toContain(word);
    await page.getByRole("button", { name: "Remove filter: Platform" }).click();
    const { page_info: more } = await stage.asked("orders", {
      ...wanted,
      user_filtering: { create_date_list: wanted.user_filtering.create_date_list },
    });
    await expect.poll(() => rowsOf(page).count()).toBe(more.total_number);
    await page.getByRole("button", { name: "Clear all" }).click();
    await expect.poll(() => rowsOf(page).count()).toBe(all);
    expect(visit.complaints).toEqual([]);
  });

  test("take a number digit by digit, and emptied days are no filter", async () => {
    const { page } = await open("/orders?size=20");
    await page.getByRole("button", { name: "Filter" }).click();
    const form = dialog(page);
    await form.getByRole("button", { name: "Add condition" }).click();
    await form.getByLabel("Property").fill("user$level");
    await form.locator(".condition").getByLabel("Value").pressSequentially("1.05");
    const registered = form.getByRole("group", { name: "Registered" });
    await registered.getByLabel("from").fill(FROM);
    await registered.getByLabel("to").fill(TO);
    await registered.getByLabel("from").fill("");
    await registered.getByLabel("to").fill("");
    await form.getByRole("button", { name: "Apply" }).click();
    await form.waitFor({ state: "detached" });
    const filters = JSON.parse(new URL(page.url()).searchParams.get("filters")!);
    expect(filters).toEqual({
      user: {},
      event: {},
      conditions: [{ field: "user$level", operator: "equal", values: [1.05] }],
    });
  });

  test("of the user list include postbacks, and say so when nobody matches", async () => {
    const { page } = await open("/users");
    await page.getByRole("button", { name: "Filter" }).click();
    const postback = dialog(page).getByRole("group", { name: "Postback" });
    await postback.getByLabel("Type").selectOption("pay");
    await postback.getByLabel("Postback").selectOption("Skipped");
    await dialog(page).getByRole("button", { name: "Apply" }).click();
    const { page_info } = await stage.asked("users", {
      event_filtering: { postback_filtering: { event_type: "pay", status: "3" } },
    });
    await expect.poll(() => rowsOf(page).count()).toBe(page_info.total_number);
    await page.getByText("pay: Skipped").waitFor();
    await page.getByRole("button", { name: "Filter (1)" }).click();
    await dialog(page).getByLabel("Client ID").fill("nobody");
    await dialog(page).getByRole("button", { name: "Apply" }).click();
    await page.getByText("No results match these filters").waitFor();
  });

  test("refused by the server show its message; a nonsensical address filters nothing", async () => {
    const wrong = { user: { create_date_list: ["2026-02-30", "2026-03-01"], gid_list: 5 }, event: {}, conditions: [] };
    const visit = await stage.open(`/users?filters=${encodeURIComponent(JSON.stringify(wrong))}`);
    await visit.page.getByRole("alert").getByText("create_date_list").waitFor();
    await open("/users?filters=%7Bnonsense&sort=&page=minus&size=x");
    await expect.poll(() => visit.page.locator(".chips").count()).toBe(0);
  });
});

describe("the search", () => {
  test("finds a user by any id and leads to the user's page", async () => {
    const payer = (await stage.asked("orders")).list[0]!;
    const { page } = await open("/users");
    await page.getByLabel("Find a user").fill(` ${payer.TraceID} `);
    await page.getByRole("button", { name: "Find", exact: true }).click();
    const found = page.getByRole("region", { name: "Users found" });
    await found.getByText("Order", { exact: true }).waitFor();
    await found.getByRole("link", { name: payer.ClientID }).click();
    await page.getByRole("heading", { name: payer.ClientID }).waitFor();
  });

  test("says so when nobody has an id", async () => {
    const { page } = await open("/users?find=no-such-id");
    await page.getByText("No user has this ID").waitFor();
  });
});

test("a renamed campaign has its new name in the lists at once", async () => {
  const { page } = await open("/orders");
  await expect.poll(() => column(page, "Campaign")).toContain("Spring sale");
  await page.getByRole("link", { name: "Campaigns" }).click();
  await page.locator("tbody tr").filter({ hasText: "Spring sale" }).getByRole("button", { name: "Edit" }).click();
  await page.getByRole("dialog").getByLabel("Name").fill("Winter sale");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Campaign saved.").waitFor();
  await page.getByRole("link", { name: "Orders" }).click();
  await isShown(page);
  await expect.poll(() => column(page, "Campaign")).toContain("Winter sale");
});

test("an app without users says what to do next", async () => {
  const app = await stage.site.server.createApp({ name: "Empty" });
  const visit = await stage.site.visit();
  await visit.open(`/orders?app=${app.appId}`);
  for (const title of ["No orders yet", "No users yet"]) {
    if (title === "No users yet") await visit.go(`/users?app=${app.appId}`);
    await visit.page.getByRole("heading", { name: title }).waitFor();
    await expect.poll(() => visit.page.getByRole("button", { name: "CSV" }).isDisabled()).toBe(true);
  }
  expect(visit.complaints).toEqual([]);
});
