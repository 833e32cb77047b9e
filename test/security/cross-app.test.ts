import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../src/db/app.ts";
import type { DeveloperApp } from "../../src/db/developer-app.ts";
import { CSRF_HEADER } from "../../src/http/admin/authentication.ts";
import { ENDPOINTS, refresh } from "../http/endpoints.ts";
import { ask, BASE, type Row, Tables, track } from "../http/fixture.ts";
import { adReportOf, listOf, Reports } from "../http/report/reports.ts";
import { adminTokenOf, consoleUser } from "../support/admin-caller.ts";
import { replyTo } from "../support/call.ts";
import { sharedServer } from "../support/shared-server.ts";
import { type Answer, answerOf } from "../support/touchpoint.ts";
import { ADMIN_CASES, type AdminCase, THEIRS } from "./admin-cases.ts";

const server = sharedServer();
const tables = new Tables(server);
const reports = new Reports(server);
// One connection, which keeps the plan of the repeated query.
const pool = server.database();
const CAMPAIGN = THEIRS.campaign;

/** Our app, whose credentials are at hand, and the other app, which must be neither seen nor changed. */
let ours: App;
let theirs: App;
let developer: DeveloperApp;
let theirUserToken: string;
/** All rows of the other app, which must stay as they are. */
let before: Row[];
let question: { name: string; text: string } | undefined;
const token = adminTokenOf(server);
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
  // Otherwise the event may meet the callback that is set below, and be sent again and again during the tests.
  await server.settle();
  const rule = { app_id: theirs.appId, moment: "pay", event_type: "pay" };
  THEIRS.ruleId = (await reports.admin("postback/rules/create", rule)).data.rule_id;
  const view = { app_id: theirs.appId, name: "their-view", parameters: {} };
  THEIRS.viewId = (await reports.admin("report/views/save", view)).data.view_id;
  const segment = { app_id: theirs.appId, name: "their-name", condition: { kind: "did_not", source: "order" } };
  THEIRS.segmentId = (await reports.admin("segments/save", segment)).data.segment_id;
  await reports.admin("accounts/set", { app_id: theirs.appId, ad_platform: "oppo", postbacks: "off" });
  const callback = { app_id: theirs.appId, kind: "event", url: "https://8.8.8.8/", events: ["their_event"] };
  await reports.admin("callbacks/set", callback);
  before = await theirRows();
  expect(before.filter(({ rows }) => rows !== null).length).toBeGreaterThan(15);
});
afterAll(() => pool.end());

/** One query over all tables with apps, planned once because it runs after every group of tests. */
async function questionOfTheirRows(): Promise<{ name: string; text: string }> {
  const named = await tables.query(
    `select c.relname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'app_id'
      where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition and c.relname not in ('cube', 'dirty_day') order by 1`,
  );
  // A permitted export is logged, but changes nothing.
  const isChange = (name: string) => (name === "audit_log" ? "action not in ('export', 'report/ad/csv')" : "true");
  const ofTable = ({ name }: Row) =>
    `select '${name}' as name, jsonb_agg(to_jsonb(t) order by to_jsonb(t)::text) as rows from ${name} t
      where app_id = $1 and ${isChange(name)}`;
  return { name: "their rows", text: named.map(ofTable).join(" union all ") };
}

/** All rows of the other app. */
async function theirRows(): Promise<Row[]> {
  await server.settle();
  question ??= await questionOfTheirRows();
  return (await pool.query({ ...question, values: [theirs.appId] })).rows;
}

async function expectNothingOfTheirsChanged(): Promise<void> {
  expect(await theirRows()).toEqual(before);
}

/** An answer to us may repeat what we sent, but nothing of the other app. */
function expectNothingOfTheirs(answer: Answer): void {
  const { headers: _, ...rest } = answer;
  expect(JSON.stringify(rest)).not.toMatch(/their-(?:client|order|channel|openid|oaid|campaign|name)|their_event/);
}

type Case =
  | { kind: "open" }
  | { kind: "collection"; code: number; call: () => { query?: Record<string, string>; body?: Row } }
  | { kind: "link" }
  | { kind: "session" }
  | { kind: "stream" }
  | { kind: "report"; body: (app: Pick<App, "appId">) => Row; filtered?: Row }
  | AdminCase;

/** A call of ours that names their client. */
const naming =
  (method: string, path: string): Extract<Case, { kind: "collection" }>["call"] =>
  () =>
    ENDPOINTS.find((one) => one.method === method && one.path === path)!.call(theirs, THEIRS.client);

const CODES_OF_COLLECTION: Readonly<Record<string, number>> = {
  "POST event/collect": 2000,
  "POST eventv2/collect": 2000,
  "POST user/device_info": 2000,
  "POST user/update_data": 2000,
  "POST user/reset_client_id": 2000,
  "POST event/consumer_event": 2000,
  "POST event/handle_event": 2000,
  "POST user/get": 0,
  "GET user/get": 0,
  "GET event/postback_info": 0,
  "POST event/postback_info": 0,
  // A registration under an id that is taken in another app is a different user.
  "POST user/register": 0,
  "POST user/register/attributed": 0,
  "POST user/initialize": 0,
  // Signed with their key.
  "POST base/wx/access_token/refresh": 2002,
  "POST base/media/access_token/refresh": 2002,
};

const SESSION_ROUTES = [
  ...["GET", "POST sign-in", "POST setup", "POST sign-out", "POST password"],
  ...["GET ways", "POST oidc", "POST oidc/return"],
  ...["GET list", "POST end", "POST sign-out-everywhere"],
  ...["GET second-factor", "POST second-factor", "POST second-factor/confirm", "POST second-factor/remove"],
];
/** Those that need a body are refused for it first. */
const SESSION_BODIES = /sign-in|setup|password|end$|confirm|remove|oidc/;

const filters = { user_filtering: { client_id_list: [THEIRS.client], channel_list: [THEIRS.channel] } };

/** Every endpoint, and the expected answer to a call that reaches for another app. */
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
  "GET /admin/api/v1/live/stream": { kind: "stream" },
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
  ...ADMIN_CASES,
  ...Object.fromEntries(
    SESSION_ROUTES.map((name): [string, Case] => {
      const [method, path] = name.split(" ");
      return [`${method} /admin/api/v1/session${path ? `/${path}` : ""}`, { kind: "session" }];
    }),
  ),
};

async function adminCall(name: string, sent: Row, headers: Record<string, string>): Promise<Answer> {
  const [method, path] = name.split(" ") as [string, string];
  const query = method === "GET" ? `?${new URLSearchParams(sent)}` : "";
  const init = method === "GET" ? { method, headers } : { method, headers, body: JSON.stringify(sent) };
  const { status, headers: answered, text } = await replyTo(`${server.url}${path}${query}`, init);
  // Neither the browser nor a proxy may store it, whatever the answer is.
  expect(answered.get("cache-control"), name).toBe("no-store");
  const isEnvelope = answered.get("content-type")?.startsWith("application/json");
  const envelope = isEnvelope ? JSON.parse(text) : { code: 0, msg: text, data: {}, extra: {} };
  return { status, headers: answered, ...envelope };
}

test("every endpoint that the server describes has a case here", async () => {
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
    const [method, path] = name.split(" ") as [string, string];
    const { query, body } = path.includes("refresh") ? { body: refresh(theirs, "t"), query: {} } : call();
    const answer = await ask(server, method, path, {
      query: { ...query, access_token: ours.accessToken },
      ...(body && { body: JSON.stringify(body) }),
    });
    expect(answer).toMatchObject({ status: 200, code });
    expectNothingOfTheirs(path.includes("attributed") ? { ...answer, data: {} } : answer);
    await reports.admin("users/erase", { app_id: ours.appId, client_id: THEIRS.client }).catch(() => {});
  });

  test("the consumer event by the token of their user", async () => {
    const body = { event_type: "PAY", ts: Date.now(), amount: 1 };
    const answer = await server.post("event/consumer_event/", ours, body, { query: { token: theirUserToken } });
    expect(answer).toMatchObject({ code: 1004, data: {} });
  });

  test("an order with the same id: each app has its own", async () => {
    const order = { $order_id: THEIRS.order, $pay_amount: 1, $pay_type: "CNY" };
    expect(await server.collect(ours, "our-client", [track("$PayEvent", order)])).toMatchObject({ code: 0 });
    expect(await tables.orders(ours)).toMatchObject([{ trace_id: THEIRS.order, cents: 1, client_id: "our-client" }]);
  });

  test("any of these calls: nothing of theirs has changed", expectNothingOfTheirsChanged);
});

describe("a touch goes to the app that it names, whatever else it names:", () => {
  test.each(of("link"))("%s", async (name) => {
    const path = name.split(" ")[1]!;
    const query = { company: "vivo", track_id: CAMPAIGN, oaid: "their-oaid", channel: THEIRS.channel };
    expect(await server.get(path, { app_id: String(ours.appId), ...query })).toMatchObject({ code: 0, data: {} });
    // The second of two values is ignored.
    const twice = new URLSearchParams([
      ["app_id", String(ours.appId)],
      ["app_id", String(theirs.appId)],
      ...Object.entries(query),
    ]);
    await replyTo(`${server.url}${path}?${twice}`);
  });

  test("nothing of theirs has changed", expectNothingOfTheirsChanged);
});

test.each(of("session"))("answers of %s are cached nowhere on the way", async (name) => {
  expect(await adminCall(name, {}, {})).toMatchObject({ status: 200 });
});

test.each(of("stream"))("%s opens with neither the keys of other apps nor those of other interfaces", async (name) => {
  const url = `${server.url}${name.split(" ")[1]}?app_id=${theirs.appId}`;
  const wrong = [
    ours.appKey,
    theirs.accessToken,
    ours.accessToken,
    developer.appKey,
    "",
    `${theirs.appKey}0`,
    name.includes("/admin/") ? theirs.appKey : token,
  ];
  for (const key of wrong) {
    const answer = await answerOf(await fetch(url, { headers: { authorization: `Bearer ${key}` } }));
    expect(answer).toMatchObject({ status: 200, code: 2002, data: {} });
  }
  expect(await answerOf(await fetch(url))).toMatchObject({ code: 2002 });
});

describe("a developer application with access to one app gets nothing of another from", () => {
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
  test.each(of("admin"))("%s opens only with the admin token", async (name, { call }) => {
    const wrong = [undefined, "", "Bearer", ours.appKey, ours.accessToken, developer.appKey, theirUserToken];
    for (const other of wrong) {
      const headers = other === undefined ? {} : { authorization: `Bearer ${other}` };
      const answer = await adminCall(name, call(theirs), headers as Record<string, string>);
      expect(answer).toMatchObject({ status: 200, code: 2002, data: {} });
      expectNothingOfTheirs(answer);
    }
    const [method, path] = name.split(" ") as [string, string];
    const elsewhere = await replyTo(`${server.url}${path}?access_token=${token}&token=${token}`, { method });
    expect(JSON.parse(elsewhere.text)).toMatchObject({ code: 2002 });
  });

  test.each(of("admin"))(
    "%s answers numbers beyond the tables' range without an internal error",
    async (name, { call }) => {
      for (const huge of [2 ** 31, 9_999_999_999]) {
        const sent = Object.entries(call({ appId: huge })).map(([key, value]) => [
          key,
          typeof value === "number" ? huge : value,
        ]);
        const answer = await adminCall(name, Object.fromEntries(sent), { authorization: `Bearer ${token}` });
        expect(answer.status, answer.msg).toBe(200);
      }
    },
  );

  test.each(of("admin"))("%s of one app does not reach another's data", async (name, { call, code }) => {
    const answer = await adminCall(name, call(ours), { authorization: `Bearer ${token}` });
    expect(answer).toMatchObject({ status: 200, code });
    // The caller's own words may come back, their data may not.
    expect(JSON.stringify({ ...answer, headers: {} })).not.toMatch(/their-(?:order|openid|oaid|campaign)|their_event/);
  });

  test("has changed nothing of theirs by any of these calls", expectNothingOfTheirsChanged);
});

describe("the console", () => {
  const [analyst, colleague] = [consoleUser(server, "analyst"), consoleUser(server, "analyst")];

  test.each(of("admin"))("%s: an analyst may call it from the console's own pages only", async (name, { call }) => {
    const { cookie } = analyst.headers as { cookie: string };
    const answer = await adminCall(name, call(theirs), analyst.headers);
    expect([0, 1004, 2000, 2004]).toContain(answer.code);
    if (name.startsWith("POST")) {
      for (const wrong of [{} as Row, { [CSRF_HEADER]: "" }, { ...colleague.headers, cookie }]) {
        expect(await adminCall(name, call(theirs), { cookie, ...wrong })).toMatchObject({ code: 2002, data: {} });
      }
    }
  });

  test("has changed nothing of theirs by any of these calls", expectNothingOfTheirsChanged);

  test.each(of("session"))("%s reveals nothing to anyone not signed in", async (name) => {
    const answer = await adminCall(name, {}, {});
    // Wrong names and passwords are tested elsewhere: they count against the address.
    const code = /sign-out$|ways$/.test(name) ? 0 : SESSION_BODIES.test(name) ? 1004 : 2002;
    expect(answer).toMatchObject({ status: 200, code, data: {} });
    const forged = await adminCall(name, {}, { cookie: "touchpoint_session=0123456789abcdef" });
    expect(forged).toMatchObject({ status: 200, code, data: {} });
  });
});

test.each(of("open"))("%s is open to everyone, and names no client and no key", async (name) => {
  const text = await (await fetch(`${server.url}${name.split(" ")[1]}`)).text();
  for (const app of [ours, theirs]) {
    for (const known of [app.accessToken, app.appKey, app.aesKey]) expect(text).not.toContain(known);
  }
  expect(text).not.toMatch(/their-|our-client/);
});
