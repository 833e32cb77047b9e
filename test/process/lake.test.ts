import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { App } from "../../src/db/app.ts";
import { cli, cliJson } from "../cli/run.ts";
import { AdminCaller } from "../support/admin-caller.ts";
import { eventually } from "../support/patience.ts";
import { cleanUp, TouchpointProcess } from "../support/touchpoint.ts";

let server: TouchpointProcess;
let admin: AdminCaller;
let app: App;
beforeAll(async () => {
  server = await TouchpointProcess.start({ env: { ROLES: "http,apply,refresh,postback,cost,lake" } });
  admin = new AdminCaller(server);
  app = await server.appWith(["a", "b"]);
});
afterAll(async () => {
  await server.stop();
  await cleanUp(server.dataDir);
});

const today = () => new Date(Date.now() + 8 * 3_600_000).toISOString().slice(0, 10);

function question(more: object = {}): object {
  const series = [{ source: "event", event: "level", measure: "users" }];
  return { app_id: app.appId, question: { date_list: [today(), today()], by: "total", series, ...more } };
}

test("an event is counted soon after its acknowledgement, and its number opens to the users", async () => {
  const time = Date.now();
  for (const client of ["a", "b"])
    await server.collect(app, client, [{ type: "track", event: "level", time, properties: { n: client } }]);
  const answer = await eventually(async () => {
    const answered = await admin.post("analysis/events", question());
    expect(answered.data.answer?.lines).toMatchObject([{ name: "A", total: 2 }]);
    return answered;
  });
  expect(answer.data.sql).toContain("from events");
  const users = await admin.post("analysis/events/users", { ...question(), cell: { series: 0 } });
  expect(users.data).toMatchObject({ client_ids: ["a", "b"], count: 2 });
});

test("people put queries of their own, which reach one app and nothing else", async () => {
  const sql = (statement: string) => admin.post("analysis/sql", { app_id: app.appId, statement });
  expect((await sql("select event, count(*) as n from events group by 1")).data).toMatchObject({
    columns: ["event", "n"],
    rows: [["level", "2"]],
    is_cut: false,
  });
  for (const statement of [`select * from read_text('${server.dataDir}/secret.key')`, "drop view events", "select"])
    expect(await sql(statement)).toMatchObject({ code: 1004 });
  expect((await sql("create table x as select 1")).msg).toContain("Only queries are answered");
});

test("the command line puts the same questions and queries", async () => {
  const asked = {
    date_list: [today(), today()],
    by: "total",
    series: [{ source: "event", event: "level", measure: "count" }],
  };
  const of = ["--app", String(app.appId)];
  const answer = await cli(server.dataDir, ["ask", "events", ...of, "--json", "--question", JSON.stringify(asked)]);
  expect(JSON.parse(answer.stdout)).toMatchObject({ lines: [{ name: "A", total: 2 }] });
  const statement = await cli(server.dataDir, ["ask", "events", ...of, "--sql", "--question", JSON.stringify(asked)]);
  expect((await cli(server.dataDir, ["sql", ...of, statement.stdout])).code).toBe(0);
  const rows = await cliJson(server.dataDir, ["sql", ...of, "select client_id from users order by 1"]);
  expect(rows).toEqual([{ client_id: "a" }, { client_id: "b" }]);
  expect((await cli(server.dataDir, ["sql", ...of, "--csv", "select 1 as one"])).stdout).toBe("one\r\n1\r\n");
  expect(await cli(server.dataDir, ["sql", ...of, "drop view events"])).toMatchObject({ code: 1 });
  const short = JSON.stringify({ date_list: [today(), today()], steps: [{ source: "order" }], window_minutes: 5 });
  expect((await cli(server.dataDir, ["ask", "funnel", ...of, "--question", short])).stderr).toContain("steps");
});

test("a question that cannot be answered is refused with what to change", async () => {
  const refused = async (more: object) => (await admin.post("analysis/events", question(more))).msg;
  expect(await refused({ date_list: ["2020-01-01", "2024-01-01"] })).toContain("366");
  expect(await refused({ formulas: ["A / Z"] })).toContain("Z");
});

test("verify finds the files equal to the tables, also while the server runs", async () => {
  const checked = await cliJson(server.dataDir, ["lake", "verify", "--app", String(app.appId)]);
  expect(checked).toMatchObject([{ app_id: app.appId, different_days: "", events_in_files: 2, events_stored: 2 }]);
  const status = await cliJson(server.dataDir, ["lake", "status"]);
  expect(status.tables).toContainEqual(expect.objectContaining({ app_id: app.appId, table: "events", rows: 2 }));
  expect(existsSync(join(server.dataDir, "lake", "events", `app=${app.appId}`, `day=${today()}`))).toBe(true);
});
