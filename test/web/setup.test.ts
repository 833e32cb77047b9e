import { beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../src/db/app.ts";
import { track } from "../http/fixture.ts";
import { ConsoleTest, LastingVisit, PASSWORD, type Visit } from "./browser.ts";

let site: ConsoleTest;
let app: App;
const DAY_MS = 86_400_000;

/** An app with a user brought by a click of two days ago, an organic one, and undeclared events. */
beforeAll(async () => {
  site = await ConsoleTest.shared();
  const { server } = site;
  app = await server.createApp({ name: "Moon Miner" });
  const click = { app_id: String(app.appId), company: "vivo", oaid: "brought", track_id: "campaign-0000001" };
  await server.get("/event_center/api/v1/event/click/", { ...click, ts: String(Date.now() - 2 * DAY_MS) });
  await server.register(app, "brought", { device_info: { os_name: "android", oaid: "brought" } });
  await server.register(app, "organic");
  const events = Array.from({ length: 120 }, (_, number) => track(`event_${String(number).padStart(3, "0")}`));
  const order = track("$PayEvent", { $order_id: "o", $pay_amount: 1_250, $pay_type: "CNY" });
  await server.collect(app, "brought", [...events, track("level_up", { level: 2 }), order]);
  await server.settle();
});

const lasting = new LastingVisit(() => site);

const button = ({ page }: Visit, name: string) => page.getByRole("button", { name, exact: true });
const rowOf = ({ page }: Visit, name: RegExp) => page.getByRole("row", { name });
const inApp = (path: string) => `${path}?app=${app.appId}`;
const metadata = async () => (await site.api(`metadata?app_id=${app.appId}`)).data;

describe("metadata", () => {
  test("shows undeclared names first, and declares one or all", async () => {
    const visit = await lasting.open(inApp("/metadata"));
    const { page } = visit;
    await page.getByText("Page 1 of 3").waitFor();
    await page.getByLabel("Name contains").fill("level");
    await rowOf(visit, /level_up/)
      .getByRole("button", { name: "Declare" })
      .click();
    await rowOf(visit, /level_up/)
      .getByText("declared")
      .waitFor();
    // Ten rows show what fifty of the same kind would.
    await page.getByLabel("Name contains").fill("event_11");
    await expect.poll(() => page.getByRole("row").count()).toBe(11);
    await visit.inspect("metadata");
    await page.getByLabel("Name contains").fill("");
    await expect.poll(() => page.getByRole("row").nth(1).textContent()).toContain("event_000");
    await button(visit, "Declare all 120 observed").click();
    await page.getByRole("dialog").getByRole("button", { name: "Declare" }).click();
    await page.getByText("120 events declared.").waitFor();
    const { events } = await metadata();
    expect(events.filter(({ state }: { state: string }) => state === "declared")).toHaveLength(121);
    await page.getByLabel("Name contains").fill("event_007");
    await button(visit, "Disable").click();
    await page.getByRole("dialog").getByRole("button", { name: "Disable" }).click();
    await rowOf(visit, /event_007/)
      .getByText("disabled")
      .waitFor();
  });

  test("gives properties a type, and changes the mode after saying what that rejects", async () => {
    const visit = await lasting.open(inApp("/metadata"));
    const { page } = visit;
    await button(visit, "Change to strict").click();
    await page.getByText("0 observed events and 1 observed properties are not declared").waitFor();
    await button(visit, "Cancel").click();
    await page.getByRole("tab", { name: /Properties/ }).click();
    await rowOf(visit, /level/).getByRole("button", { name: "Declare" }).click();
    await page.getByLabel("Value type").selectOption("number");
    await page.getByRole("dialog").getByRole("button", { name: "Declare" }).click();
    await rowOf(visit, /level.*number.*declared/).waitFor();
    await button(visit, "Change to strict").click();
    await page.getByText("Everything observed is declared").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Change to strict" }).click();
    await page.getByText("Only declared events and properties are stored").waitFor();
    expect(await metadata()).toMatchObject({ metadata: "strict" });
    await button(visit, "Declare a name").click();
    await page.getByLabel("Kind").selectOption("userProperty");
    await page.getByLabel("Name", { exact: true }).fill("vip");
    await page.getByLabel("Value type").selectOption("bool");
    expect(await visit.findings()).toEqual([]);
    await page.getByRole("dialog").getByRole("button", { name: "Declare" }).click();
    await rowOf(visit, /vip.*users.*boolean/).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  test("says what to do in an app that has sent nothing", async () => {
    const bare = await site.server.createApp({ name: "Bare" });
    const visit = await site.visit({ as: await site.analyst() });
    await visit.open(`/metadata?app=${bare.appId}`);
    await visit.page.getByText("Nothing sent or declared yet").waitFor();
    await expect.poll(() => visit.page.getByRole("button", { name: /Declare|Change to/ }).count()).toBe(0);
  });
});

describe("attribution rules", () => {
  test("are explained, tried on the past, and saved; a platform has its own", async () => {
    const visit = await lasting.open(inApp("/rules"));
    const { page } = visit;
    await page.getByLabel("Click window").fill("soon");
    await page.getByText("A number and s, m, h or d").waitFor();
    await expect.poll(() => button(visit, "Save").isDisabled()).toBe(true);
    await page.getByLabel("Click window").fill("24h");
    await page.getByLabel("Flood from one device").fill("5");
    await button(visit, "Try it").click();
    await page.getByText("Not part of the trial: Flood from one device.").waitFor();
    await rowOf(visit, /vivo/).waitFor();
    const moved = page.locator(".tile", { hasText: "Would move" });
    await expect.poll(() => moved.textContent()).toMatch(/1$/);
    await expect.poll(() => page.locator(".tile", { hasText: "revenue" }).textContent()).toContain("12.50");
    await visit.photograph("rules-what-if");
    await page.getByLabel("Click window").fill("3d");
    await page.getByText("The rules above have changed").waitFor();
    await page.getByLabel("Click window").fill("24h");
    await button(visit, "Save").click();
    await page.getByText("Rules saved.").waitFor();
    await expect
      .poll(() => page.getByLabel("Click window").inputValue(), { message: "as the server writes it" })
      .toBe("1d");

    await page.getByLabel("Rules for").selectOption("vivo");
    await rowOf(visit, /click_window.*1d.*from the app/s).waitFor();
    await expect
      .poll(() => page.getByText("Re-attribute returning users").count(), { message: "only for the whole app" })
      .toBe(0);
    await page.getByLabel("Impressions count").selectOption("on");
    await button(visit, "Save").click();
    await page.getByText("vivo · own rules").waitFor({ state: "attached" });
    const { data } = await site.api(`attribution/rules?app_id=${app.appId}`);
    expect(data.set).toEqual([
      { ad_platform: "", rules: { click_window: "1d", flood_per_device: "5" } },
      { ad_platform: "vivo", rules: { impressions: "on" } },
    ]);
    await page.getByLabel("Rules for").selectOption("");
    await visit.inspect("rules", () => page.getByRole("table").first().waitFor());
  });

  test("changed by another person meanwhile are shown, and typing here leaves them alone", async () => {
    const visit = await site.visit();
    const { page } = visit;
    await visit.open(inApp("/rules"));
    await page.getByLabel("Click window").waitFor();
    await page.getByRole("link", { name: "Metadata" }).click();
    await page.getByRole("heading", { name: "Metadata" }).waitFor();
    await site.api("attribution/rules", { app_id: app.appId, rules: { click_window: "2d" } });
    // Longer than the console takes an answer for granted.
    await page.evaluate("{ const now = Date.now; Date.now = () => now() + 15_000; }");
    await page.getByRole("link", { name: "Attribution rules" }).click();
    await expect.poll(() => page.getByLabel("Click window").inputValue()).toBe("2d");
    await page.getByLabel("Flood from one device").fill("7");
    await button(visit, "Save").click();
    await page.getByText("Rules saved.").waitFor();
    const { data } = await site.api(`attribution/rules?app_id=${app.appId}`);
    expect(data.set[0]).toEqual({ ad_platform: "", rules: { click_window: "2d", flood_per_device: "7" } });
  });

  test("are shown to an analyst, who may try but not save", async () => {
    const visit = await site.visit({ as: await site.analyst() });
    await visit.open(inApp("/rules"));
    await button(visit, "Try it").click();
    await visit.page.getByText("Registrations", { exact: true }).waitFor();
    await expect.poll(() => button(visit, "Save").count()).toBe(0);
    await expect.poll(() => visit.page.getByLabel("Click window").isDisabled()).toBe(true);
  });
});

describe("developer applications", () => {
  test("are requested, approved with a key that is shown once, changed, given a new key and disabled", async () => {
    const pool = site.server.database();
    await pool.query("delete from developer_app");
    await pool.end();
    const visit = await lasting.open("/developers");
    const { page } = visit;
    await page.getByText("No developer applications yet").waitFor();
    await button(visit, "New request").click();
    await page.getByLabel("Name").fill("BI dashboard");
    await page.getByLabel("Purpose").fill("Daily figures");
    await page.getByLabel("All apps").uncheck();
    await expect.poll(() => button(visit, "Send request").isDisabled()).toBe(true);
    await page.getByLabel(/Moon Miner/).check();
    expect(await visit.findings()).toEqual([]);
    await button(visit, "Send request").click();
    const row = rowOf(visit, /BI dashboard/);
    await row.getByText("pending review").waitFor();
    await visit.inspect("developers", () => page.getByRole("table").waitFor());
    await row.getByRole("button", { name: "Approve" }).click();
    await page.getByText("reports of Moon Miner, 1 per 600 s").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Approve" }).click();
    const key = page.getByRole("dialog").locator("pre");
    const first = await key.textContent();
    expect(first).toMatch(/^[0-9a-f]{32}$/);
    await visit.photograph("developers-key");
    await button(visit, "I have copied it").click();
    await row.getByText("approved").waitFor();
    await expect.poll(() => page.getByText(first!).count()).toBe(0);
    await row.getByRole("button", { name: "Edit" }).click();
    await page.getByLabel("Calls").fill("60");
    await page.getByLabel("Period in seconds").fill("60");
    await button(visit, "Save").click();
    await row.getByText("60 per 60 s").waitFor();
    await row.getByRole("button", { name: "New key" }).click();
    await button(visit, "Create new key").click();
    await expect.poll(() => key.textContent()).not.toBe(first);
    await button(visit, "I have copied it").click();
    await row.getByRole("button", { name: "Disable" }).click();
    await page.getByLabel("Reason").fill("moved away");
    await page.getByRole("dialog").getByRole("button", { name: "Disable" }).click();
    await row.getByText("moved away").waitFor();
    expect(visit.complaints).toEqual([]);
  });
});

describe("people and their actions", () => {
  test("a person is invited by a link, gets another role, and is removed", async () => {
    const visit = await lasting.open("/people");
    const { page } = visit;
    await button(visit, "Add person").click();
    await page.getByLabel("Name").fill("Lin");
    await page.getByLabel("Role", { exact: true }).selectOption("analyst");
    await page.getByRole("dialog").getByRole("button", { name: "Add", exact: true }).click();
    const link = await page.getByRole("dialog").locator("pre").textContent();
    await button(visit, "Done").click();
    const other = await site.visit({ as: "nobody" });
    await other.page.goto(link!);
    for (const field of await other.page.locator("input[type=password]").all()) await field.fill(PASSWORD);
    await other.page.locator("form button[type=submit]").click();
    await other.page.getByText("Analyst").waitFor();
    const row = rowOf(visit, /^lin/);
    await row.getByRole("button", { name: "Roles" }).click();
    await page.getByLabel("Role", { exact: true }).selectOption("operator");
    await button(visit, "Add role for an app").click();
    await page.getByLabel("Role", { exact: true }).nth(1).selectOption("admin");
    await visit.inspect("people-roles", () => page.getByRole("dialog").waitFor());
    await button(visit, "Change roles").click();
    await row.getByText("Operator · All apps").waitFor();
    await row.getByText(/^Admin · /).waitFor();
    await visit.inspect("people", () => page.getByRole("table").waitFor());
    await row.getByRole("button", { name: "New link" }).click();
    await button(visit, "Create link").click();
    await expect.poll(() => page.getByRole("dialog").locator("pre").textContent()).not.toBe(link);
    await button(visit, "Done").click();
    await row.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await page.getByText("lin removed.").waitFor();
    await rowOf(visit, /^admin/)
      .getByRole("button", { name: "Roles" })
      .click();
    await page.getByLabel("Role", { exact: true }).selectOption("analyst");
    await button(visit, "Change roles").click();
    await page.getByText("There must be at least one admin of all apps.").waitFor();
  });

  test("everything is in the audit log, page by page, and for one app alone", async () => {
    await site.api("apps/edit", { app_id: app.appId, name: "Moon Miner" });
    const pool = site.server.database();
    await pool.query(
      `insert into audit_log (at_ms, actor, address, action, app_id, details)
        select g, 'somebody', '', 'campaigns/create', null, '{"name": "x"}' from generate_series(1, 250) g`,
    );
    await pool.end();
    const visit = await lasting.open("/audit");
    const { page } = visit;
    await page.getByText("campaigns/create").first().waitFor();
    await expect.poll(() => page.getByText("console-users/remove").count()).toBe(0);
    await button(visit, "Show older").click();
    await page.getByText("console-users/remove").first().waitFor();
    // There may be more pages, because other files use this server too.
    const older = page.getByRole("button", { name: "Show older" });
    const press = (buttons: unknown[]) => (buttons as { click(): void }[]).forEach((one) => void one.click());
    await expect
      .poll(async () => {
        await older.evaluateAll(press);
        return page.getByText("Beginning of the log.").count();
      })
      .toBe(1);
    await page.getByRole("main").getByLabel("App").selectOption(String(app.appId));
    await page.getByText("apps/edit").first().waitFor();
    await expect.poll(() => page.getByText("console-users/remove").count()).toBe(0);
    await visit.inspect("audit", () => page.getByRole("table").waitFor());
  });

  test("a person who knows the current password can change it", async () => {
    const visit = await site.visit({ as: await site.newAnalyst() });
    const { page } = visit;
    await visit.open("/account");
    await page.getByLabel("Current password").fill("a wrong one altogether");
    await page.getByLabel("New password").fill("another good password");
    await button(visit, "Change password").click();
    await page.getByText("The current password is wrong.").waitFor();
    await page.getByLabel("Current password").fill(PASSWORD);
    await button(visit, "Change password").click();
    await page.getByText("Password changed.").waitFor();
  });
});
