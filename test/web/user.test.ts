import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../src/db/app.ts";
import { attributedRegistration } from "../http/endpoints.ts";
import { BASE, DAY_MS, HOUR_MS, profile, type Row, track } from "../http/fixture.ts";
import { payment } from "../http/report/list-people.ts";
import { ConsoleTest, LastingVisit, type Visit } from "./browser.ts";

const CAMPAIGN = "campaign-0000001";
const OAID = "1fe9a970-efbb-29e0-0bdd-f5dbbf751ab5";
const IDFA = "6D92078A-8246-4BA4-AE5B-76104861E7DC";
/** An id with every character that could break an address. */
const ODD = "50%25 & more/+?#号";
const EVENTS = 120;

let site: ConsoleTest;
let app: App;

beforeAll(async () => {
  site = await ConsoleTest.shared();
  app = await site.server.createApp({ name: "Space game" });
  await site.api("campaigns/create", { app_id: app.appId, turbo_promoted_object_id: CAMPAIGN, name: "Summer" });
  await site.api("accounts/set", { app_id: app.appId, ad_platform: "vivo", postbacks: "off" });
  const rules = { reattribution: "on", reclick_days: "0", reflux_days: "1", impressions: "on", min_gap: "1m" };
  await site.api("attribution/rules", { app_id: app.appId, rules });
  await makeStar();
  await makeReturned();
  await site.server.register(app, "bare");
  await site.server.register(app, ODD, { name: "Odd" });
  await site.server.settle();
});

const lasting = new LastingVisit(() => site);

async function touch(query: Row, kind: "click" | "impression" = "click"): Promise<void> {
  const given = { app_id: app.appId, track_id: CAMPAIGN, ...query };
  const texts = Object.entries(given).map(([name, value]) => [name, String(value)]);
  expect(await site.server.get(`${BASE}/event/${kind}/`, Object.fromEntries(texts))).toMatchObject({ code: 0 });
}

/** A user who came through a click with rivals of every kind, and who plays and pays a lot. */
async function makeStar(): Promise<void> {
  const now = Date.now();
  const ad = { company: "vivo", oaid: OAID, advertiser_id: "acc-1", aid: "ad-7" };
  await touch({ ...ad, ts: now - 2 * DAY_MS });
  await touch({ ...ad, aid: "ad-6", ts: now - 3 * DAY_MS });
  await touch({ ...ad, ts: now - HOUR_MS }, "impression");
  await touch({ ...ad, company: "oppo", ts: now - 9 * DAY_MS });
  await touch({ ...ad, company: "xiaomi", ts: now - 20_000 });
  await site.server.register(app, "star", {
    name: "Ann",
    wx_openid: "openid-star",
    wx_unionid: "unionid-star",
    device_info: { os_name: "android", oaid: OAID, imei: "A6600000000001", phone_brand: "Redmi", phone_model: "K40" },
  });
  await site.server.collect(app, "star", [
    payment("order-1", 600, { $pay_method: "card" }, now - 3 * HOUR_MS),
    payment("order-2", 12_800, { $pay_method: "wallet" }, now - 2 * HOUR_MS),
    profile("profile_set", { guild: "red", level: 12 }, now - HOUR_MS),
    track("$AdShow", { $ecpm: 35.5, $ad_type: "reward" }, now - HOUR_MS),
    ...Array.from({ length: EVENTS }, (_, index) =>
      track(
        "level_up",
        { level: index, hero: "mage", score: index * 10, $os: "android", zone: "north" },
        now - HOUR_MS - index * 60_000,
      ),
    ),
  ]);
}

/** A user who was organic, left, and came back through a click. */
async function makeReturned(): Promise<void> {
  const longAgo = Date.now() - 40 * DAY_MS;
  await site.server.post("user/register/attributed/", app, {
    ...attributedRegistration("returned"),
    active_time: longAgo,
    click_time: longAgo,
    click_company: "",
    ad_data: {},
    device_info: { os_name: "ios", idfa: IDFA },
  });
  await touch({ company: "vivo", idfa: IDFA, ts: Date.now() - HOUR_MS });
  await site.server.register(app, "returned");
}

const addressOf = (client: string, more: Row = {}) =>
  `/users/user?${new URLSearchParams({ app: String(app.appId), client, ...more })}`;

const open = (client: string, more: Row = {}): Promise<Visit> => lasting.open(addressOf(client, more));

const entries = (page: Page) => page.locator(".timeline-entry");
const hasTimeline = (page: Page) => entries(page).first().waitFor();
const hasCandidates = (page: Page) => page.locator(".window-lane").first().waitFor();

describe("the page of a user", () => {
  test("is readable in both themes and languages on each of its tabs, and fits a phone", async () => {
    const visit = await open("star");
    const { page } = visit;
    await visit.inspect("user-timeline", hasTimeline);
    await visit.fitsPhone("user-timeline");
    await page.getByRole("tab", { name: "Attribution" }).click();
    await visit.inspect("user-source", hasCandidates);
    await visit.fitsPhone("user-source");
    await page.getByRole("tab", { name: "Profile and device" }).click();
    await visit.inspect("user-profile", () => page.getByText("unionid-star").waitFor());
    await visit.fitsPhone("user-profile");
  });

  test("opens on a phone, even at an address with a tab that does not exist", async () => {
    const visit = await site.visit({ size: "phone" });
    await visit.open(addressOf("star", { tab: "unknown" }));
    await visit.page.getByRole("heading", { name: "star" }).waitFor();
    await visit.page.getByRole("tab", { selected: true }).waitFor();
    await visit.fitsPhone("user");
    expect(visit.complaints).toEqual([]);
  });

  test("says who the user is, since when, from where, and what they are worth", async () => {
    const { page } = await open("star");
    await page.getByRole("heading", { name: "star" }).waitFor();
    for (const word of ["Ann", "vivo", "Summer", "android", "134.00", "2 payments"]) {
      await page.getByText(word, { exact: false }).first().waitFor();
    }
    const orders = page.getByRole("link", { name: "Orders of this user" });
    await orders.click();
    await page.getByRole("heading", { name: "Orders", exact: true }).waitFor();
    await expect.poll(() => page.locator("table tbody tr").count()).toBe(2);
  });

  test("of an id with odd characters opens from the list, and stays that user's", async () => {
    const visit = await lasting.open(`/users?app=${app.appId}`);
    await visit.page.getByRole("link", { name: ODD, exact: true }).click();
    await visit.page.getByRole("heading", { name: ODD }).waitFor();
    await visit.page.getByRole("tab", { name: "Profile and device" }).click();
    await visit.page.getByText("No device information received.").waitFor();
    await visit.page.reload();
    await visit.page.getByRole("heading", { name: ODD }).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  test("that does not exist says so in the server's words", async () => {
    const { page } = await open("nobody");
    await page.getByRole("alert").getByText("There is no user with this client_id.").waitFor();
  });
});

describe("the timeline", () => {
  test("is loaded page by page to its very beginning", async () => {
    const { page, complaints } = await open("star");
    await hasTimeline(page);
    await expect.poll(() => entries(page).count()).toBe(50);
    const more = page.getByRole("button", { name: "Load more" });
    for (const shown of [100, 150]) {
      await more.click();
      await expect.poll(() => entries(page).count()).toBeGreaterThanOrEqual(Math.min(shown, EVENTS + 12));
    }
    await page.getByText("Beginning of the timeline.").waitFor();
    // Events, ad, profile; two payments and their events; the registration, five touches, and some postbacks.
    await expect.poll(() => entries(page).count()).toBeGreaterThanOrEqual(EVENTS + 2 + 4 + 6);
    await entries(page).last().getByText("Click · OPPO").waitFor();
    expect(complaints).toEqual([]);
  });

  test("can be filtered by kinds and by the name of an event; properties unfold on demand", async () => {
    const { page } = await open("star");
    await hasTimeline(page);
    await page.getByRole("button", { name: "Orders", exact: true }).click();
    await page.getByRole("button", { name: "Touches" }).click();
    await expect.poll(() => entries(page).count()).toBe(7);
    await entries(page).getByText("Paid 128.00 CNY").waitFor();
    expect(new URL(page.url()).searchParams.get("kinds")).toBe("order,touch");
    await page.getByRole("button", { name: "Everything" }).click();
    await page.getByLabel("Event name").fill("profile_set");
    await page.getByLabel("Event name").press("Enter");
    await expect.poll(() => entries(page).count()).toBe(1);
    await page.getByText("guild: red · level: 12").click();
    await page.locator("dd").getByText("red").waitFor();
    await page.getByLabel("Event name").fill("never_sent");
    await page.getByLabel("Event name").press("Enter");
    await page.getByText("No matching activity").waitFor();
  });

  test("shows a return and its attribution", async () => {
    const { page } = await open("returned");
    await entries(page).getByText("Returned", { exact: true }).waitFor();
    await entries(page).getByText("From vivo, by device ID").waitFor();
  });

  test("shows what was paid back, with the order and beside it", async () => {
    await site.server.register(app, "repaid");
    const paidMs = Date.now() - 2 * HOUR_MS;
    await site.server.collect(app, "repaid", [
      payment("order-back", 600, {}, paidMs),
      track("$RefundEvent", { $order_id: "order-back", $pay_amount: 250 }, paidMs + HOUR_MS),
    ]);
    await site.server.settle();
    const { page, complaints } = await open("repaid");
    await entries(page).getByText("Refunded 2.50 CNY").waitFor();
    await entries(page).getByText("of an order of 6.00, 3.50 left").waitFor();
    await entries(page).getByText("2.50 refunded, 3.50 left").waitFor();
    await page.getByRole("button", { name: "Refunds", exact: true }).click();
    await expect.poll(() => entries(page).count()).toBe(1);
    await entries(page).getByRole("link", { name: "order-back" }).click();
    await page.getByRole("columnheader", { name: "Refunded", exact: true }).waitFor();
    await expect.poll(() => page.locator("table tbody tr").first().textContent()).toContain("2.50");
    expect(complaints).toEqual([]);
  });
});

describe("the source of a user", () => {
  test("is explained with every candidate, in its window, with the reason in plain words of both languages", async () => {
    const visit = await open("star", { tab: "source" });
    const { page } = visit;
    await page.getByRole("heading", { name: "Attributed to vivo, matched by device ID." }).waitFor();
    await hasCandidates(page);
    const rows = await page.locator("table tbody tr").allInnerTexts();
    expect(rows).toHaveLength(5);
    const ofOutcome = (word: string) => rows.find((row) => row.startsWith(word)) ?? "";
    expect(ofOutcome("Won")).toMatch(/This click counts: 2 d(?: \d+ s)? before, inside the window of 7 d\./);
    expect(ofOutcome("A later touch won")).toContain("the last one counts");
    expect(ofOutcome("A click won")).toContain("beats an impression");
    expect(ofOutcome("Too old")).toContain("It was 9 d");
    expect(ofOutcome("Too soon")).toMatch(/only \d+ s before/);
    const lanes = await page
      .locator(".window-lane .touch")
      .evaluateAll((dots: unknown[]) =>
        (dots as { getAttribute(name: string): string }[]).map((dot) => Number.parseFloat(dot.getAttribute("cx"))),
      );
    expect(Math.min(...lanes), "the oldest touch is furthest to the left").toBe(
      lanes[rows.findIndex((row) => row.startsWith("Too old"))],
    );
    await visit.look({ theme: "light", language: "zh" });
    await visit.page.getByRole("heading", { name: "此用户归因于 vivo，通过 设备 ID 匹配。" }).waitFor();
    await visit.page.getByText("匹配方式相同时，点击优先于曝光。").waitFor();
  });

  test("includes every decision for a user who came back", async () => {
    const { page } = await open("returned", { tab: "source" });
    await page.getByRole("heading", { name: "Attributed to vivo" }).waitFor();
    await page.getByLabel("Decision").selectOption("1");
    await page.getByRole("heading", { name: "This user is organic" }).waitFor();
    await page.getByText("The caller reported an organic user.").waitFor();
  });

  test("says what to check for a user without any touch", async () => {
    const { page } = await open("bare", { tab: "source" });
    await page.getByText("No stored touch shares an id with the user").waitFor();
  });
});

describe("erasing a user", () => {
  test("is not offered to an analyst", async () => {
    const visit = await site.visit({ as: await site.analyst() });
    const { page } = visit;
    await visit.open(addressOf("bare"));
    await page.getByRole("heading", { name: "bare" }).waitFor();
    await hasTimeline(page);
    await expect.poll(() => page.getByRole("button", { name: "Erase" }).count()).toBe(0);
  });

  test("asks for the id to be typed, and then nothing is left", async () => {
    await site.server.register(app, "gone");
    await site.server.settle();
    const visit = await site.visit();
    await visit.open(addressOf("gone"));
    const { page } = visit;
    await page.getByRole("button", { name: "Erase" }).click();
    const dialog = page.getByRole("dialog", { name: "Erase this user" });
    expect(await visit.findings()).toEqual([]);
    const button = dialog.getByRole("button", { name: "Erase permanently" });
    await dialog.getByLabel("Type the client ID").fill("gon");
    await expect.poll(() => button.isDisabled()).toBe(true);
    await dialog.getByLabel("Type the client ID").fill("gone");
    await button.click();
    await page.getByText("gone erased.").waitFor();
    await page.getByRole("heading", { name: "Users", exact: true }).waitFor();
    await page.getByRole("link", { name: "star", exact: true }).waitFor();
    await expect.poll(() => page.getByRole("link", { name: "gone" }).count()).toBe(0);
    expect(visit.complaints).toEqual([]);
  });
});
