import { beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../src/db/app.ts";
import { ask, BASE, track } from "../http/fixture.ts";
import { ConsoleTest, type Visit } from "./browser.ts";

let site: ConsoleTest;
let app: App;
beforeAll(async () => {
  site = await ConsoleTest.shared();
  app = await site.server.createApp({ name: "My game", metadataMode: "strict" });
  await site.server.register(app, "player-1", { wx_openid: "oXyz5_test-openid_28characte" });
});

const DEBUG = { headers: { "turbo-debug-mode": "1" } };
const collect = (client: string, events: unknown[], options = {}) =>
  site.server.post("event/collect/", app, { client_id: client, event_list: events }, options);

async function open(path = "", as?: { cookie: string }): Promise<Visit> {
  const visit = await site.visit(as ? { as } : {});
  await visit.open(`/live?app=${app.appId}${path}`);
  await visit.page.getByText("Connected").waitFor();
  return visit;
}

const callsOf = ({ page }: Visit) => page.locator(".calls > li");
const newest = (visit: Visit) => callsOf(visit).first();

describe("the live page", () => {
  test("shows calls as they arrive, and in red why something was not stored", async () => {
    const visit = await open();
    await collect("player-1", [track("$MPLaunch"), track("boss_killed", { level: 3 })]);
    await visit.page.getByText("1 rejected").first().waitFor();
    const row = newest(visit);
    await row.getByText("boss_killed").waitFor();
    await row.locator("summary").click();
    await row.getByText("is not declared in this app's metadata").waitFor();
    await expect.poll(() => row.locator("pre").textContent()).toContain('"level": 3');
    await collect("stranger", [track("$MPShow")]);
    await visit.page.getByText("refused 2000").waitFor();
    await site.server.post("event/collect/", app, '{"client_id":');
    await visit.page.getByText("refused 1001").waitFor();
    expect(visit.complaints).toEqual([]);
  });

  test("holds calls back while it is paused, and shows them afterwards", async () => {
    const visit = await open();
    const { page } = visit;
    // Earlier calls come first, and must not be among those held back.
    await collect("player-1", [track("$MPLaunch", { $scene: "before" })]);
    await newest(visit).getByText("$MPLaunch").waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    await collect("player-1", [track("$MPShow", { $scene: "while-paused" })]);
    await page.getByRole("button", { name: "Resume (1 new)" }).waitFor();
    await page.getByRole("button", { name: "Clear" }).click();
    await page.getByText("Nothing has arrived yet").waitFor();
    await page.getByRole("button", { name: "Resume (1 new)" }).click();
    await newest(visit).getByText("$MPShow").waitFor();
    await expect.poll(() => callsOf(visit).count()).toBe(1);
  });

  test("shows one client, one event or debug mode, with the filter in the address", async () => {
    await site.server.register(app, "player-2");
    const visit = await open();
    const { page } = visit;
    await page.getByLabel("Client ID").fill("player-2");
    await expect.poll(() => page.url()).toContain("client=player-2");
    await collect("player-1", [track("$MPHide")]);
    await collect("player-2", [track("$MPHide")]);
    await newest(visit).getByText("event/collect").waitFor();
    const clients = async () => [...new Set(await page.locator(".call .client").allTextContents())];
    await expect.poll(clients).toEqual(["player-2"]);

    const ofDebug = await open("&scope=debug");
    await collect("player-1", [track("$MPShare")]);
    await collect("player-1", [track("$MPLogin")], DEBUG);
    await newest(ofDebug).getByText("$MPLogin").waitFor();
    await expect.poll(() => callsOf(ofDebug).count()).toBe(1);
  });

  test("says what to do if there is nothing to see", async () => {
    const visit = await open("&client=nobody");
    await visit.page.getByText("Nothing matches").waitFor();
  });

  test("shows the sign-in page when the session has ended", async () => {
    const visit = await open("", await site.newAnalyst());
    const pool = site.server.database();
    await pool.query("delete from console_session where user_id = (select max(user_id) from admin_user)");
    await pool.end();
    await visit.page.getByRole("heading", { name: "Sign in" }).waitFor();
  });
});

describe("the doctor", () => {
  test("points out mistakes beside the stream, and declares an undeclared event by a click", async () => {
    const visit = await open();
    const { page } = visit;
    await collect(
      "player-1",
      [track("boss_killed"), track("$PayEvent", { $pay_amount: 6.5, $order_id: "o-1" })],
      DEBUG,
    );
    const query = { app_id: String(app.appId), company: "tencent", click_id: "c-1", imei: "__IMEI__" };
    await ask(site.server, "GET", `${BASE}/event/click/`, { query });
    await page.getByText("Amounts look like yuan, not cents").waitFor();
    await page.getByText("Unreplaced macros").waitFor();
    await page.getByRole("button", { name: "Declare it" }).click();
    await page.getByText("Event declared.").waitFor();
    await page.getByText("Undeclared events").waitFor({ state: "detached" });
    expect(await collect("player-1", [track("boss_killed")])).toMatchObject({ code: 0, extra: {} });
    await page.getByRole("button", { name: "Start over" }).click();
    await page.getByText("Amounts look like yuan, not cents").waitFor({ state: "detached" });
    expect(visit.complaints).toEqual([]);
  });

  test("shows an analyst what is wrong, without anything to change", async () => {
    await collect("player-1", [track("other_boss")], DEBUG);
    const visit = await open("", await site.analyst());
    await visit.page.getByText("Undeclared events").waitFor();
    await expect.poll(() => visit.page.getByRole("button", { name: /^Declare/ }).count()).toBe(0);
  });
});

describe("the page is readable", () => {
  test("in both themes and languages, and it fits a phone", async () => {
    await collect("player-1", [track("$PayEvent", { $pay_amount: 600, $order_id: "o-2" }), track("bad name")], DEBUG);
    const visit = await open();
    await visit.inspect("live", async (page) => {
      await page.locator(".calls > li").first().locator("summary").click();
      await page.locator(".finding").first().waitFor();
    });
    await visit.fitsPhone("live");
    expect(visit.complaints).toEqual([]);
  });
});
