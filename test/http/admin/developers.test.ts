import { describe, expect, test } from "vitest";
import {
  developerDecision,
  developerKey,
  developerList,
  developerState,
  shownDeveloper,
} from "../../../src/contract/setting/developer.ts";
import { cliJson } from "../../cli/run.ts";
import { AdminCaller, consoleUser, dataOf, refused } from "../../support/admin-caller.ts";
import { sharedServer } from "../../support/shared-server.ts";
import type { Row } from "../fixture.ts";
import { listOf, Reports } from "../report/reports.ts";

const server = sharedServer();
const reports = new Reports(server);
const admin = new AdminCaller(server);
const analyst = consoleUser(server, "analyst");
const post = (path: string, body: Row) => admin.post(`developers/${path}`, body);

const listed = async (id: number): Promise<Row> =>
  dataOf(await analyst.get("developers"), developerList).developers.find((one: Row) => one.id === id);

async function request(more: Row = {}): Promise<number> {
  return dataOf(await post("create", { name: "d", apps: "all", ...more }), developerState).id;
}

async function approve(id: number): Promise<string> {
  return dataOf(await post("decide", { id, state: "approved" }), developerDecision).app_key;
}

describe("developer applications", () => {
  test("are requested, approved and disabled; only the approval shows the key", async () => {
    const app = await server.createApp();
    const asked = { name: "看板", purpose: "daily", apps: [app.appId], rate_calls: 5, rate_window_s: 60 };
    const id = await request(asked);
    const row = { id, ...asked, reason: "", created_at_ms: expect.any(Number) };
    expect(await listed(id)).toEqual({ ...row, state: "requested", decided_at_ms: null });
    expect(await approve(id)).toMatch(/^[0-9a-f]{32}$/);
    expect(await listed(id)).toEqual({ ...row, state: "approved", decided_at_ms: expect.any(Number) });
    const disabled = await post("decide", { id, state: "disabled", reason: "left" });
    expect(dataOf(disabled, developerDecision)).toEqual({ id, state: "disabled" });
    expect(await listed(id)).toMatchObject({ state: "disabled", reason: "left" });
    const onCommandLine = { id, name: "看板", state: "disabled", apps: String(app.appId), rate: "5/60" };
    expect(await cliJson(server.dataDir, ["developer", "list"])).toContainEqual(expect.objectContaining(onCommandLine));
  });

  test("have one call in ten minutes by default", async () => {
    const id = await request();
    expect(await listed(id)).toMatchObject({ apps: "all", rate_calls: 1, rate_window_s: 600, purpose: "" });
  });

  test("can be given another scope and rate; fields that are not named stay", async () => {
    const app = await server.createApp();
    const id = await request({ rate_calls: 100 });
    const appKey = await approve(id);
    expect(await reports.call({ appKey }, "user/list", listOf(app))).toMatchObject({ code: 0 });
    const other = await server.createApp();
    const changed = dataOf(await post("edit", { id, apps: [other.appId] }), shownDeveloper);
    expect(changed).toEqual(await listed(id));
    expect(changed).toMatchObject({ apps: [other.appId], rate_calls: 100, rate_window_s: 600 });
    expect(await reports.call({ appKey }, "user/list", listOf(app))).toMatchObject({ code: 2004 });
    expect((await post("edit", { id, rate_window_s: 60 })).data).toMatchObject({
      apps: [other.appId],
      rate_calls: 100,
      rate_window_s: 60,
    });
  });

  test("get a new key if the old one is lost, and the old one stops working", async () => {
    const app = await server.createApp();
    const id = await request({ rate_calls: 100 });
    const old = await approve(id);
    const { app_key } = dataOf(await post("rotate", { id }), developerKey);
    expect(await reports.call({ appKey: old }, "user/list", listOf(app))).toMatchObject({ code: 2002 });
    expect(await reports.call({ appKey: app_key }, "user/list", listOf(app))).toMatchObject({ code: 0 });
    const { entries } = (await admin.get("audit")).data;
    expect(entries).toContainEqual(expect.objectContaining({ action: "developers/rotate", details: { id } }));
    for (const key of [old, app_key]) expect(JSON.stringify(entries)).not.toContain(key);
  });

  test.each<[string, Row, RegExp, number?]>([
    ["create", { apps: "all" }, /name/],
    ["create", { name: "", apps: "all" }, /name/],
    ["create", { name: "x" }, /apps/],
    ["create", { name: "x", apps: "some" }, /apps/],
    ["create", { name: "x", apps: [] }, /apps/],
    ["create", { name: "x", apps: [999_999_999] }, /app_id/, 2001],
    ["create", { name: "x", apps: "all", rate_calls: 0 }, /rate_calls/],
    ["decide", { state: "approved" }, /id/],
    ["decide", { id: 999_999_999, state: "approved" }, /no developer application/],
    ["decide", { id: 1, state: "requested" }, /state/],
    ["edit", { apps: "all" }, /id/],
    ["edit", { id: 999_999_999, apps: "all" }, /no developer application/],
    ["edit", { id: 1, rate_window_s: 0 }, /rate_window_s/],
    ["rotate", { id: 999_999_999 }, /no developer application/],
  ])("%s refuses %j", async (path, body, msg, code) => {
    expect(await post(path, body)).toMatchObject(refused(msg, code));
  });

  test("cannot be approved, changed or given a key by an analyst", async () => {
    const id = await request();
    for (const [path, body] of [
      ["create", { name: "x", apps: "all" }],
      ["decide", { id, state: "approved" }],
      ["edit", { id, apps: "all" }],
      ["rotate", { id }],
    ] as const)
      expect(await analyst.post(`developers/${path}`, body)).toMatchObject(refused(/Your role/, 2004));
    expect(await listed(id)).toMatchObject({ state: "requested" });
  });
});
