import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { settle } from "../../src/cli/operation/settle-command.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { TouchpointProcess } from "../support/touchpoint.ts";
import { PASSWORD, setupToken, Visit } from "./browser.ts";
import { takeTab } from "./tabs.ts";

const run = promisify(execFile);
let server: TouchpointProcess;

beforeAll(async () => {
  server = await TouchpointProcess.start();
});

afterAll(async () => {
  expect(await server.stop()).toBe(0);
});

test("the printed link of the first start leads to an attributed payment on the chart, without the docs", async () => {
  const visit = new Visit(await takeTab("laptop"), server.url);
  const { page } = visit;

  await visit.open(`/setup#${setupToken(server)}`);
  await visit.inspect("setup", () => page.locator("form").waitFor());
  await page.getByLabel("Password", { exact: true }).fill(PASSWORD);
  await page.getByLabel("Repeat password").fill("something else");
  await page.getByText("The passwords do not match.").waitFor();
  await page.getByLabel("Repeat password").fill(PASSWORD);
  await page.getByRole("button", { name: "Set password and sign in" }).click();

  // The demo app is there, with its snippets.
  await page.getByRole("heading", { name: "Start here" }).waitFor();
  await page.getByRole("button", { name: "Create test campaign" }).click();
  const lines = page.locator("[role=tabpanel] pre");
  await lines.first().waitFor();
  await run("sh", ["-c", (await lines.allTextContents()).join("\n")]);
  await page.getByText("this is an attributed payment").waitFor();
  // The ad report follows a little later.
  await settle(server.url, PATIENCE_MS);

  // Six yuan, by Tencent, in the tiles and in the table beside the chart.
  await page.getByRole("link", { name: "Overview" }).click();
  await page.getByRole("heading", { name: "Ad cost and revenue by platform" }).waitFor();
  await page.getByRole("row", { name: /Tencent.*6\.00/ }).waitFor();
  await page
    .getByRole("img", { name: /revenue/i })
    .locator("canvas")
    .waitFor();
  expect(visit.complaints).toEqual([]);
});
