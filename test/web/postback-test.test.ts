import { afterAll, beforeAll, expect, test } from "vitest";
import { type OceanEngineStandIn, startOceanEngine } from "../../sim/platforms/ocean-engine.ts";
import type { App } from "../../src/db/app.ts";
import { bring, type KuaishouStandIn, startKuaishou, urlOf } from "../support/players.ts";
import { ConsoleTest, LastingVisit } from "./browser.ts";

let site: ConsoleTest;
let app: App;
let kuaishou: KuaishouStandIn;
let engine: OceanEngineStandIn;

beforeAll(async () => {
  kuaishou = await startKuaishou();
  engine = await startOceanEngine();
  site = await ConsoleTest.shared();
  app = await site.server.createApp({ name: "Idle Farm" });
  await bring(site.server, app, "player-1");
  await site.server.settle();
  await account({ ad_platform: "kuaishou", settings: { url: urlOf(kuaishou) } });
  await account({ ad_platform: "bytedance", settings: { url: `${engine.url}/api/v2/conversion` } });
  await account({ ad_platform: "huawei", postbacks: "off" });
});

afterAll(async () => {
  await kuaishou.close();
  await engine.close();
});

const lasting = new LastingVisit(() => site);
const path = () => `/cost?app=${app.appId}&tab=accounts`;

async function account(body: object): Promise<void> {
  expect(await site.api("accounts/set", { app_id: app.appId, ...body })).toMatchObject({ code: 0 });
}

test("an account is tested with a user: the call and the answer are shown, and refusals in the server's words", async () => {
  const visit = await lasting.open(path());
  const { page } = visit;
  const dialog = page.getByRole("dialog");
  const row = (platform: string) => page.locator("tbody tr").filter({ hasText: platform });
  await row("Huawei").waitFor();
  expect(await row("Huawei").getByRole("button", { name: "Test" }).count()).toBe(0);
  await row("Kuaishou").getByRole("button", { name: "Test" }).click();
  await dialog.getByText("This platform does not tell tests from real conversions").waitFor();
  await dialog.getByLabel("Conversion").selectOption("pay");
  await dialog.getByLabel("User (client_id)").fill("nobody");
  await dialog.getByRole("button", { name: "Send test" }).click();
  await dialog.getByText("There is no user with this client_id.").waitFor();
  await dialog.getByLabel("User (client_id)").fill("player-1");
  await dialog.getByLabel("Amount (CNY)").fill("six");
  await dialog.getByText("An amount such as 6 or 6.48.").waitFor();
  await dialog.getByLabel("Amount (CNY)").fill("6.48");
  await dialog.getByRole("button", { name: "Send test" }).click();
  await dialog.getByText("The platform accepted it.").waitFor();
  await dialog.getByText(/^GET http:.*callback=token-player-1&event_type=3.*purchase_amount=6\.48/).waitFor();
  await dialog.getByText(/^HTTP 200[\s\S]*"result":1/).waitFor();
  expect(kuaishou.accepted).toMatchObject([{ key: "token-player-1", code: "3", cents: 648 }]);
  await visit.inspect("postback-test", (shown) => shown.getByText("The platform accepted it.").waitFor());
  await visit.fitsPhone("postback-test");
});

test("a click is tested by its key and its device, marked where the platform has a mark", async () => {
  const visit = await lasting.open(path());
  const { page } = visit;
  const dialog = page.getByRole("dialog");
  await page.locator("tbody tr").filter({ hasText: "Ocean Engine" }).getByRole("button", { name: "Test" }).click();
  await dialog.getByLabel("Of", { exact: true }).selectOption("A click");
  await dialog.getByLabel("Key of the click").selectOption("clickid");
  await dialog.getByLabel("Value of clickid").fill("dy-1");
  await dialog.getByText("Device IDs, if the platform needs them").click();
  await dialog.getByLabel("Operating system").selectOption("iOS");
  await dialog.getByLabel("idfa").fill("AEBE52E7-03EE-455A-B3C4-E57283966239");
  await dialog.getByRole("button", { name: "Send test" }).click();
  await dialog.getByText("Marked as a test: x-debug-mode: 1.").waitFor();
  expect(engine.accepted).toMatchObject([{ key: "dy-1", code: "active" }]);
  await visit.inspect("postback-test-click", (shown) => shown.getByText("Accepted", { exact: true }).waitFor());
  expect(visit.complaints).toEqual([]);
});
