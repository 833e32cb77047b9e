import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { App } from "../../src/db/app.ts";
import { cli, cliJson } from "../cli/run.ts";
import { AdminCaller } from "../support/admin-caller.ts";
import { eventually } from "../support/patience.ts";
import { cleanUp, TouchpointProcess } from "../support/touchpoint.ts";
import { CLI } from "./launch.ts";

type Row = Record<string, any>;

/** Every third user pays, those with even numbers twice. */
const CLIENTS = Array.from({ length: 12 }, (_, number) => `user-${String(number).padStart(2, "0")}`);
const PAYERS = CLIENTS.filter((_, number) => number % 3 === 0);
const TWICE = CLIENTS.filter((_, number) => number % 6 === 0);
const PAID_TWICE = { kind: "did", source: "order", measure: "count", operator: "at_least", values: [2], last_days: 7 };

let server: TouchpointProcess;
let admin: AdminCaller;
let app: App;
let segmentId: number;
beforeAll(async () => {
  server = await TouchpointProcess.start({ env: { ROLES: "http,apply,refresh,postback,cost,lake" } });
  admin = new AdminCaller(server);
  app = await server.createApp();
  const time = Date.now();
  const pay = (id: string) => ({
    type: "track",
    event: "$PayEvent",
    time,
    properties: { $order_id: id, $pay_amount: 600, $pay_type: "CNY" },
  });
  for (const [number, client] of CLIENTS.entries()) {
    const device = number % 2 === 0 ? { device_info: { os_name: "android", oaid: `oaid-${number}`, imei: "" } } : {};
    await server.register(app, client, { channel: "official", ...device });
    const orders = PAYERS.includes(client)
      ? [pay(`${client}-1`), ...(number % 2 === 0 ? [pay(`${client}-2`)] : [])]
      : [];
    await server.collect(app, client, [{ type: "track", event: "level", time, properties: { n: number } }, ...orders]);
  }
  await server.settle();
  segmentId = (await post("segments/save", { name: "paid again", condition: PAID_TWICE })).data.segment_id;
  await eventually(async () => expect((await users({ kind: "saved", segment: segmentId })).count).toBe(TWICE.length));
  await eventually(async () => expect(await levels()).toBe(CLIENTS.length));
});
afterAll(async () => {
  await server.stop();
  await cleanUp(server.dataDir);
});

const post = (path: string, body: Row) => admin.post(path, { app_id: app.appId, ...body });
const today = () => new Date(Date.now() + 8 * 3_600_000).toISOString().slice(0, 10);
const days = () => ({ date_list: [today(), today()] });
const series = [{ source: "event", event: "level", measure: "users" }];
const events = (more: Row) => post("analysis/events", { question: { ...days(), by: "total", series, ...more } });
const levels = async (more: Row = {}) => (await events(more)).data.answer?.lines[0].total;
const users = async (segment: Row) =>
  (await post("analysis/segment", { question: { ...days(), segment } })).data.answer;
const list = { user_filtering: {}, event_filtering: {} };

test("a question names a segment by its id or its name, and its answer shows the condition", async () => {
  for (const segment of [segmentId, "paid again"]) {
    const { data } = await events({ segment: { kind: "saved", segment } });
    expect(data.answer.lines[0].total).toBe(TWICE.length);
    expect(data.saved_segments).toEqual([{ segment_id: segmentId, name: "paid again", condition: PAID_TWICE }]);
    expect(data.sql).toContain("having count(*) >= cast('2' as decimal(38, 6))");
  }
  const either = [
    { kind: "saved", segment: segmentId },
    { kind: "did", source: "event", event: "level", measure: "sum", property: "n", operator: "equal", values: [1] },
  ];
  expect((await users({ join: "or", parts: either })).client_ids).toEqual([...TWICE, CLIENTS[1]].sort());
  const behind = { question: { ...days(), by: "total", series, segment: either[0] }, cell: { series: 0 } };
  expect((await post("analysis/events/users", behind)).data).toMatchObject({ client_ids: TWICE, count: TWICE.length });
  expect((await events({ segment: { kind: "saved", segment: "unpaid" } })).msg).toContain('named "unpaid"');
});

test("the lists of users and orders show those of the segment, with its totals", async () => {
  const listed = (path: string, more: Row = {}) =>
    post(path, { ...list, segment_filtering: { segment: "paid again" }, ...more });
  const people = (await listed("report/users", { page_size: 1 })).data;
  expect(people.page_info.total_number).toBe(TWICE.length);
  expect(people.list).toHaveLength(1);
  expect(TWICE).toContain(people.list[0].ClientID);
  const orders = (await listed("report/orders")).data;
  expect(orders.list.map((order: Row) => order.TraceID).sort()).toEqual(
    TWICE.flatMap((client) => [`${client}-1`, `${client}-2`]),
  );
  expect(orders.total[0].Amount).toBe(TWICE.length * 2 * 600);
  const narrowed = { user_filtering: { client_id_list: [TWICE[0], PAYERS[1]] } };
  expect((await listed("report/users", narrowed)).data.list).toMatchObject([{ ClientID: TWICE[0] }]);
  const nobody = { segment_filtering: { segment: segmentId, date_list: ["2024-01-01", "2024-01-02"] } };
  expect((await listed("report/users", nobody)).data).toMatchObject({ list: [], page_info: { total_number: 0 } });
  const text = await exported("export", { kind: "users", segment_filtering: { segment: segmentId } });
  expect(text.trim().split("\n")).toHaveLength(TWICE.length);
});

async function exported(path: string, body: Row): Promise<string> {
  const response = await fetch(`${server.url}/admin/api/v1/${path}`, {
    method: "POST",
    headers: { ...admin.headers, "content-type": "application/json" },
    body: JSON.stringify({ app_id: app.appId, ...body }),
  });
  return response.text();
}

test("a segment is exported as client ids or ids of devices, which the audit log notes", async () => {
  const everybody = (
    await post("segments/save", { name: "everybody", condition: { kind: "registered", last_days: 30 } })
  ).data.segment_id;
  const clients = await exported("segments/export", { segment: everybody, kind: "clients" });
  expect(clients).toBe(CLIENTS.map((client_id) => `${JSON.stringify({ client_id })}\n`).join(""));
  const devices = await exported("segments/export", { segment: "everybody", kind: "devices", format: "csv" });
  expect(devices.split("\r\n")).toEqual([
    "client_id,os_platform,android_id,imei,oaid,idfa,idfv,caid1_md5,caid2_md5,mac",
    ...CLIENTS.flatMap((client, number) => (number % 2 === 0 ? [`${client},android,,,oaid-${number},,,,,`] : [])),
    "",
  ]);
  const { entries } = (await admin.get("audit", { app_id: app.appId })).data;
  expect(entries.filter(({ action }: Row) => action === "segments/export")).toMatchObject([
    { details: { segment: "everybody", kind: "devices", format: "csv" } },
    { details: { segment: everybody, kind: "clients" } },
  ]);
  const unknown = await post("segments/export", { segment: "nobody", kind: "clients" });
  expect(unknown.msg).toContain('no saved segment named "nobody"');
});

test("the command line lists, saves, uses, exports and removes segments", async () => {
  const of = ["--app", String(app.appId)];
  const condition = JSON.stringify({ ...PAID_TWICE, values: [1] });
  const saved = await cliJson(server.dataDir, ["segments", "save", "payers", ...of, "--condition", condition]);
  const named = await cliJson(server.dataDir, ["segments", "list", ...of]);
  expect(named).toContainEqual(expect.objectContaining({ ...saved, name: "payers", views: 0 }));
  const question = JSON.stringify({ ...days(), segment: { kind: "saved", segment: "payers" } });
  const asked = await cliJson(server.dataDir, ["ask", "segment", ...of, "--question", question]);
  expect(asked).toEqual({ client_ids: PAYERS, count: PAYERS.length });
  const exported = await cli(server.dataDir, ["segments", "export", "payers", ...of, "--format", "csv"]);
  expect(exported).toMatchObject({ code: 0, stderr: `${PAYERS.length} clients\n` });
  expect(exported.stdout).toBe(["client_id", ...PAYERS, ""].join("\r\n"));
  await cliJson(server.dataDir, ["segments", "rename", "payers", "have paid", ...of]);
  const again = await cli(server.dataDir, ["segments", "save", "have paid", ...of, "--condition", condition]);
  expect(again.stderr).toContain("already has a segment with this name");
  const bad = await cli(server.dataDir, ["segments", "save", "x", ...of, "--condition", '{"kind": "liked"}']);
  expect(bad).toMatchObject({ code: 1 });
  expect(await cliJson(server.dataDir, ["segments", "remove", "have paid", ...of])).toEqual(saved);
  expect((await cli(server.dataDir, ["segments", "remove", "have paid", ...of])).stderr).toContain("no saved segment");
});

test("the commands of the documentation run as printed", async () => {
  const documented = readFileSync(new URL("../../docs/LAKE.md", import.meta.url), "utf8");
  const [, block = ""] = /## Segments[\s\S]*?```sh\n([\s\S]*?)```/.exec(documented) ?? [];
  const script = block.replaceAll("npm run -s cli --", `"${process.execPath}" "${CLI}"`);
  expect(script).toContain("segments export");
  const env = { ...process.env, DATA_DIR: server.dataDir };
  const ours = script.replaceAll("10000001", String(app.appId)).replaceAll("2026-11-17", today());
  const { stderr } = await promisify(execFile)("sh", ["-e", "-c", ours.replaceAll("2026-11-01", today())], { env });
  expect(stderr).toBe("0 devices\n");
  expect((await admin.get("segments", { app_id: app.appId })).data.segments).toMatchObject([
    { name: "everybody" },
    { name: "paid again" },
  ]);
});
