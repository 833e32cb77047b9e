import { beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../src/db/app.ts";
import type { DeveloperApp } from "../../src/db/developer-app.ts";
import { adminToken } from "../../src/http/admin.ts";
import { openVault } from "../../src/vault.ts";
import { ENDPOINTS, refresh } from "../http/endpoints.ts";
import { ask, BASE, type Row, Tables, track } from "../http/fixture.ts";
import { adReportOf, dayOf, listOf, Reports, recentDays } from "../http/reports.ts";
import { sharedServer } from "../support/shared-server.ts";
import { type Answer, answerOf } from "../support/touchpoint.ts";

const server = sharedServer();
const tables = new Tables(server);
const reports = new Reports(server);
const CAMPAIGN = "theirs0123456789";
const THEIRS = { client: "their-client", order: "their-order", channel: "their-channel", openid: "their-openid" };

/** Ours, whose credentials are at hand, and theirs, which must neither be seen nor changed. */
let ours: App;
let theirs: App;
let developer: DeveloperApp;
let theirUserToken: string;
const admin = `Bearer ${adminToken(openVault({ dataDir: server.dataDir, secretKey: "" }))}`;
beforeAll(async () => {
  [ours, theirs] = [await server.createApp(), await server.createApp({ name: "their-name" })];
  developer = await reports.developer({ apps: [ours.appId] });
  await reports.admin("campaigns/create", {
    app_id: theirs.appId,
    turbo_promoted_object_id: CAMPAIGN,
    name: "their-campaign",
  });
  const registration = {
    channel: THEIRS.channel,
    wx_openid: THEIRS.openid,
    device_info: { os_name: "android", oaid: "their-oaid" },
  };
  theirUserToken = (await server.register(theirs, THEIRS.client, registration)).data.token;
  const order = { $order_id: THEIRS.order, $pay_amount: 600, $pay_type: "CNY" };
  await server.collect(theirs, THEIRS.client, [track("$PayEvent", order), track("their_event")]);
  await server.register(ours, "our-client");
  await server.settle();
});

/** Everything of their app, in every table that knows apps. */
async function theirRows(): Promise<Row[]> {
  await server.settle();
  const named = await tables.query(
    `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'app_id'
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and c.relname not in ('cube', 'dirty_day') order by 1`,
  );
  const rows: Row[] = [];
  for (const { name } of named) {
    const found = await tables.query(
      `select to_jsonb(t) as row from ${name} t where app_id = $1 order by to_jsonb(t)::text`,
      [theirs.appId],
    );
    rows.push({ name, rows: found });
  }
  return rows;
}

/** Nothing of theirs may stand in an answer to us. What we have sent ourselves, an answer may repeat. */
function expectNothingOfTheirs(answer: Answer): void {
  const { headers: _, ...rest } = answer;
  expect(JSON.stringify(rest)).not.toMatch(/their-(?:client|order|channel|openid|oaid|campaign|name)|their_event/);
}

type Case =
  | { kind: "open" }
  | { kind: "collection"; code: number; call: () => { query?: Record<string, string>; body?: Row } }
  | { kind: "link" }
  | { kind: "stream" }
  | { kind: "report"; body: (app: Pick<App, "appId">) => Row; filtered?: Row }
  | { kind: "admin"; call: (app: Pick<App, "appId">) => Row; code: number };

/** As the endpoint is called by us, naming their client. */
const naming =
  (method: string, path: string): Extract<Case, { kind: "collection" }>["call"] =>
  () =>
    ENDPOINTS.find((one) => one.method === method && one.path === path)!.call(theirs, THEIRS.client);

const CODES_OF_COLLECTION: Readonly<Record<string, number>> = {
  ...{
    "POST event/collect": 2000,
    "POST eventv2/collect": 2000,
    "POST user/device_info": 2000,
    "POST user/update_data": 2000,
  },
  ...{ "POST user/reset_client_id": 2000, "POST event/consumer_event": 2000, "POST event/handle_event": 2000 },
  ...{ "POST user/get": 0, "GET user/get": 0, "GET event/postback_info": 0, "POST event/postback_info": 0 },
  // Whoever registers under an id that is taken elsewhere is another user.
  ...{ "POST user/register": 0, "POST user/register/attributed": 0, "POST user/initialize": 0 },
  // Signed with their key.
  ...{ "POST base/wx/access_token/refresh": 2002, "POST base/media/access_token/refresh": 2002 },
};

const range = () => ({ from: dayOf(Date.now()), to: dayOf(Date.now()) });
const cell = () => ({ date_list: recentDays(), statistics_caliber: "user_activated_time", decimal_point: 2 });
const ofAdmin = (code: number, call: (app: Pick<App, "appId">) => Row): Case => ({ kind: "admin", code, call });
const filters = { user_filtering: { client_id_list: [THEIRS.client], channel_list: [THEIRS.channel] } };

/** Every endpoint there is, and what becomes of a call that reaches for another app. */
const CASES: Readonly<Record<string, Case>> = {
  ...Object.fromEntries(
    ["/healthz", "/readyz", "/metrics", "/progress"].map((path) => [`GET ${path}`, { kind: "open" }]),
  ),
  ...Object.fromEntries(
    Object.entries(CODES_OF_COLLECTION).map(([name, code]): [string, Case] => {
      const [method, path] = name.split(" ") as [string, string];
      return [`${method} ${BASE}/${path}`, { kind: "collection", code, call: naming(method, path) }];
    }),
  ),
  [`GET ${BASE}/event/click`]: { kind: "link" },
  [`GET ${BASE}/event/impression`]: { kind: "link" },
  [`GET ${BASE}/event/stream`]: { kind: "stream" },
  "POST /openapi/api/v1/report/combo_sql": {
    kind: "report",
    body: (app) => adReportOf(app, { dims_list: ["channel"] }),
    filtered: { filtering: { channel_list: [THEIRS.channel], turbo_promoted_object_id_list: [CAMPAIGN] } },
  },
  "POST /openapi/api/v1/report/order/list": {
    kind: "report",
    body: (app) => listOf(app),
    filtered: { ...filters, event_filtering: { TraceID: [THEIRS.order] } },
  },
  "POST /openapi/api/v1/report/user/list": { kind: "report", body: (app) => listOf(app), filtered: filters },
  "POST /openapi/api/v1/report/metrics/list": { kind: "report", body: () => ({}) },
  // With the right token, but our app: what is theirs is not found there.
  "GET /admin/api/v1/campaigns": ofAdmin(0, ({ appId }) => ({ app_id: appId })),
  "POST /admin/api/v1/campaigns/create": ofAdmin(0, ({ appId }) => ({ app_id: appId, name: "ours" })),
  "POST /admin/api/v1/campaigns/edit": ofAdmin(1004, ({ appId }) => ({
    app_id: appId,
    turbo_promoted_object_id: CAMPAIGN,
    name: "x",
  })),
  "GET /admin/api/v1/campaigns/links": ofAdmin(1004, ({ appId }) => ({
    app_id: appId,
    turbo_promoted_object_id: CAMPAIGN,
  })),
  "GET /admin/api/v1/attribution/rules": ofAdmin(0, ({ appId }) => ({ app_id: appId })),
  "POST /admin/api/v1/attribution/rules": ofAdmin(0, ({ appId }) => ({ app_id: appId, rules: { click_window: "3d" } })),
  "GET /admin/api/v1/attribution/why": ofAdmin(2000, ({ appId }) => ({ app_id: appId, client_id: THEIRS.client })),
  "POST /admin/api/v1/attribution/what-if": ofAdmin(0, ({ appId }) => ({
    app_id: appId,
    ...range(),
    rules: { click_window: "1d" },
  })),
  "GET /admin/api/v1/attribution/fraud": ofAdmin(0, ({ appId }) => ({ app_id: appId, ...range() })),
  "POST /admin/api/v1/cost/import": ofAdmin(0, ({ appId }) => ({
    app_id: appId,
    csv: `date,cost\n${dayOf(Date.now())},1\n`,
  })),
  "POST /admin/api/v1/advertiser/import": ofAdmin(0, () => ({
    csv: "ad_platform,advertiser_id,name\ntencent,cross-app,x\n",
  })),
  "POST /admin/api/v1/ad-object/import": ofAdmin(0, () => ({
    csv: "ad_platform,level,id,name\ntencent,ad,cross-app,x\n",
  })),
  "POST /admin/api/v1/report/explain": ofAdmin(0, ({ appId }) => ({
    ...{ ...cell(), app_id: appId, metric: "AppROI", row: { channel: THEIRS.channel } },
  })),
  "POST /admin/api/v1/export": ofAdmin(0, ({ appId }) => ({
    app_id: appId,
    kind: "users",
    user_filtering: filters.user_filtering,
  })),
  "GET /admin/api/v1/developers": ofAdmin(0, () => ({})),
  "POST /admin/api/v1/developers/create": ofAdmin(0, ({ appId }) => ({ name: "cross-app", apps: [appId] })),
  "POST /admin/api/v1/developers/decide": ofAdmin(1004, () => ({ id: 2_000_000_000, state: "refused" })),
  "POST /admin/api/v1/users/erase": ofAdmin(2000, ({ appId }) => ({ app_id: appId, client_id: THEIRS.client })),
};

async function adminCall(name: string, sent: Row, headers: Record<string, string>): Promise<Answer> {
  const [method, path] = name.split(" ") as [string, string];
  const query = method === "GET" ? `?${new URLSearchParams(sent)}` : "";
  const init = method === "GET" ? { method, headers } : { method, headers, body: JSON.stringify(sent) };
  const response = await fetch(`${server.url}${path}${query}`, init);
  if (response.headers.get("content-type")?.startsWith("application/json")) return answerOf(response);
  return {
    status: response.status,
    headers: response.headers,
    code: 0,
    msg: await response.text(),
    data: {},
    extra: {},
  };
}

test("every endpoint that the server describes has its case here", async () => {
  const { paths } = (await (await fetch(`${server.url}/openapi.json`)).json()) as { paths: Record<string, Row> };
  const described = Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(Object.keys(CASES).sort()).toEqual(described.sort());
});

const of = <Kind extends Case["kind"]>(kind: Kind) =>
  Object.entries(CASES).filter((entry): entry is [string, Extract<Case, { kind: Kind }>] => entry[1].kind === kind);

describe("with the access token of one app, the client of another is not reached by", () => {
  test.each(of("collection"))("%s", async (name, { code, call }) => {
    const before = await theirRows();
    const [method, path] = name.split(" ") as [string, string];
    const { query, body } = path.includes("refresh") ? { body: refresh(theirs, "t"), query: {} } : call();
    const answer = await ask(server, method, path, {
      query: { ...query, access_token: ours.accessToken },
      ...(body && { body: JSON.stringify(body) }),
    });
    expect(answer).toMatchObject({ status: 200, code });
    expectNothingOfTheirs(path.includes("attributed") ? { ...answer, data: {} } : answer);
    expect(await theirRows()).toEqual(before);
    await reports.admin("users/erase", { app_id: ours.appId, client_id: THEIRS.client }).catch(() => {});
  });

  test("the consumer event by the token of their user", async () => {
    const before = await theirRows();
    const body = { event_type: "PAY", ts: Date.now(), amount: 1 };
    const answer = await server.post("event/consumer_event/", ours, body, { query: { token: theirUserToken } });
    expect(answer).toMatchObject({ code: 1004, data: {} });
    expect(await theirRows()).toEqual(before);
  });

  test("an order of the same id: each app has its own", async () => {
    const before = await theirRows();
    const order = { $order_id: THEIRS.order, $pay_amount: 1, $pay_type: "CNY" };
    expect(await server.collect(ours, "our-client", [track("$PayEvent", order)])).toMatchObject({ code: 0 });
    expect(await tables.orders(ours)).toMatchObject([{ trace_id: THEIRS.order, cents: 1, client_id: "our-client" }]);
    expect(await theirRows()).toEqual(before);
  });
});

describe("a touch goes to the app that it names, whatever else it names:", () => {
  test.each(of("link"))("%s", async (name) => {
    const before = await theirRows();
    const path = name.split(" ")[1]!;
    const query = { company: "vivo", track_id: CAMPAIGN, oaid: "their-oaid", channel: THEIRS.channel };
    expect(await server.get(path, { app_id: String(ours.appId), ...query })).toMatchObject({ code: 0, data: {} });
    // The second of two is nobody's.
    const twice = new URLSearchParams([
      ["app_id", String(ours.appId)],
      ["app_id", String(theirs.appId)],
      ...Object.entries(query),
    ]);
    await fetch(`${server.url}${path}?${twice}`);
    expect(await theirRows()).toEqual(before);
  });
});

test("the live stream of an app opens with its own key only", async () => {
  const [[name]] = of("stream") as [[string, Case]];
  const url = `${server.url}${name.split(" ")[1]}?app_id=${theirs.appId}`;
  const wrong = [
    ours.appKey,
    theirs.accessToken,
    ours.accessToken,
    developer.appKey,
    "",
    `${theirs.appKey}0`,
    admin.slice(7),
  ];
  for (const key of wrong) {
    const answer = await answerOf(await fetch(url, { headers: { authorization: `Bearer ${key}` } }));
    expect(answer).toMatchObject({ status: 200, code: 2002, data: {} });
  }
  expect(await answerOf(await fetch(url))).toMatchObject({ code: 2002 });
});

describe("a developer application that was granted one app gets nothing of another from", () => {
  test.each(of("report"))("%s", async (name, { body, filtered }) => {
    const path = name.split("/report/")[1]!;
    if (!filtered) return expectNothingOfTheirs(await reports.call(developer, path, body(ours)));
    const refused = await reports.call(developer, path, body(theirs));
    expect(refused).toMatchObject({ status: 200, code: 2004, data: {} });
    expectNothingOfTheirs(refused);
    expect(await reports.call(developer, path, { ...body(theirs), app_id: [ours.appId, theirs.appId] })).toMatchObject({
      code: 1004,
    });
    const own = await reports.call(developer, path, { ...body(ours), ...filtered });
    expect(own).toMatchObject({ code: 0 });
    expect(own.data.list ?? own.data.items).toEqual([]);
    const all = await reports.call(developer, path, body(ours));
    expect(JSON.stringify(all.data)).not.toMatch(/their-(?:client|openid|campaign)/);
  });
});

describe("the admin interface", () => {
  test.each(of("admin"))("%s opens with the admin token only", async (name, { call }) => {
    const before = await theirRows();
    const wrong = [undefined, "", "Bearer", ours.appKey, ours.accessToken, developer.appKey, theirUserToken];
    for (const token of wrong) {
      const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
      const answer = await adminCall(name, call(theirs), headers as Record<string, string>);
      expect(answer).toMatchObject({ status: 200, code: 2002, data: {} });
      expectNothingOfTheirs(answer);
    }
    const elsewhere = await fetch(
      `${server.url}${name.split(" ")[1]}?access_token=${admin.slice(7)}&token=${admin.slice(7)}`,
      {
        method: name.split(" ")[0]!,
      },
    );
    expect(await elsewhere.json()).toMatchObject({ code: 2002 });
    expect(await theirRows()).toEqual(before);
  });

  test.each(of("admin"))("%s of one app does not reach what is another's", async (name, { call, code }) => {
    const before = await theirRows();
    const answer = await adminCall(name, call(ours), { authorization: admin });
    expect(answer).toMatchObject({ status: 200, code });
    // The caller's own words may come back, their data may not.
    expect(JSON.stringify({ ...answer, headers: {} })).not.toMatch(/their-(?:order|openid|oaid|campaign)|their_event/);
    expect(await theirRows()).toEqual(before);
  });
});

test.each(of("open"))("%s is for everybody, and names no client and no key", async (name) => {
  const text = await (await fetch(`${server.url}${name.split(" ")[1]}`)).text();
  for (const app of [ours, theirs]) {
    for (const known of [app.accessToken, app.appKey, app.aesKey]) expect(text).not.toContain(known);
  }
  expect(text).not.toMatch(/their-|our-client/);
});
