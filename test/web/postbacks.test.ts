import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../src/db/app.ts";
import { eventually } from "../support/patience.ts";
import { bring, type KuaishouStandIn, pay, startKuaishou, urlOf } from "../support/players.ts";
import { ConsoleTest, LastingVisit, type Visit } from "./browser.ts";

const CAMPAIGN = "campaign-0000001";
let site: ConsoleTest;
let app: App;
let kuaishou: KuaishouStandIn;

/** Players of Kuaishou, of whom two arrived before there was an account: their postbacks were skipped. */
beforeAll(async () => {
  kuaishou = await startKuaishou();
  site = await ConsoleTest.shared();
  app = await site.server.createApp({ name: "Idle Farm" });
  await change("campaigns/create", { turbo_promoted_object_id: CAMPAIGN, name: "Summer push" });
  await change("accounts/set", { ad_platform: "huawei" });
  for (const player of ["early-1", "early-2"]) await play(player, 600);
  await site.server.settle();
  await change("accounts/set", { ad_platform: "kuaishou", settings: { url: urlOf(kuaishou) } });
  for (const player of ["player-1", "player-2", "player-3"]) await play(player, 2_550);
  await site.server.settle();
  await eventually(async () => expect(await listed({ status: "1" })).toHaveLength(9));
});

afterAll(() => kuaishou.close());

const lasting = new LastingVisit(() => site);

async function play(player: string, cents: number): Promise<void> {
  await bring(site.server, app, player);
  await pay(site.server, app, player, { order: `order-${player}`, cents });
}

async function change(path: string, body: object): Promise<void> {
  expect(await site.api(path, { app_id: app.appId, ...body })).toMatchObject({ code: 0 });
}

async function listed(query: Record<string, string>): Promise<unknown[]> {
  const asked = new URLSearchParams({ app_id: String(app.appId), ...query });
  return (await site.api(`postbacks?${asked}`)).data.postbacks;
}

const addressOf = (tab: string) => `/postbacks?app=${app.appId}&tab=${tab}`;
const open = (tab: string): Promise<Visit> => lasting.open(addressOf(tab));

const rows = ({ page }: Visit) => page.getByRole("region", { name: "Postbacks" }).locator("tbody tr");

describe("the outbox", () => {
  test("is readable in both themes and languages, and fits a phone", async () => {
    const visit = await open("outbox");
    await visit.inspect("postbacks", async (page) => {
      await page.getByText("order-player-3").first().waitFor();
      await page.locator("summary").click();
    });
    await visit.fitsPhone("postbacks");
  });

  test("can be filtered, by the tiles too, with the state in the address", async () => {
    const visit = await open("outbox");
    const { page } = visit;
    await page.getByRole("button", { name: /^Skipped/ }).click();
    await rows(visit).filter({ hasText: "No account for the platform" }).first().waitFor();
    expect(page.url()).toContain("status=3");
    await page.getByLabel("Event type").selectOption("Payment");
    await page.getByLabel("Client ID").fill("early-1");
    await expect.poll(() => rows(visit).count()).toBe(1);
    await page.reload();
    await expect.poll(() => rows(visit).count()).toBe(1);
    await expect.poll(() => rows(visit).first().textContent()).toMatch(/early-1.*Payment.*Order order-early-1/);
    await page.getByLabel("Client ID").fill("nobody");
    await page.getByText("No matching postbacks").waitFor();
    expect(visit.complaints).toEqual([]);
  });

  test("sends one again, some again, and all with a reason again; each needs confirmation", async () => {
    const visit = await open("outbox");
    const { page } = visit;
    const dialog = page.getByRole("dialog");
    await page.getByLabel("Client ID").fill("early-1");
    await expect.poll(() => rows(visit).count()).toBe(3);
    await rows(visit).filter({ hasText: "Payment" }).getByRole("button", { name: "Send again" }).click();
    await dialog.getByText("Payment of early-1 will be queued again.").waitFor();
    // A slow connection: closing the dialog meanwhile stops further requests.
    await page.route("**/postback/resend", () => {});
    const stopped = page.waitForEvent("requestfailed", (request) => request.url().endsWith("/postback/resend"));
    // The dialog says so before the browser has sent the request; a request aborted before that never fails.
    const asked = page.waitForRequest("**/postback/resend");
    await dialog.getByRole("button", { name: "Send again" }).click();
    await Promise.all([asked, dialog.getByText("0 so far…").waitFor()]);
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await stopped;
    await page.unroute("**/postback/resend");
    await page.getByLabel("Select Payment of early-1").check();
    await page.getByLabel("Select Activation of early-1").check();
    await page.getByRole("button", { name: "Send 2 again" }).click();
    await dialog.getByText("2 postbacks will be queued again.").waitFor();
    await dialog.getByRole("button", { name: "Send again" }).click();
    await dialog.getByText("2 are being sent again.").waitFor();
    await dialog.getByRole("button", { name: "Close" }).click();
    await expect.poll(async () => (await listed({ client_id: "early-1", status: "1" })).length).toBe(2);
    await page.getByRole("button", { name: "Send many again…" }).click();
    await dialog.getByLabel("Outcome").selectOption("Skipped");
    await dialog.getByLabel("Reason").selectOption("No account for the platform");
    await dialog.getByRole("button", { name: "Next" }).click();
    await dialog.getByText("reason: No account for the platform").waitFor();
    await dialog.getByRole("button", { name: "Send again" }).click();
    await dialog.getByText("4 are being sent again.").waitFor();
    expect(visit.complaints).toEqual([]);
  });
});

describe("rules", () => {
  test("are readable in both themes and languages", async () => {
    await change("postback/rules/create", {
      moment: "pay",
      event_type: "pay",
      ad_platform: "kuaishou",
      amount: "600..5000",
      count: "1..3",
      share: "80%",
      value: "factor:0.5,cap:10000",
      properties: ['event$product equal "gold"'],
    });
    const visit = await open("rules");
    await visit.inspect("postback-rules", (page) => page.getByText('event$product equal "gold"').waitFor());
  });

  test("are created, reordered, switched off and removed; wrong input is refused in the server's words", async () => {
    const visit = await open("rules");
    const { page } = visit;
    const dialog = page.getByRole("dialog");
    await page.getByRole("button", { name: "New rule" }).click();
    await dialog.getByLabel("Trigger").selectOption("App event");
    await dialog.getByLabel("Event name").fill("level up");
    await dialog.getByLabel("Report as").selectOption("Key action");
    await dialog.getByLabel("Share to report (%)").fill("150");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText(/^moment must be one of/).waitFor();
    await dialog.getByLabel("Event name").fill("level_up");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("share must be from 0% to 100%, with at most two decimals.").waitFor();
    await dialog.getByLabel("Share to report (%)").fill("50");
    await dialog.getByLabel("Users from campaign").fill(CAMPAIGN);
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByText("Rule saved.").waitFor();
    const table = page.getByRole("region", { name: "Rules" }).locator("tbody tr");
    const own = table.filter({ hasText: "Event level_up" });
    await expect
      .poll(() => own.textContent())
      .toMatch(/reported as Key action.*campaign campaign-0000001.*within 30 days.*share 50%.*unchanged.*On/);
    const before = await table.count();
    await page.getByRole("button", { name: "Move up: Event level_up" }).click();
    await expect.poll(() => table.nth(before - 2).textContent()).toContain("Event level_up");
    await own.getByRole("button", { name: "Disable" }).click();
    await own.getByText("Off", { exact: true }).waitFor();
    await own.getByRole("button", { name: "Edit" }).click();
    await expect.poll(() => dialog.getByLabel("Event name").inputValue()).toBe("level_up");
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await own.getByRole("button", { name: "Remove" }).click();
    await dialog.getByRole("button", { name: "Remove" }).click();
    await page.getByText("Rule removed.").waitFor();
    await expect.poll(() => table.count()).toBe(before - 1);
    expect(visit.complaints).toEqual([]);
  });

  test("are tried on the past, stored or being edited, and the result is explained", async () => {
    const visit = await open("rules");
    const { page } = visit;
    const dialog = page.getByRole("dialog");
    await page.getByRole("button", { name: "New rule" }).click();
    await dialog.getByLabel("Amount (CNY), from").fill("10");
    await dialog.getByRole("button", { name: "Try" }).click();
    await dialog.getByText("3 postbacks worth 76.50 CNY would have been sent, 2 skipped.").waitFor();
    await dialog.getByText("The amount is outside the rule's range: 2").waitFor();
    await dialog.getByText("5 users checked.").waitFor();
    await dialog.getByLabel("Amount (CNY), from").fill("20");
    await dialog.getByText("The rule or the dates have changed").waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    const own = page.locator("tbody tr").filter({ hasText: "Every payment" }).first();
    const show = async () => {
      await page
        .getByRole("button", { name: /^(?:Try|试算)$/ })
        .nth(2)
        .click();
      await dialog.getByRole("button", { name: /^(?:Try|试算)$/ }).click();
      await dialog.locator("tbody tr").first().waitFor();
    };
    await own.waitFor();
    await visit.inspect("postback-dry-run", show);
  });
});

describe("queue and callbacks", () => {
  test("the queue shows each account, and which are down", async () => {
    const pool = site.server.database();
    await pool.query("insert into lane_pause values ($1, $2, 7, 0)", [`${app.appId} huawei `, Date.now() + 3_600_000]);
    await pool.query(
      `insert into outbox (app_id, client_id, event_type, subject, lane, due_at_ms, attempts, in_flight, content)
        values ($1, 'x', 'pay', 'o', $2, $3, 1, false, '{}')`,
      [app.appId, `${app.appId} huawei `, Date.now() + 3_600_000],
    );
    await pool.end();
    const visit = await open("queue");
    await visit.inspect("postback-queue", (page) => page.locator("tbody tr").nth(1).waitFor());
    const huawei = visit.page.locator("tbody tr").filter({ hasText: "Huawei" });
    await expect.poll(() => huawei.textContent()).toMatch(/Down.*7 calls in a row failed; next try at \d{4}-.*10/);
  });

  test("callbacks are set up with a secret that is shown once, changed and removed", async () => {
    const visit = await open("callbacks");
    const { page } = visit;
    const dialog = page.getByRole("dialog");
    const card = page.locator(".card").filter({ hasText: "A signed POST" });
    await card.getByRole("button", { name: "Set up" }).click();
    await dialog.getByLabel("URL").fill("http://127.0.0.1/");
    await dialog.getByLabel("Events, one per line").fill("level_up\n$PayEvent");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText(/127\.0\.0\.1 is an address of a private network/).waitFor();
    await dialog.getByLabel("URL").fill("https://example.com/events");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("It is shown only once.").waitFor();
    await expect.poll(() => dialog.locator("pre").textContent()).toMatch(/^[\w-]{32}$/);
    await dialog.getByRole("button", { name: "Close" }).click();
    await card.getByText("level_up, $PayEvent").waitFor();
    await visit.inspect("postback-callbacks", (shown) => shown.getByText("https://example.com/events").waitFor());
    await card.getByRole("button", { name: "Remove" }).click();
    await dialog.getByRole("button", { name: "Remove" }).click();
    await page.getByText("Callback removed.").waitFor();
    await card.getByText("Not set up.").waitFor();
  });
});

test("an analyst sees everything, can try rules, and finds nothing to change", async () => {
  const visit = await site.visit({ as: await site.analyst() });
  const { page } = visit;
  const changing = /^(?:Send|New rule|Edit|Enable|Disable|Remove|Move|Set up)/;
  await visit.open(addressOf("outbox"));
  for (const tab of ["outbox", "rules", "queue", "callbacks"]) {
    if (tab !== "outbox") await visit.go(addressOf(tab));
    await page.locator("table, .card").first().waitFor();
    await expect.poll(() => page.getByRole("button", { name: changing }).count(), { message: tab }).toBe(0);
    await expect.poll(() => page.getByRole("checkbox").count(), { message: tab }).toBe(0);
    if (tab === "rules") await expect.poll(() => page.getByRole("button", { name: "Try" }).count()).toBeGreaterThan(3);
  }
});
