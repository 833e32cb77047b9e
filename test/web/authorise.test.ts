import { afterAll, beforeAll, expect, test } from "vitest";
import { type OceanEngineStandIn, startOceanEngine } from "../../sim/platforms/ocean-engine.ts";
import type { App } from "../../src/db/app.ts";
import { ConsoleTest } from "./browser.ts";

let site: ConsoleTest;
let app: App;
let engine: OceanEngineStandIn;

beforeAll(async () => {
  engine = await startOceanEngine({ accounts: ["7001", "7002", "7003"] });
  site = await ConsoleTest.shared();
  app = await site.server.createApp({ name: "Idle Farm" });
  // Another name of the same machine is another site to the browser, so the return is a cross-site navigation.
  const elsewhere = engine.url.replace("127.0.0.1", "localhost");
  const settings = {
    app_id: engine.appId,
    base_url: `${engine.url}/open_api`,
    oauth_url: `${engine.url}/open_api/oauth2`,
    authorise_url: `${elsewhere}/openapi/audit/oauth.html`,
  };
  const account = { app_id: app.appId, ad_platform: "bytedance", advertiser_id: "7001", postbacks: "off", settings };
  expect(await site.api("accounts/set", { ...account, secrets: { app_secret: engine.secret } })).toMatchObject({
    code: 0,
  });
});
afterAll(() => engine.close());

const ACCOUNTS = () => `/cost?app=${app.appId}&tab=accounts`;

test("a person connects accounts through the platform's page on another site and back", async () => {
  const visit = await site.visit();
  const { page } = visit;
  await visit.open(ACCOUNTS());
  await page.getByRole("button", { name: "Connect at the platform" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Platform").selectOption({ label: "Baidu" });
  await dialog.getByLabel("Scope").waitFor();
  await dialog.getByLabel("Platform").selectOption({ label: "Ocean Engine" });
  await dialog.getByText(`${site.server.url}/console/authorised`, { exact: true }).waitFor();
  await expect.poll(() => dialog.getByLabel("Developer application").inputValue()).toBe("7001");
  await visit.inspect("authorise-begin");
  await dialog.getByRole("button", { name: "Go to the platform" }).click();
  await page.locator("#authorise").click();
  await page.getByRole("heading", { name: "Choose accounts" }).waitFor();
  await page.getByText("One entry is left out").waitFor();
  await expect
    .poll(() => page.evaluate("location.href"))
    .toBe(`${site.server.url}/console/authorised?app=${app.appId}`);
  expect(await page.getByLabel("Connect Account 7001").isChecked(), "known").toBe(true);
  await page.getByLabel("Connect Account 7003").check();
  await visit.inspect("authorise-choose");
  await visit.fitsPhone("authorise-choose");
  await page.getByRole("button", { name: "Connect 2 accounts" }).click();
  await page.getByText("2 accounts connected.").waitFor();
  const row = page.locator("tbody tr").filter({ hasText: "7003" });
  await row.getByText("token valid until").waitFor();
  expect(await page.locator("tbody tr").count()).toBe(2);
});

test("a person who refuses at the platform is told so, and may begin again", async () => {
  const visit = await site.visit();
  const { page } = visit;
  await visit.open(ACCOUNTS());
  await page.getByRole("button", { name: "Connect at the platform" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Go to the platform" }).click();
  await page.locator("#deny").click();
  await page.getByText("The platform gave no authorisation: access_denied. Begin again.").waitFor();
  await page.getByRole("link", { name: "To the accounts" }).click();
  await page.getByRole("button", { name: "Connect at the platform" }).waitFor();
});

test("an authorisation that ends soon, or has ended, is shown with the account and on the page of health", async () => {
  const pool = site.server.database();
  const end = (id: string, atMs: number | null) =>
    pool.query("update platform_account set refresh_expires_at_ms = $3 where app_id = $1 and advertiser_id = $2", [
      app.appId,
      id,
      atMs,
    ]);
  await end("7001", Date.now() + 3 * 86_400_000);
  await end("7003", Date.now() - 60_000);
  const visit = await site.visit();
  const { page } = visit;
  await visit.open(ACCOUNTS());
  await page.getByText("Authorisation ends soon").waitFor();
  await page.getByText("Authorisation has ended").waitFor();
  await visit.inspect("authorise-ends");
  await visit.open("/health");
  await page.getByText("The authorisation of an account ends within days").waitFor();
  await page.getByText("The authorisation of an account has ended").waitFor();
  await expect.poll(() => page.getByText(/^The authorisation ends at /).count()).toBe(2);
  // Other files look at the health of the same server.
  for (const id of ["7001", "7003"]) await end(id, null);
  await pool.end();
});
