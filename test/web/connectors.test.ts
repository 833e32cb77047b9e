import { afterAll, beforeAll, expect, test } from "vitest";
import { QIHOO_KEY, QIHOO_SECRET, startQihoo360 } from "../../sim/platforms/qihoo-360.ts";
import type { StandIn } from "../../sim/platforms/stand-in.ts";
import type { App } from "../../src/db/app.ts";
import { declarationOf, draftOf } from "../../web/src/pages/connectors/connector-draft.ts";
import { workedExample } from "../platform/declared/worked-examples.ts";
import { ConsoleTest, LastingVisit } from "./browser.ts";

let site: ConsoleTest;
let app: App;
let qihoo: StandIn;

beforeAll(async () => {
  qihoo = await startQihoo360();
  site = await ConsoleTest.shared();
  app = await site.server.createApp({ name: "Idle Farm" });
});

afterAll(() => qihoo.close());

const lasting = new LastingVisit(() => site);
const path = () => `/postbacks?app=${app.appId}&tab=connectors`;

test.each(["uc", "qihu360"] as const)("the form holds the worked example of %s without loss", (ad_platform) => {
  const declaration = workedExample(ad_platform);
  const typed = declarationOf(draftOf({ ad_platform, declaration, accounts: 0, changed_at: "" }))!;
  const defaults = { method: "GET", repeats: "counted" };
  const sign = declaration.sign === undefined ? {} : { sign: { ...(declaration.sign as object), letters: "lower" } };
  expect(typed).toEqual({ ...defaults, ...declaration, ...sign });
});

test("a connector is checked before it is saved, and its platform then takes tests", async () => {
  const visit = await lasting.open(path());
  const { page } = visit;
  const dialog = page.getByRole("dialog");
  await page.getByText("No connectors yet").waitFor();
  await page.getByRole("button", { name: "New connector" }).click();
  await dialog.getByLabel("Platform", { exact: true }).fill("qihu360");
  await dialog.getByLabel("Address", { exact: true }).fill(`${qihoo.url}/uploadWebConvert`);
  await dialog.getByLabel("Method").selectOption("POST");
  await dialog.getByLabel("Query parameters").fill("");
  await dialog.getByLabel("Headers").fill("App-Key = {account.app_key}\nApp-Sign = {sign}");
  await dialog.getByLabel("Body", { exact: true }).selectOption("JSON");
  await dialog.getByLabel("Content of the body").fill("{");
  await dialog.getByText("This is not JSON.").waitFor();
  await dialog.getByLabel("Content of the body").fill(JSON.stringify(workedExample("qihu360").json));
  await dialog.getByText("Signature", { exact: true }).click();
  await dialog.getByLabel("Hash").selectOption("md5");
  await dialog.getByLabel("Signed text").fill("{account.app_secret}{body}");
  await dialog.getByLabel("Event codes").fill("activate = ACTIVATION\npay = PAY");
  await dialog.getByLabel("Field", { exact: true }).fill("errno");
  await dialog.getByLabel("An answer of the platform (optional)").fill('{"errno":0}');
  await dialog.getByRole("button", { name: "Check" }).click();
  await dialog.getByText(/\{account\.app_secret\} is not a placeholder here/).waitFor();
  await dialog.getByLabel("Fields of the account").fill("app_key = setting\napp_secret = secret");
  await dialog.getByRole("button", { name: "Check" }).click();
  await dialog.getByText("Amounts are told.").waitFor();
  await dialog.getByText("Success", { exact: true }).waitFor();
  await dialog.getByText(/"event_param":\{"value":648\}/).waitFor();
  await visit.inspect("connector-form", (shown) => shown.locator("dialog h3").first().waitFor());
  await visit.fitsPhone("connector-form");
  expect(qihoo.calls).toBe(0);
  await page.getByRole("dialog").locator("button[type=submit]").click();
  await page.locator("tbody tr").filter({ hasText: "uploadWebConvert" }).waitFor();
  await visit.inspect("connectors");
  await page.getByRole("button", { name: "Edit" }).click();
  expect(await dialog.getByLabel("Headers").inputValue()).toBe("App-Key = {account.app_key}\nApp-Sign = {sign}");
  await visit.photograph("connector-edit");
  await dialog.getByRole("button", { name: "Cancel" }).click();
  const account = { app_id: app.appId, ad_platform: "qihu360", settings: { app_key: QIHOO_KEY } };
  expect(await site.api("accounts/set", { ...account, secrets: { app_secret: QIHOO_SECRET } })).toMatchObject({
    code: 0,
  });
  await visit.open(`/cost?app=${app.appId}&tab=accounts`);
  await page.getByRole("button", { name: "Test", exact: true }).click();
  await dialog.getByLabel("Of", { exact: true }).selectOption("A click");
  await dialog.getByLabel("Key of the click").selectOption("click_id");
  await dialog.getByLabel("Value of click_id").fill("q-1");
  await dialog.getByRole("button", { name: "Send test" }).click();
  await dialog.getByText("The platform accepted it.").waitFor();
  expect(qihoo.accepted).toMatchObject([{ key: "q-1", code: "ACTIVATION" }]);
  expect(await dialog.innerText()).not.toContain(QIHOO_SECRET);
  expect(visit.complaints).toEqual([]);
});
