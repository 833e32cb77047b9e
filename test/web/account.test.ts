import { beforeAll, expect, test } from "vitest";
import { totpCode, totpStep } from "../../src/domain/access/totp.ts";
import { ConsoleTest, PASSWORD, type Visit } from "./browser.ts";

let site: ConsoleTest;

beforeAll(async () => {
  site = await ConsoleTest.shared();
});

const button = ({ page }: Visit, name: string) => page.getByRole("button", { name, exact: true });
const tab = ({ page }: Visit, name: string) => page.getByRole("tab", { name });

/** The bytes of a key as people type it, read by the alphabet of RFC 4648. */
function bytesOf(key: string): Buffer {
  const bits = [...key].map((one) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(one).toString(2).padStart(5, "0"));
  const bytes = bits.join("").match(/.{8}/g)!;
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)));
}

async function personAt(visit: Visit, name: string): Promise<void> {
  const added = await site.api("console-users/create", { name, grants: [{ app_id: null, role: "operator" }] });
  const { page } = visit;
  await page.goto(`${site.server.url}/console/setup#${added.data.setup_token}`);
  for (const field of await page.locator("input[type=password]").all()) await field.fill(PASSWORD);
  await page.locator("form button[type=submit]").click();
  await button(visit, "Sign out").waitFor();
}

async function enter(visit: Visit, name: string): Promise<void> {
  const { page } = visit;
  await page.getByLabel("Name", { exact: true }).fill(name);
  await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
  await button(visit, "Sign in").click();
}

test("a person sets up a second factor, sees where they are signed in, and signs in with a code and a recovery code", async () => {
  const name = "two-steps";
  const visit = await site.visit({ as: "nobody" });
  const { page } = visit;
  await personAt(visit, name);
  await visit.open("/account?tab=second");
  await button(visit, "Set up").click();
  await page.getByLabel("Current password").fill(PASSWORD);
  await button(visit, "Set up").click();
  await visit.inspect("account-second-factor", () => page.getByRole("img", { name: "QR code of the key" }).waitFor());
  await visit.fitsPhone("account-second-factor");
  const key = bytesOf((await page.locator("pre").textContent())!);
  const step = totpStep(Date.now());
  await page.getByLabel("Code", { exact: true }).fill("000000");
  await button(visit, "Switch on").click();
  await page.getByText("The code is wrong, or was used already.").waitFor();
  await page.getByLabel("Code", { exact: true }).fill(totpCode(key, step));
  await button(visit, "Switch on").click();
  await visit.inspect("account-recovery-codes", () => page.getByText("Recovery codes").waitFor());
  const codes = await page.locator(".recovery-codes li").allTextContents();
  expect(codes).toHaveLength(10);
  await button(visit, "Done").click();
  await page.getByText("10 of 10 recovery codes left.").waitFor();
  await tab(visit, "Sessions").click();
  await page.getByText("this one").waitFor();
  await page.getByText("One-time link").waitFor();
  await visit.inspect("account-sessions");
  await button(visit, "Sign out everywhere").click();
  await page.getByRole("heading", { name: "Sign in" }).waitFor();
  await enter(visit, name);
  await visit.inspect("sign-in-code", () => page.getByLabel("Code", { exact: true }).waitFor());
  await page.getByLabel("Code", { exact: true }).fill(totpCode(key, step));
  await button(visit, "Sign in").click();
  await page.getByText("The code is wrong, or was used already.").waitFor();
  await page.getByLabel("Code", { exact: true }).fill(totpCode(key, step + 1));
  await button(visit, "Sign in").click();
  await button(visit, "Sign out").click();
  await enter(visit, name);
  await page.getByLabel("Code", { exact: true }).fill(codes[0]!);
  await button(visit, "Sign in").click();
  await button(visit, "Sign out").waitFor();
  await visit.open("/account?tab=second");
  await page.getByText("9 of 10 recovery codes left.").waitFor();
  expect(visit.complaints).toEqual([]);
});

test("another session is ended from the list", async () => {
  const name = "two-places";
  const [here, there] = [await site.visit({ as: "nobody" }), await site.visit({ as: "nobody" })];
  await personAt(here, name);
  await there.open("/");
  await enter(there, name);
  await button(there, "Sign out").waitFor();
  await here.open("/account?tab=sessions");
  await here.page.getByRole("row").nth(2).waitFor();
  await button(here, "End").click();
  await here.page.getByText("Session ended.").waitFor();
  await there.open("/");
  await there.page.getByRole("heading", { name: "Sign in" }).waitFor();
});

test("a token is made, shown once, used by a program and revoked", async () => {
  const visit = await site.visit();
  const { page } = visit;
  await visit.open("/account?tab=tokens");
  await button(visit, "New token").click();
  await page.getByLabel("Name", { exact: true }).fill("nightly export");
  await page.getByLabel("Role", { exact: true }).selectOption("viewer");
  await visit.inspect("account-new-token", () => page.getByLabel("Days until it ends").waitFor());
  await page.getByLabel("Current password").fill("not the password");
  await button(visit, "Make token").click();
  await page.getByText("The current password is wrong.").waitFor();
  await page.getByLabel("Current password").fill(PASSWORD);
  await button(visit, "Make token").click();
  const token = (await page.getByRole("dialog").locator("pre").textContent())!;
  expect(token).toMatch(/^tpa_/);
  await button(visit, "Done").click();
  const headers = { authorization: `Bearer ${token}` };
  const apps = async () => (await fetch(`${site.server.url}/admin/api/v1/apps`, { headers })).json();
  expect(await apps()).toMatchObject({ code: 0 });
  const row = page.getByRole("row", { name: /nightly export/ });
  await row.getByText("Viewer").waitFor();
  await visit.inspect("account-tokens");
  expect(await page.content()).not.toContain(token);
  await row.getByRole("button", { name: "Revoke" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke" }).click();
  await page.getByText("Token nightly export revoked.").waitFor();
  expect(await apps()).toMatchObject({ code: 2002 });
});

test("a viewer of one app sees its reports, and neither other apps nor pages beyond the role", async () => {
  const [own, other] = [
    await site.server.createApp({ name: "Seen App" }),
    await site.server.createApp({ name: "Hidden App" }),
  ];
  const grants = [{ app_id: own.appId, role: "viewer" }];
  const added = await site.api("console-users/create", { name: "only-viewer", grants });
  const visit = await site.visit({ as: "nobody" });
  const { page } = visit;
  await page.goto(`${site.server.url}/console/setup#${added.data.setup_token}`);
  for (const field of await page.locator("input[type=password]").all()) await field.fill(PASSWORD);
  await page.locator("form button[type=submit]").click();
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  const pages = await page.getByRole("navigation").getByRole("link").allTextContents();
  expect(pages).toEqual(["Overview", "Ad report", "Campaigns", "Apps and tokens", "Health"]);
  await visit.inspect("viewer-overview");
  await visit.open("/users");
  await page.getByText("Not for your role").waitFor();
  await visit.open(`/report?app=${other.appId}`);
  await page.getByRole("heading", { name: "Ad report" }).waitFor();
  expect(await page.content()).not.toContain("Hidden App");
  expect(visit.complaints).toEqual([]);
});
