import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../src/db/app.ts";
import { ConsoleTest, LastingVisit, type Visit } from "./browser.ts";

const run = promisify(execFile);
let site: ConsoleTest;

/** One app with a campaign and a user, and one with nothing. */
beforeAll(async () => {
  site = await ConsoleTest.shared();
  const { app_id, access_token } = (await site.api("apps/create", { name: "Busy Farm" })).data;
  await site.api("campaigns/create", { app_id, name: "Autumn", ad_platform: "kuaishou" });
  await site.server.register({ accessToken: access_token } as App, "somebody");
  await site.api("apps/create", { name: "Quiet Farm" });
  await site.server.settle();
});

const lasting = new LastingVisit(() => site);

const button = ({ page }: Visit, name: string) => page.getByRole("button", { name, exact: true });
const doneSteps = ({ page }: Visit) =>
  page.locator(".checklist li.done").evaluateAll((steps) => steps.map((step) => step.getAttribute("data-step")));

async function appNamed(name: string): Promise<Record<string, any>> {
  return (await site.api("apps")).data.apps.find((app: { name: string }) => app.name === name);
}

describe("a new app", () => {
  test("is created in the console; following its snippets ends with an attributed payment, and the page turns green by itself", async () => {
    const visit = await lasting.open("/apps");
    const { page } = visit;
    await button(visit, "New app").click();
    await page.getByLabel("Name").fill("Star Miner");
    await page.getByLabel("Time zone").fill("Nowhere");
    await page.getByText("Unknown time zone.").waitFor();
    await page.getByLabel("Time zone").fill("Asia/Shanghai");
    await button(visit, "Create app").click();
    await page.getByRole("heading", { name: "Start here" }).waitFor();
    await page.getByText("0 of 7 done").waitFor();
    await button(visit, "Create test campaign").click();
    const lines = page.locator("[role=tabpanel] pre");
    await lines.first().waitFor();
    await page.getByText("is not registered yet").waitFor();
    expect(await doneSteps(visit)).toEqual([]);

    await run("sh", ["-c", (await lines.allTextContents()).join("\n")]);
    await page.getByText("5 of 7 done").waitFor();
    await page.getByText(/was brought by tencent/).waitFor();
    await page.getByText("this is an attributed payment").waitFor();
    expect(await doneSteps(visit)).toEqual(["request", "touch", "registration", "event", "order"]);
    await visit.inspect("start", () => page.locator(".player-result .badge.good").waitFor());
  });

  test("has snippets for JavaScript, Python, Go and SDKs too, with its own token in them", async () => {
    const { app_id, access_token } = await appNamed("Busy Farm");
    const visit = await lasting.open(`/start?app=${app_id}`);
    const shown = async () => (await visit.page.locator("[role=tabpanel] pre").allTextContents()).join("\n");
    for (const [lang, title, words] of [
      ["javascript", "JavaScript", /wx\.request/],
      ["python", "Python", /urllib\.request/],
      ["go", "Go", /package main/],
      ["sdk", "Existing SDK", /GEBatchConsumer/],
    ] as const) {
      await visit.page.getByRole("tab", { name: title }).click();
      await visit.page.waitForURL(`**lang=${lang}**`);
      await expect.poll(shown).toMatch(words);
      expect(await shown()).toContain(access_token);
      expect(await shown()).toContain(site.server.url);
      expect(await visit.findings("shape")).toEqual([]);
    }
    expect(visit.complaints).toEqual([]);
  });

  test("is shown to an analyst, who cannot create the campaign", async () => {
    const { app_id } = await appNamed("Quiet Farm");
    const visit = await site.visit({ as: await site.analyst() });
    await visit.open(`/start?app=${app_id}`);
    await visit.page.getByText("An admin can create one").waitFor();
    await expect.poll(() => button(visit, "Create test campaign").count()).toBe(0);
  });

  test("leads to the page of each step, and fits a phone", async () => {
    const { app_id } = await appNamed("Busy Farm");
    const visit = await lasting.open(`/start?app=${app_id}`);
    await visit.page.getByText("2 of 7 done").waitFor();
    const paths = await visit.page
      .locator(".checklist a")
      .evaluateAll((links) => links.map((link) => new URL((link as unknown as { href: string }).href).pathname));
    const pages = ["campaigns", "users", "metadata", "orders", "cost", "postbacks"];
    expect(paths).toEqual(pages.map((page) => `/console/${page}`));
    await visit.page.locator("[role=tabpanel] pre").first().waitFor();
    await visit.fitsPhone("start");
  });
});

describe("apps and tokens", () => {
  test("are listed, and can be changed in everything that may change", async () => {
    const visit = await lasting.open("/apps");
    const { page } = visit;
    await visit.inspect("apps", () => page.getByRole("table").waitFor());
    const row = page.getByRole("row", { name: /Quiet Farm/ });
    await row.getByRole("button", { name: "Edit" }).click();
    await page.getByLabel("Name").fill("Quiet Meadow");
    await page.getByLabel("Currency", { exact: true }).fill("usd");
    await button(visit, "Add rate").click();
    await page.getByText("Three capital letters and a number").waitFor();
    await page.getByLabel("Foreign currency").fill("eur");
    await page.getByLabel("Value in USD").fill("1.08");
    await page.getByLabel("Own share of payments").fill("62.5");
    await page.getByLabel("Reject events from unregistered clients").uncheck();
    await visit.photograph("apps-edit");
    expect(await visit.findings()).toEqual([]);
    await button(visit, "Save").click();
    await page.getByText("Quiet Meadow saved.").waitFor();
    expect(await appNamed("Quiet Meadow")).toMatchObject({
      currency: "USD",
      rates: { EUR: "1.08" },
      pay_share: 0.625,
      require_registration: false,
    });
  });

  test("have share rules, which are kept in their order", async () => {
    const { app_id } = await appNamed("Busy Farm");
    const visit = await lasting.open("/apps");
    const { page } = visit;
    const open = () =>
      page
        .getByRole("row", { name: /Busy Farm/ })
        .getByRole("button", { name: "Shares" })
        .click();
    await open();
    await button(visit, "Add rule").click();
    await page.getByText("From 0 to 100, with at most two decimals.").waitFor();
    await page.getByLabel("Share that is left").fill("70");
    await button(visit, "Add rule").click();
    const second = page.getByRole("group", { name: "Rule 2" });
    await second.getByLabel("Share that is left").fill("85.5");
    await button(visit, "Save").click();
    await page.getByText("rules 1 and 2 overlap: always and always").waitFor();
    await second.getByLabel("Operating system").selectOption("ios");
    await second.getByLabel("Virtual payment").selectOption("yes");
    await second.getByLabel("First day").fill("2026-11-01");
    await second.getByRole("button", { name: "Move up" }).click();
    await visit.photograph("apps-shares");
    expect(await visit.findings()).toEqual([]);
    await button(visit, "Save").click();
    await page.getByText("Share rules saved.").waitFor();
    const any = { os_platform: "", channel: "", pay_method: "", is_virtual: null, start_date: "", end_date: "" };
    const rules = [
      { ...any, os_platform: "ios", is_virtual: true, start_date: "2026-11-01", share: 0.855 },
      { ...any, share: 0.7 },
    ];
    expect((await site.api(`shares?app_id=${app_id}`)).data.rules).toEqual(rules);
    await open();
    await page.getByRole("group", { name: "Rule 2" }).getByRole("button", { name: "Remove" }).click();
    await button(visit, "Save").click();
    await expect.poll(async () => (await site.api(`shares?app_id=${app_id}`)).data.rules).toEqual([rules[0]]);
  });

  test("show their secrets on request, and replace each only after saying what breaks", async () => {
    const before = await appNamed("Busy Farm");
    const visit = await lasting.open("/apps");
    const { page } = visit;
    await page
      .getByRole("row", { name: /Busy Farm/ })
      .getByRole("button", { name: "Secrets" })
      .click();
    await expect.poll(() => page.getByRole("dialog").getByText("hidden").count()).toBe(2);
    await button(visit, "Show app key and AES key").click();
    const { data: keys } = await site.api("apps/keys", { app_id: before.app_id });
    await page.getByText(keys.app_key).waitFor();
    await page.getByText(keys.aes_key).waitFor();
    await visit.photograph("apps-secrets");
    for (const [position, words] of [/installed/, /media access tokens/, /encrypt/].entries()) {
      await button(visit, "Replace").nth(position).click();
      await page.getByText(words).waitFor();
      if (position === 0) await visit.photograph("apps-rotate");
      await button(visit, "Cancel").click();
      await button(visit, "Done").waitFor();
    }
    await button(visit, "Replace").first().click();
    await button(visit, "Replace now").click();
    await page.getByRole("heading", { name: "New value" }).waitFor();
    const after = await appNamed("Busy Farm");
    expect(after.access_token).not.toBe(before.access_token);
    await page.getByRole("dialog").getByText(after.access_token).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  test("can be copied from a dialog, even if the browser offers no clipboard", async () => {
    const { access_token } = await appNamed("Busy Farm");
    const visit = await site.visit();
    const { page } = visit;
    await visit.open("/apps");
    await page.evaluate('Object.defineProperty(Navigator.prototype, "clipboard", { get: () => undefined }); undefined');
    await page
      .getByRole("row", { name: /Busy Farm/ })
      .getByRole("button", { name: "Secrets" })
      .click();
    await page.evaluate(
      'addEventListener("copy", () => { globalThis.copied = String(getSelection()) || document.activeElement.value; })',
    );
    await page.getByRole("dialog").getByRole("button", { name: "Copy" }).click();
    await page.getByRole("button", { name: "Copied" }).waitFor();
    await expect.poll(() => page.evaluate("globalThis.copied")).toBe(access_token);
  });

  test("are disabled and enabled; refusals are shown in the server's words", async () => {
    const visit = await lasting.open("/apps");
    const { page } = visit;
    const row = page.getByRole("row", { name: /Busy Farm/ });
    await row.getByRole("button", { name: "Disable" }).click();
    await button(visit, "Disable app").click();
    await row.getByText("Disabled").waitFor();
    await row.getByRole("button", { name: "Enable" }).click();
    await button(visit, "Enable app").click();
    await row.getByText("Enabled").waitFor();
    await row.getByRole("button", { name: "Edit" }).click();
    await page.getByLabel("Time zone").fill("Asia/Tokyo");
    await button(visit, "Save").click();
    await page.getByText("The time zone cannot change any more").waitFor();
  });

  test("are shown to an analyst with their access tokens, and nothing to change", async () => {
    const visit = await site.visit({ as: await site.analyst() });
    await visit.open("/apps");
    await visit.page.getByText((await appNamed("Busy Farm")).access_token).waitFor();
    const buttons = await visit.page.getByRole("main").getByRole("button").allTextContents();
    expect(new Set(buttons)).toEqual(new Set(["Copy"]));
  });
});
