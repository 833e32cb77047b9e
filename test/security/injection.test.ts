import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import { beforeAll, describe, expect, test } from "vitest";
import { FORMULA_TEXTS, NASTY_TEXTS, SQL_TEXTS } from "../../sim/fuzz/nasty.ts";
import type { App } from "../../src/db/app.ts";
import type { DeveloperApp } from "../../src/db/developer-app.ts";
import { storableText } from "../../src/domain/json.ts";
import { isClientId } from "../../src/domain/user/identity.ts";
import { cli } from "../cli/run.ts";
import { BASE, profile, type Row, Tables, track } from "../http/fixture.ts";
import { adReportOf, dayOf, listOf, Reports, recentDays } from "../http/report/reports.ts";
import { ADMIN, AdminCaller } from "../support/admin-caller.ts";
import { sharedServer } from "../support/shared-server.ts";
import type { Answer } from "../support/touchpoint.ts";

const server = sharedServer();
const tables = new Tables(server);
const reports = new Reports(server);
const admin = new AdminCaller(server);

/** Names are compared, not stored: these texts are enough, and save half of the time. */
const AS_NAMES: ReadonlySet<string> = new Set([
  ...SQL_TEXTS,
  ...["__proto__", "constructor", "toString", "length", "=1+1", "\u0000", "\ud800", "\r\nset-cookie: a=b"],
]);

let app: App;
let developer: DeveloperApp;
let tablesBefore: string[];
beforeAll(async () => {
  app = await server.createApp();
  developer = await reports.developer();
  tablesBefore = await tableNames();
});

/** Characters that cannot be stored have been replaced by the time an id is judged. */
const isId = (text: string) => isClientId(storableText(text));

async function tableNames(): Promise<string[]> {
  const rows = await tables.query(
    "select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition order by 1",
  );
  return rows.map(({ relname }) => relname);
}

/** Refusals are fine, internal errors are not. */
function expectNoFault(what: string, answer: Answer): void {
  expect(answer.status, `${what}: ${answer.msg}`).toBe(200);
  expect([0, 1001, 1004, 2000, 2006, 2007], `${what}: ${answer.msg}`).toContain(answer.code);
}

/** Sends the text in every text field of the collection endpoints. */
async function collectWith(text: string, client: string): Promise<void> {
  const query = { client_id: client };
  const order = { $order_id: text, $pay_amount: 100, $pay_type: text, $pay_reason: text, $pay_method: text };
  const device_info = { os_name: "android", oaid: text, imei: text, phone_model: text };
  const ids = { wx_openid: text, wx_unionid: text, client_ip: text, client_ua: text };
  const ad_data = { gdt_vid: text, account_id: text, [text]: text };
  const registration = { client_id: client, name: text, channel: text, version: 1, ad_data, device_info, ...ids };
  expect(await server.post("user/register/", app, registration)).toMatchObject({ code: 0 });
  const events = [
    track("$PayEvent", order),
    track("e", { note: text, list: [text], object: { [text]: text } }),
    track("named", { [text]: text }),
    track(text, { a: 1 }),
    profile("profile_set", { note: text, [text]: text }),
    profile("profile_append", { list: [text] }),
    profile(text, { note: text }),
  ];
  const sent: [string, Promise<Answer>][] = [
    ["collect", server.collect(app, client, events, { client_ip: text, client_ua: text })],
    [
      "initialize",
      server.post("user/initialize/", app, { ...registration, asa_token: text, promoted_object_id: text }),
    ],
    ["consumer", server.post("event/consumer_event/", app, { event_type: text, ts: text }, { query })],
    [
      "handle",
      server.post(
        "event/handle_event/",
        app,
        { event_type: text, trace_id: text, properties: { [text]: text } },
        { query },
      ),
    ],
    ["update", server.post("user/update_data/", app, { click_id: text, media_type: text, wx_openid: text }, { query })],
    ["device", server.post("user/device_info/", app, { data: { os_name: text, oaid: text } }, { query })],
    ["get", server.post("user/get/", app, { user_list: [text] })],
    ["get one", server.get(`${BASE}/user/get/`, { access_token: app.accessToken, client_id: text })],
    [
      "postback",
      server.get(`${BASE}/event/postback_info/`, { access_token: app.accessToken, client_id: text, trace_id: text }),
    ],
    [
      "by the token",
      server.post("event/consumer_event/", app, { event_type: "START", ts: 1 }, { query: { token: text } }),
    ],
    [
      "rename",
      server.post("user/reset_client_id/", app, { new_client_id: `new ${text}` }, { query: { client_id: text } }),
    ],
  ];
  const click = {
    channel: text,
    callback: text,
    aid: text,
    gid: text,
    ip: text,
    ua: text,
    oaid: text,
    track_id: text,
    [text]: text,
  };
  sent.push(["click", server.get(`${BASE}/event/click/`, { app_id: String(app.appId), company: "vivo", ...click })]);
  for (const [what, answer] of sent) expectNoFault(`${what} ${JSON.stringify(text)}`, await answer);
}

const condition = (field: string, operator: string, values: readonly string[]) => ({
  property_condition: [{ field, operator, values }],
});

/** Sends all texts at once in every filter. */
async function filterBy(texts: readonly string[]): Promise<void> {
  const users = [
    "ad_platform",
    "channel",
    "turbo_promoted_object_id",
    "advertiser_id",
    "gid",
    "aid",
    "cid",
    "wx_openid",
  ];
  const orders = ["TraceID", "PayCount", "PostbackCnt", "event$pay_method", "event$pay_reason"];
  const lists: Row[] = [
    ...[...users, "client_id"].map((name) => ({ user_filtering: { [`${name}_list`]: texts } })),
    ...orders.map((name) => ({ event_filtering: { [name]: texts } })),
    ...["equal", "not_equal", "inner"].flatMap((operator) =>
      ["user$note", "event$note"].map((field) => condition(field, operator, texts)),
    ),
  ];
  for (const more of lists) {
    for (const path of ["user/list", "order/list"])
      expectNoFault(`${path} ${JSON.stringify(more)}`, await reports.call(developer, path, listOf(app, more)));
  }
  const filtering = { channel_list: texts, ad_platform_list: texts, turbo_promoted_object_id_list: texts };
  expectNoFault("ad", await reports.call(developer, "combo_sql", adReportOf(app, { filtering })));
}

/** Report calls with the text as every name that callers can choose: field, dimension, metric or operator. */
function reportsNaming(text: string): Promise<Answer>[] {
  const lists: Row[] = [
    { user_filtering: { create_date_list: [text, text] } },
    { order_by_list: [{ field: text, sort: 0 }] },
    ...[`user$${text}`, `event$${text}`, text].map((field) => condition(field, "equal", [text])),
    condition("user$note", text, [text]),
  ];
  const ads: Row[] = [
    ...["dims_list", "metrics_list", "dims_metrics_list", "date_list"].map((name) => ({ [name]: [text] })),
    { statistics_caliber: text },
  ];
  return [
    ...lists.flatMap((more) =>
      ["user/list", "order/list"].map((path) => reports.call(developer, path, listOf(app, more))),
    ),
    ...ads.map((more) => reports.call(developer, "combo_sql", adReportOf(app, more))),
  ];
}

/** Admin calls with the text in every field, and in every cell of a file. */
function adminCallsWith(text: string): Promise<Answer>[] {
  const app_id = app.appId;
  const [from, to] = recentDays();
  const cell = { app_id, date_list: [from, to], statistics_caliber: "user_activated_time", decimal_point: 2 };
  const fields = { name: text, channel: text, operator: text, dept: text, ad_platform: text, os_platform: text };
  const quoted = `"${text.replaceAll('"', '""')}"`;
  const day = dayOf(Date.now());
  const asked: [string, Row][] = [
    ["report/explain", { ...cell, metric: "AppROI", row: { channel: text, ad_platform: text } }],
    ["report/explain", { ...cell, metric: text, row: { [text]: text } }],
    ["campaigns/create", { app_id, name: text, channel: text, operator: text, dept: text }],
    ["campaigns/create", { app_id, turbo_promoted_object_id: text }],
    ["campaigns/edit", { app_id, turbo_promoted_object_id: text, ...fields }],
    ["attribution/rules", { app_id, ad_platform: text, rules: { [text]: text, click_window: text } }],
    ["attribution/what-if", { app_id, from: text, to: text, rules: { click_window: text } }],
    ["export", { app_id, kind: text, format: text, from: text, to: text }],
    ["export", { app_id, kind: "events", from: text, to: text }],
    ["cost/import", { app_id, csv: `date,channel,gid,aid,cost\n${day},${quoted},${quoted},${quoted},1\n` }],
    ["cost/import", { app_id, csv: `date,ad_platform,cost\n${quoted},${quoted},${quoted}\n` }],
    ["cost/import", { app_id, csv: `${quoted},date,cost\n1,${day},1\n` }],
    ["advertiser/import", { csv: `ad_platform,advertiser_id,name\ntencent,${quoted},${quoted}\n` }],
    ["ad-object/import", { csv: `ad_platform,level,id,name\ntencent,ad,${quoted},${quoted}\n` }],
    ["developers/decide", { id: text, state: text, reason: text }],
    ["users/erase", { app_id, client_id: `nobody ${text}` }],
  ];
  const query = { app_id: String(app_id), client_id: text, turbo_promoted_object_id: text };
  return [
    ...asked.map(([path, body]) => admin.post(path, body)),
    ...["attribution/why", "attribution/fraud", "campaigns/links"].map((path) =>
      admin.get(path, { ...query, from: text, to: text, base_url: text }),
    ),
  ];
}

describe("a text aimed at the database", () => {
  const CASES = NASTY_TEXTS.map((text, index) => [JSON.stringify(text), text, `client-${index}`] as const);
  let users: Map<string, Row>;
  beforeAll(async () => {
    for (const [, text, client] of CASES) await collectWith(text, client);
    users = await tables.users(app);
  });

  test.each(CASES)("%s stays a text in every field, filter, name and cell", async (_, text, client) => {
    const answers = await Promise.all(AS_NAMES.has(text) ? [...reportsNaming(text), ...adminCallsWith(text)] : []);
    for (const answer of answers) expectNoFault(answer.msg, answer);
    expect(users.get(client)).toMatchObject({ name: storableText(text), channel: storableText(text) });
    const byChannel = listOf(app, { user_filtering: { channel_list: [text], client_id_list: [client] } });
    const { list } = (await reports.call(developer, "user/list", byChannel)).data;
    expect(list.map((row: Row) => [row.ClientID, row.Channel])).toEqual([[client, storableText(text)]]);
  });

  test("stays a text in every filter, together with all others", async () => {
    await filterBy(NASTY_TEXTS);
  });

  test("may be a client's own id, and finds only that client", async () => {
    const own = await server.createApp();
    const ids = NASTY_TEXTS.filter(isId);
    for (const id of NASTY_TEXTS) expect((await server.register(own, id)).code).toBe(isId(id) ? 0 : 1004);
    await server.settle();
    for (const id of ids) {
      const { user_list } = (await server.post("user/get/", own, { user_list: [id] })).data;
      expect(user_list.map((user: Row) => user.client_id)).toEqual([id]);
    }
    const rows = await tables.query("select client_id from user_account where app_id = $1", [own.appId]);
    expect(rows.map((row) => row.client_id).sort()).toEqual([...ids].sort());
  });

  test("stays a text in a file that the command line imports", async () => {
    const own = await server.createApp();
    const folder = mkdtempSync(join(tmpdir(), "touchpoint-import-"));
    try {
      const file = join(folder, "events.ndjson");
      const lines = NASTY_TEXTS.map((text, index) => {
        const client_id = isId(text) ? text : `client-${index}`;
        return JSON.stringify({ client_id, ...track("e", { note: text, [text]: text }) });
      });
      writeFileSync(file, lines.join("\n"));
      const taken = await cli(server.dataDir, ["import", file, "--app", String(own.appId), "--json"]);
      expect(taken).toMatchObject({ code: 0 });
      expect(JSON.parse(taken.stdout)).toMatchObject({ events: lines.length, registered: lines.length, rejected: 0 });
      const notes = (await tables.events(own)).map((row) => row.properties.note);
      expect(notes.sort()).toEqual(NASTY_TEXTS.map(storableText).sort());
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  test("leaves every table intact, with exactly what was sent", async () => {
    await server.settle();
    expect(await tableNames()).toEqual(tablesBefore);
    const users = await tables.query("select count(*)::int as users from user_account where app_id = $1", [app.appId]);
    expect(users).toEqual([{ users: NASTY_TEXTS.length }]);
    const ledger = await tables.ledger(app);
    const { received, ...outcomes } = ledger;
    expect(Object.values(outcomes).reduce((sum, events) => sum + events, 0)).toBe(received);
    const aside = await tables.query("select reason from set_aside where app_id = $1", [app.appId]);
    expect(aside).toEqual([]);
  });
});

describe("a text aimed at a spreadsheet", () => {
  const RUNS = /^[=+\-@\t\r\n＝＋－＠]/;
  let own: App;
  beforeAll(async () => {
    own = await server.createApp();
    for (const [index, text] of FORMULA_TEXTS.entries()) {
      const client = isClientId(text) ? text : `u${index}`;
      await server.register(own, client, { name: text, channel: text, wx_openid: text });
      const order = { $order_id: text, $pay_amount: 100, $pay_reason: text, $pay_method: text };
      await server.collect(own, client, [track("$PayEvent", order), track("e", { below_zero: -5, text })]);
    }
    await server.settle();
  });

  async function exported(kind: string, format: string): Promise<string> {
    const [from, to] = recentDays();
    const body = JSON.stringify({ app_id: own.appId, kind, format, from, to });
    return (await fetch(`${server.url}${ADMIN}/export`, { method: "POST", headers: admin.headers, body })).text();
  }

  function expectHarmless(csv: string, rows: number): void {
    const cells = parse(csv) as string[][];
    expect(cells).toHaveLength(rows + 1);
    for (const cell of cells.flat()) if (cell !== "-" && Number.isNaN(Number(cell))) expect(cell).not.toMatch(RUNS);
    expect(cells.flat().some((cell) => cell.startsWith("'="))).toBe(true);
  }

  test.each(["users", "orders", "events"])("is harmless in the CSV of %s, and unchanged in NDJSON", async (kind) => {
    const rows = FORMULA_TEXTS.length * (kind === "events" ? 2 : 1);
    expectHarmless(await exported(kind, "csv"), rows);
    const ndjson = await exported(kind, "ndjson");
    for (const text of FORMULA_TEXTS) expect(ndjson).toContain(JSON.stringify(text));
    expect(ndjson).not.toContain(`"'=`);
  });

  test("is harmless in the CSV of the reports, where numbers stay numbers, and unchanged in JSON", async () => {
    const granted = ["--app", String(own.appId), "--app-key", developer.appKey];
    const [from, to] = recentDays();
    await reports.counted(developer, own, FORMULA_TEXTS.length);
    const [users, orders, ad, json] = await Promise.all([
      cli(server.dataDir, ["report", "users", ...granted, "--csv"]),
      cli(server.dataDir, ["report", "orders", ...granted, "--csv"]),
      cli(server.dataDir, [
        "report",
        "ad",
        ...granted,
        "--from",
        from,
        "--to",
        to,
        "--dims",
        "channel",
        "--metrics",
        "AppGamePayAmountStandard",
        "--csv",
      ]),
      cli(server.dataDir, ["report", "users", ...granted, "--json"]),
    ]);
    expectHarmless(users!.stdout, FORMULA_TEXTS.length);
    expectHarmless(orders!.stdout, FORMULA_TEXTS.length);
    expectHarmless(ad!.stdout, FORMULA_TEXTS.length + 1);
    const channels = JSON.parse(json!.stdout).list.map((row: Row) => row.Channel);
    expect(channels.sort()).toEqual([...FORMULA_TEXTS].sort());
  });
});
