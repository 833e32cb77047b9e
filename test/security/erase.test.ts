import { expect, test } from "vitest";
import type { App } from "../../src/db/app.ts";
import { cli, cliJson, expectFailure } from "../cli/run.ts";
import { ask, BASE, Tables, track } from "../http/fixture.ts";
import { adReportOf, listOf, Reports } from "../http/report/reports.ts";
import { eventually } from "../support/patience.ts";
import { sharedServer } from "../support/shared-server.ts";

const server = sharedServer();
const tables = new Tables(server);
const reports = new Reports(server);

const payment = (order: string) => track("$PayEvent", { $order_id: order, $pay_amount: 600, $pay_type: "CNY" });

async function appWith(...clients: string[]): Promise<App> {
  const app = await server.createApp();
  for (const client of clients) {
    expect(await server.register(app, client)).toMatchObject({ code: 0 });
    expect(await server.collect(app, client, [payment(`o-${client}`)])).toMatchObject({ code: 0 });
  }
  return app;
}

test("an erased user disappears from every answer at once, and the reports count the others exactly", async () => {
  const app = await appWith("gone", "kept");
  const developer = await reports.developer();
  await reports.counted(developer, app, 2);
  const answer = await reports.admin("users/erase", { app_id: app.appId, client_id: "gone" });
  expect(answer.data).toEqual({ client_id: "gone", state: "erased" });
  expect((await server.post("user/get/", app, { user_list: ["gone", "kept"] })).data.user_list).toHaveLength(1);
  expect(await server.collect(app, "gone", [track("later")])).toMatchObject({ code: 2000 });
  for (const path of ["user/list", "order/list"]) {
    const { list } = (await reports.call(developer, path, listOf(app))).data;
    expect(list.map((row: { ClientID: string }) => row.ClientID)).toEqual(["kept"]);
  }
  await reports.counted(developer, app, 1);
  await eventually(async () => {
    const body = adReportOf(app, { metrics_list: ["AppGamePayAmountStandard"] });
    expect((await reports.call(developer, "combo_sql", body)).data.total).toEqual([{ AppGamePayAmountStandard: 6 }]);
  });
  const ledger = await tables.ledger(app);
  expect(ledger).toEqual({ received: 2, stored: 2 });
});

test("a user who registered a moment ago can be erased, and can register again", async () => {
  const app = await server.createApp();
  await server.register(app, "u", { name: "before" });
  expect(await reports.admin("users/erase", { app_id: app.appId, client_id: "u" })).toMatchObject({ code: 0 });
  expect(await tables.user(app, "u")).toBeUndefined();
  await server.register(app, "u", { name: "after" });
  expect(await tables.user(app, "u")).toMatchObject({ name: "after" });
});

test("the live stream forgets an erased user", async () => {
  const app = await appWith("gone", "kept");
  const headers = { "turbo-debug-mode": "1" };
  for (const client of ["gone", "kept"]) {
    await server.post("event/collect/", app, { client_id: client, event_list: [track(`by_${client}`)] }, { headers });
  }
  await reports.admin("users/erase", { app_id: app.appId, client_id: "gone" });
  const stopping = new AbortController();
  const stream = await fetch(`${server.url}${BASE}/event/stream?app_id=${app.appId}`, {
    headers: { authorization: `Bearer ${app.appKey}` },
    signal: stopping.signal,
  });
  let seen = "";
  for await (const chunk of stream.body!) {
    seen += Buffer.from(chunk).toString();
    if (seen.includes("by_kept")) break;
  }
  stopping.abort();
  expect(seen).not.toContain("by_gone");
});

test("the command line erases too, and says what is left in the journal", async () => {
  const app = await appWith("gone");
  const erased = await cli(server.dataDir, ["user", "erase", "--app", String(app.appId), "gone"]);
  expect(erased).toMatchObject({ code: 0, stdout: expect.stringMatching(/^Erased\. .*JOURNAL_KEEP_DAYS/) });
  expect(await tables.user(app, "gone")).toBeUndefined();
  const again = await cli(server.dataDir, ["user", "erase", "--app", String(app.appId), "gone"]);
  expectFailure(again, /no user with this client_id.*2000/);
  await server.register(app, "other");
  expect(await cliJson(server.dataDir, ["user", "erase", "--app", String(app.appId), "other"])).toEqual({
    client_id: "other",
    state: "erased",
  });
  const actors = "select actor from audit_log where app_id = $1 and action = 'users/erase'";
  const actor = expect.stringMatching(/^command line \(.+\)$/);
  expect(await tables.query(actors, [app.appId])).toEqual([{ actor }, { actor }]);
});

test("the audit log says that a user was erased, and no longer names them", async () => {
  const app = await appWith("named");
  await reports
    .admin("postback/resend", { app_id: app.appId, client_id: "named", trace_id: "o-named" })
    .catch(() => {});
  await reports.admin("users/erase", { app_id: app.appId, client_id: "named" });
  const rows = await tables.query("select action, details::text as details from audit_log where app_id = $1", [
    app.appId,
  ]);
  expect(rows.map(({ action }) => action)).toContain("users/erase");
  for (const { details } of rows) expect(details).not.toContain("named");
});

test("an unknown user, or one of another app, is refused with 2000 and nothing is erased", async () => {
  const [app, other] = [await appWith("u"), await server.createApp()];
  await expect(reports.admin("users/erase", { app_id: other.appId, client_id: "u" })).rejects.toThrow(/no user/);
  await expect(reports.admin("users/erase", { app_id: app.appId, client_id: "" })).rejects.toThrow(/client_id/);
  const open = await ask(server, "POST", "/admin/api/v1/users/erase", {
    body: JSON.stringify({ app_id: app.appId, client_id: "u" }),
  });
  expect(open).toMatchObject({ code: 2002 });
  expect(await tables.user(app, "u")).toBeDefined();
});
