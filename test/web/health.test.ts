import { afterAll, beforeAll, expect, test } from "vitest";
import type { App } from "../../src/db/app.ts";
import { forgetLakeState, saveLakeState } from "../../src/db/lake-state.ts";
import { noteNode, removeNode } from "../../src/db/node.ts";
import { BASE, track } from "../http/fixture.ts";
import { ConsoleTest, LastingVisit, type Visit } from "./browser.ts";

let site: ConsoleTest;
let app: App;
let pool: ReturnType<ConsoleTest["server"]["database"]>;
beforeAll(async () => {
  site = await ConsoleTest.shared();
  pool = site.server.database();
  app = await site.server.createApp({ name: "My game" });
  await site.server.register(app, "player-1");
  const event = track("level_up");
  await site.server.collect(app, "player-1", [event, event, track("bad name"), track("old", {}, 1e12)]);
  await site.server.collect(app, "player-1", [
    track("$PayEvent", { $pay_amount: 500, $pay_type: "USD", $order_id: "o-1" }),
  ]);
  await site.api("accounts/set", { app_id: app.appId, ad_platform: "kuaishou" });
  await pool.query(
    `insert into outbox (app_id, client_id, event_type, subject, lane, due_at_ms, attempts, in_flight, content)
      values ($1, 'player-1', 'pay', 'o-1', $2, $3, 1, false, '{}')`,
    [app.appId, `${app.appId} kuaishou `, Date.now() + 3_600_000],
  );
  await pool.query(
    "update platform_account set last_error = 'The token has expired.', last_error_at_ms = $2 where app_id = $1",
    [app.appId, Date.now()],
  );
  // Without a platform, so that nothing is stored; and more than the half minute's worth of bytes that may come at once.
  const click = `${site.server.url}${BASE}/event/click/?app_id=${app.appId}&click_id=${"1".repeat(8_000)}`;
  await Promise.all(Array.from({ length: 10 }, () => fetch(click)));
  await noteNode(pool, { ...GONE, host: "b-machine", processId: 4711, address: "http://b-machine:8080" });
  await pool.query("update node set seen_at_ms = seen_at_ms - 60000 where node_id = $1", [GONE.nodeId]);
  await site.server.settle();
});
afterAll(async () => {
  await removeNode(pool, GONE.nodeId);
  await pool.end();
});

/** A process that has gone a minute ago. */
const GONE = { nodeId: "gone", roles: ["postback"], version: "0.0.9", trouble: "" };

const lasting = new LastingVisit(() => site);

async function setAside(count: number, payload = "不是 an entry <script>alert(1)</script>"): Promise<void> {
  await pool.query(
    `insert into set_aside (journal_id, from_position, until_position, app_id, received_at_ms, reason, payload, state)
      select 'tests', n, n + 1, $1, $2, 'Entry ' || n || ' is not understood.', $3, 'waiting' from generate_series(1, $4) n`,
    [app.appId, Date.now(), Buffer.from(payload), count],
  );
}

async function open(as?: { cookie: string }): Promise<Visit> {
  const address = `/health?app=${app.appId}`;
  const visit = as ? await site.visit({ as }) : await lasting.open(address);
  if (as) await visit.open(address);
  await visit.page.getByRole("heading", { name: "Health" }).waitFor();
  return visit;
}

test("shows the state of the server, and what needs attention", async () => {
  const { page, complaints } = await open();
  await page.getByText("Needs attention").waitFor();
  await page.getByText("Orders in a currency without a rate count with amount 0.").waitFor();
  await page.getByText("An account at an ad platform reports an error.").waitFor();
  await page.getByText("The token has expired.").waitFor();
  await page.getByText(/^PostgreSQL 18/).waitFor();
  await page.getByText("A process of this installation has gone without stopping").waitFor();
  const processes = page.getByRole("region", { name: "Processes" });
  await processes.getByText("b-machine · 4711").waitFor();
  await processes.getByText("now", { exact: true }).waitFor();
  // It refreshes by itself, and draws the history.
  await page.getByText("Since this page was opened").waitFor();
  const lanes = page.getByRole("region", { name: "Postbacks" });
  await lanes.getByText("kuaishou").first().waitFor();
  await page.getByRole("region", { name: "Orders without a rate" }).getByText("USD").waitFor();
  const refused = page.getByRole("region", { name: "Refused calls" });
  await refused.getByText("My game").waitFor();
  await refused.getByText(/^More link calls from one address/).waitFor();
  expect(complaints).toEqual([]);
});

test("the ledger adds up and says so, and follows new data", async () => {
  const { page } = await open();
  await page.getByText("Adds up: 5 received = 2 stored + 1 duplicate + 2 rejected").waitFor();
  await page.locator(".chart canvas").first().waitFor();
  await site.server.collect(app, "player-1", [track("later")]);
  await page.getByText("Adds up: 6 received = 3 stored + 1 duplicate + 2 rejected").waitFor();
  await page.getByLabel("Ledger").selectOption("touches");
  await page.getByText("Nothing received in this period").waitFor();
  expect(page.url()).toContain("of=touches");
  await page.getByLabel("Range").selectOption("month");
  await page.getByText("Adds up: 0 received").waitFor();
});

test("entries set aside are shown as text, page by page, and replayed by an admin", async () => {
  await setAside(52);
  const { page, complaints } = await open();
  const table = page.getByRole("region", { name: "Set aside" });
  await table.getByText("Entry 52 is not understood.").waitFor();
  await table.getByRole("button", { name: "Show" }).first().click();
  await page.getByRole("dialog").getByText("不是 an entry <script>alert(1)</script>").waitFor();
  await expect.poll(() => page.getByText(/The first|Only the beginning/).count(), { message: "it is whole" }).toBe(0);
  await page.getByRole("button", { name: "Close" }).click();
  await page.getByRole("button", { name: "Older" }).click();
  await table.getByText("Entry 2 is not understood.").waitFor();
  await expect.poll(() => table.locator("tbody tr").count()).toBe(2);
  await page.getByRole("button", { name: "Newest" }).click();
  await page.getByRole("button", { name: "Replay all" }).click();
  await page.getByText("52 entries are being replayed.").waitFor();
  // They still cannot be applied, now each for its own reason.
  await table
    .getByText(/Entry \d+ is not understood/)
    .first()
    .waitFor({ state: "detached" });
  expect(complaints).toEqual([]);
});

test("an analyst sees them, and replays nothing", async () => {
  await setAside(1);
  const { page } = await open(await site.analyst());
  await page.getByRole("region", { name: "Set aside" }).getByRole("button", { name: "Show" }).first().waitFor();
  await expect.poll(() => page.getByRole("button", { name: /Replay/ }).count()).toBe(0);
});

test("the page is readable in both themes and languages, and fits a phone", async () => {
  await pool.query("delete from set_aside where set_aside_id > (select min(set_aside_id) + 2 from set_aside)");
  const visit = await open();
  await visit.inspect("health", async (page) => {
    await page.locator(".chart canvas").first().waitFor();
    await page.locator(".table tbody tr").first().waitFor();
  });
  await visit.fitsPhone("health");
});

test("the lake and its bucket are shown, and why the bucket is not in step, in both languages", async () => {
  const nowMs = Date.now();
  const failure = "The bucket does not exist.";
  const counts = { waitingFiles: 3, files: 12, bytes: 5 * 1024 * 1024 };
  await saveLakeState(pool, "files", { ...counts, workedAtMs: nowMs, behindSinceMs: null, failure: "" });
  await saveLakeState(pool, "bucket", { ...counts, workedAtMs: nowMs, behindSinceMs: nowMs - 600_000, failure });
  try {
    const visit = await open();
    await visit.page.getByText("The lake's bucket cannot be brought in step.").waitFor();
    await visit.page.getByText(`12 files · 3 to upload · ${failure}`).waitFor();
    await visit.page.getByText("0 files · 0 days to write").waitFor();
    await visit.look({ theme: "light", language: "zh" });
    await visit.page.getByText("数据湖的存储桶无法同步").waitFor();
    await visit.page.getByText(`12 个文件 · 3 个待上传 · ${failure}`).waitFor();
    await forgetLakeState(pool, "bucket");
    await visit.page.getByText("数据湖的存储桶无法同步").waitFor({ state: "detached" });
  } finally {
    await forgetLakeState(pool, "bucket");
    await forgetLakeState(pool, "files");
  }
});

test("stuck apply is shown with its reason, in both languages, until it goes on", async () => {
  await pool.query("alter table user_day rename to user_day_gone");
  try {
    await site.server.collect(app, "player-1", [track("waits")]);
    const visit = await open();
    const reason = visit.page.getByText('Apply is stuck because relation "user_day" does not exist (42P01).');
    await visit.page.getByText("Nothing reaches the tables.").waitFor();
    await reason.waitFor();
    await visit.look({ theme: "light", language: "zh" });
    await visit.page.getByText("数据无法写入数据表。").waitFor();
    await reason.waitFor();
    await pool.query("alter table user_day_gone rename to user_day");
    await reason.waitFor({ state: "detached" });
  } finally {
    // Other files use this server too.
    await pool.query("alter table if exists user_day_gone rename to user_day");
  }
});
