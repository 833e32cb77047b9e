import { afterAll, beforeAll, expect, test } from "vitest";
import { StandInProvider } from "../support/identity-provider.ts";
import { cleanUp, TouchpointProcess } from "../support/touchpoint.ts";
import { Visit } from "./browser.ts";
import { takeTab } from "./tabs.ts";

let provider: StandInProvider;
let server: TouchpointProcess;

beforeAll(async () => {
  provider = await StandInProvider.start();
  const env = { OIDC_ROLES: '{"games": "operator"}', OIDC_PEOPLE: "create" };
  server = await TouchpointProcess.start({ env: { ...provider.env, ...env } });
  provider.redirects.add(`${server.url}/console/signed-in`);
});
afterAll(async () => {
  expect(await server.stop()).toBe(0);
  await cleanUp(server.dataDir);
  await provider.stop();
});

test("a person signs in at the identity provider, and out there too; a refusal is shown in words", async () => {
  const visit = new Visit(await takeTab("laptop"), server.url);
  const { page } = visit;
  const goThere = page.getByRole("button", { name: "Sign in with Stand-in" });
  await visit.open("/");
  await visit.inspect("sign-in-provider", () => goThere.waitFor());
  provider.person = { sub: "1", email: "lin@example.com", email_verified: true, groups: [] };
  await goThere.click();
  await visit.inspect("sign-in-refused", () => page.getByText("None of your groups").waitFor());
  expect(page.url()).toBe(`${server.url}/console/signed-in`);
  await page.getByRole("button", { name: "Back to the sign-in page" }).click();
  provider.person = { ...provider.person, groups: ["games"] };
  await goThere.click();
  await page.getByText("lin@example.com").waitFor();
  await page.getByText("Operator").waitFor();
  await visit.open("/account?tab=sessions");
  await page.getByText("Identity provider").waitFor();
  await page.getByRole("button", { name: "Sign out", exact: true }).click();
  await goThere.waitFor();
  expect(provider.calls).toContain("/end-session");
  expect(visit.complaints).toEqual([]);
});
