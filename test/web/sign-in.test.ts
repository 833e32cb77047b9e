import type { Response } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { ConsoleTest, PASSWORD, type Visit } from "./browser.ts";

let site: ConsoleTest;

beforeAll(async () => {
  site = await ConsoleTest.shared();
});

async function signIn({ page }: Visit, password: string): Promise<void> {
  await page.getByLabel("Name").fill("admin");
  await page.getByLabel("Password", { exact: true }).fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
}

const isIn = ({ page }: Visit) => page.getByRole("button", { name: "Sign out" }).waitFor();
const isOut = ({ page }: Visit) => page.getByRole("heading", { name: "Sign in" }).waitFor();

describe("signing in", () => {
  test("the page is readable in both themes and languages", async () => {
    const visit = await site.visit({ as: "nobody" });
    await visit.open("/");
    await visit.inspect("sign-in", (page) => page.locator("form").waitFor());
    await visit.look({ theme: "light", language: "zh" });
    await expect.poll(() => visit.page.locator("html").getAttribute("lang")).toBe("zh-CN");
  });

  test("a wrong password is refused in words, the right one signs in, and signing out works", async () => {
    const visit = await site.visit({ as: "nobody" });
    await visit.open("/");
    await signIn(visit, "a wrong one altogether");
    await visit.page.getByText("Name or password is wrong.").waitFor();
    await signIn(visit, PASSWORD);
    await isIn(visit);
    await visit.page.getByRole("button", { name: "Sign out" }).click();
    await isOut(visit);
    expect(visit.complaints).toEqual([]);
  });

  test("an ended session shows the sign-in page again", async () => {
    const visit = await site.visit({ as: "nobody" });
    await visit.open("/");
    await signIn(visit, PASSWORD);
    await isIn(visit);
    const pool = site.server.database();
    await pool.query(
      `update console_session set seen_at_ms = seen_at_ms - 13 * 3600000
        where created_at_ms = (select max(created_at_ms) from console_session)`,
    );
    await pool.end();
    await visit.open("/");
    await isOut(visit);
  });

  test("signing out of an ended session works, and an unreachable server is reported", async () => {
    const visit = await site.visit({ as: "nobody" });
    const { page } = visit;
    await visit.open("/account");
    await signIn(visit, PASSWORD);
    await isIn(visit);
    await page.route("**/sign-out", (route) => route.abort());
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByText("The server cannot be reached.").waitFor();
    await page.unroute("**/sign-out");
    await page.context().clearCookies();
    await page.getByRole("button", { name: "Sign out" }).click();
    await isOut(visit);
  });
});

describe("the browser's protection", () => {
  test("every answer forbids what the console does not need", async () => {
    const answer = await fetch(`${site.server.url}/console/`);
    const policy = answer.headers.get("content-security-policy")!;
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain("unsafe");
    expect(policy).not.toMatch(/https?:/);
    expect(answer.headers.get("x-frame-options")).toBe("DENY");
    expect(await answer.text()).not.toMatch(/<script(?![^>]*\bsrc=)|\bstyle=|<style/);
  });

  test("the root leads to the console, and each page has its own address", async () => {
    const root = await fetch(`${site.server.url}/`, { redirect: "manual" });
    expect([root.status, root.headers.get("location")]).toEqual([302, "/console/"]);
    const page = await fetch(`${site.server.url}/console/users/some-client`);
    expect([page.status, page.headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
  });

  test("the first load is less than 400 KB, compressed", async () => {
    const visit = await site.visit({ as: "nobody" });
    const devTools = await visit.page.context().newCDPSession(visit.page);
    await devTools.send("Network.enable");
    await devTools.send("Network.setCacheDisabled", { cacheDisabled: true });
    const responses: Response[] = [];
    visit.page.on("response", (response) => responses.push(response));
    await visit.open("/");
    await signIn(visit, PASSWORD);
    await isIn(visit);
    await visit.page.waitForLoadState("networkidle");
    const sizes = await Promise.all(responses.map((response) => response.request().sizes()));
    const bytes = sizes.reduce((sum, { responseBodySize }) => sum + responseBodySize, 0);
    await devTools.detach();
    expect(bytes).toBeGreaterThan(50_000);
    expect(bytes).toBeLessThan(400_000);
  });

  test.each([
    "/console/../../package.json",
    "/console/..%2f..%2fpackage.json",
    "/console/%2e%2e/%2e%2e/package.json",
    "/console/assets/..%5c..%5cpackage.json",
    "/console//etc/passwd",
    "/console/index.html%00.js",
    "/console/assets/missing.js",
  ])("%s reaches nothing outside the console", async (path) => {
    const answer = await fetch(`${site.server.url}${path}`);
    const text = await answer.text();
    expect(text).not.toContain("dependencies");
    expect(text).not.toContain("root:");
    expect(answer.status === 404 || text.includes('<div id="root">')).toBe(true);
  });
});
