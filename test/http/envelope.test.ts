import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../src/db/app.ts";
import { sharedServer } from "../support/shared-server.ts";
import type { Answer } from "../support/touchpoint.ts";
import { ENDPOINTS, type Endpoint, REGISTRATION_ENDPOINTS, refresh, registration } from "./endpoints.ts";
import { ask, BASE, bytesOf, type Row, Tables, track } from "./fixture.ts";

const server = sharedServer();
const tables = new Tables(server);
const POSTS = ENDPOINTS.filter(({ method }) => method === "POST");
const named = (endpoints: readonly Endpoint[]) =>
  endpoints.map((endpoint): [string, Endpoint] => [`${endpoint.method} ${endpoint.path}`, endpoint]);

/** One app and one registered client for all tests that change neither; a call that changes a user has its own client. */
let app: App;
beforeAll(async () => {
  app = await server.appWith(["a"]);
});

/** A valid call; `change` breaks or extends it. */
async function call(
  endpoint: Endpoint,
  clientId: string,
  change: { slash?: string; body?: (body: Row) => string; query?: Record<string, string> } = {},
): Promise<Answer> {
  const { query, body } = endpoint.call(app, clientId);
  const sent = body && (change.body ? change.body(body) : JSON.stringify(body));
  return ask(server, endpoint.method, `${BASE}/${endpoint.path}${change.slash ?? "/"}`, {
    query: { access_token: app.accessToken, ...query, ...change.query },
    ...(sent === undefined ? {} : { body: sent }),
  });
}

function expectRefusal(answer: Answer, refusal: { status: number; code: number }): void {
  const { status, code, msg, data, extra, headers } = answer;
  expect({ status, code, data, extra }).toEqual({ ...refusal, data: {}, extra: { error: msg } });
  expect(msg).toMatch(/\S.*\.$/);
  expect(headers.get("content-type")).toMatch(/^application\/json/);
}

describe("every collection endpoint", () => {
  test.each(named(ENDPOINTS))("%s answers with and without the trailing slash", async (name, endpoint) => {
    for (const slash of ["", "/"]) {
      const clientId = `${name}${slash}`;
      await server.register(app, clientId);
      const { status, code, msg, data, extra } = await call(endpoint, clientId, { slash });
      expect({ status, code, msg, extra }).toEqual({ status: 200, code: 0, msg: "success", extra: {} });
      expect(data).toBeTypeOf("object");
      expect(data).not.toBeInstanceOf(Array);
    }
  });

  test.each(named(ENDPOINTS))("%s ignores unknown keys, at every level", async (name, endpoint) => {
    const clientId = `${name} with unknown keys`;
    await server.register(app, clientId);
    const decorate = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(decorate);
      if (typeof value !== "object" || value === null) return value;
      const inner = Object.entries(value).map(([key, item]) => [key, decorate(item)]);
      return { ...Object.fromEntries(inner), unheard_of: { a: [1, null, { b: true }] }, flush_time: 1.5 };
    };
    const answer = await call(endpoint, clientId, {
      body: (body) => JSON.stringify(decorate(body)),
      query: { unheard_of: "1" },
    });
    expect(answer).toMatchObject({ status: 200, code: 0 });
  });

  test.each(named(ENDPOINTS))("%s refuses a missing, empty or wrong token with 2001", async (_name, endpoint) => {
    const { query, body } = endpoint.call(app, "a");
    const wrong = [{}, { access_token: "" }, { access_token: "0".repeat(32) }, { access_token: `${app.accessToken}0` }];
    for (const token of wrong) {
      const answer = await ask(server, endpoint.method, `${BASE}/${endpoint.path}/`, {
        query: { ...query, ...token } as Record<string, string>,
        ...(body ? { body: JSON.stringify(body) } : {}),
      });
      expectRefusal(answer, { status: 200, code: 2001 });
    }
  });

  test.each(named(POSTS))("%s refuses what is not JSON with 1001", async (_name, endpoint) => {
    for (const body of ["not json", "{", '{"client_id":"a",}', "[1", '"open']) {
      expectRefusal(await call(endpoint, "a", { body: () => body }), { status: 200, code: 1001 });
    }
  });

  const withBody = POSTS.filter(({ path }) => path !== "event/postback_info");
  test.each(named(withBody))("%s refuses JSON that is not an object with 1004", async (_name, endpoint) => {
    for (const body of ["[]", "null", "7", '"text"', "true"]) {
      expectRefusal(await call(endpoint, "a", { body: () => body }), { status: 200, code: 1004 });
    }
  });

  const ofKnownClients = ENDPOINTS.filter(
    ({ path }) => !REGISTRATION_ENDPOINTS.includes(path) && !/user\/get|refresh|postback_info/.test(path),
  );
  test.each(named(ofKnownClients))("%s answers 2000 for an unregistered client", async (_name, endpoint) => {
    expectRefusal(await call(endpoint, "stranger"), { status: 200, code: 2000 });
  });

  test("none of them stores anything of an unregistered client", async () => {
    for (const endpoint of ofKnownClients) await call(endpoint, "unheard of");
    expect(await tables.user(app, "unheard of")).toBeUndefined();
    expect(await tables.events(app, "unheard of")).toEqual([]);
  });
});

test("a bad token is reported first, whatever the body is", async () => {
  const answer = await ask(server, "POST", `${BASE}/event/collect/`, { query: { access_token: "x" }, body: "{" });
  expectRefusal(answer, { status: 200, code: 2001 });
});

test("a disabled app is refused with 2001 until it is enabled again", async () => {
  const own = await server.appWith(["a"]);
  const code = async () => (await server.collect(own, "a", [track("e")])).code;
  await tables.changeSettings("update app set enabled = false where app_id = $1", [own.appId]);
  await expect.poll(code).toBe(2001);
  expectRefusal(await server.register(own, "b"), { status: 200, code: 2001 });
  await tables.changeSettings("update app set enabled = true where app_id = $1", [own.appId]);
  await expect.poll(code).toBe(0);
});

test("a token gives access only to its own app", async () => {
  const other = await server.createApp();
  expectRefusal(await server.collect(other, "a", [track("e")]), { status: 200, code: 2000 });
  expect((await server.post("user/get/", other, { user_list: ["a"] })).data).toEqual({ user_list: [] });
  expectRefusal(await server.post("base/wx/access_token/refresh/", other, refresh(app, "t")), {
    status: 200,
    code: 2002,
  });
});

test("a new app is served at once, even while unknown tokens are being tried", async () => {
  for (let round = 0; round < 5; round += 1) {
    await ask(server, "GET", `${BASE}/user/get/`, { query: { access_token: `wrong-${round}`, client_id: "a" } });
    const fresh = await server.createApp();
    expect(await server.register(fresh, "a")).toMatchObject({ code: 0 });
  }
});

describe("the closed list of codes", () => {
  type Case = [code: number, status: number, situation: string, send: () => Promise<Answer>];
  const collect = (body: unknown) => server.post("event/collect/", app, body);
  const cases: Case[] = [
    [0, 200, "an accepted call", () => server.register(app, "b")],
    [1001, 200, "a body that is not JSON", () => collect("{")],
    [1004, 200, "a missing parameter", () => collect({ client_id: "a" })],
    [1404, 404, "an unknown path", () => server.post("event/unknown/", app, {})],
    [1405, 405, "a wrong method", () => server.get(`${BASE}/event/collect/`)],
    [1413, 413, "a body that is too large", () => collect(" ".repeat(3 * 1024 * 1024))],
    [2000, 200, "an unregistered client", () => server.collect(app, "x", [track("e")])],
    [2001, 200, "an unknown token", () => server.post("event/collect/", { accessToken: "x" }, {})],
    [2002, 200, "a wrong sign", () => server.post("base/wx/access_token/refresh/", app, refresh({ appKey: "" }, "t"))],
    [2005, 200, "a wrong clock", () => server.post("base/wx/access_token/refresh/", app, refresh(app, "t", 1))],
    [
      2007,
      200,
      "device data that does not decrypt",
      () => server.post("user/device_info/", app, { data: "AAAA" }, { query: { client_id: "a" } }),
    ],
  ];

  test.each(cases)("%i comes with HTTP %i: %s", async (code, status, _situation, send) => {
    const answer = await send();
    if (code !== 0) return expectRefusal(answer, { status, code });
    expect(answer).toMatchObject({ status, code, msg: "success", extra: {} });
  });
});

test.each([
  ["GET", "/nowhere"],
  ["POST", "/nowhere/"],
  ["POST", `${BASE}/event/collect/more/`],
  ["POST", `${BASE}/event//collect/`],
  ["POST", "/event_center/api/v2/event/collect/"],
  ["POST", "/Event_Center/api/v1/event/collect/"],
  ["POST", "/api/v1/event/collect/"],
  ["DELETE", "/event_center"],
  ["GET", `${BASE}/%zz`],
  ["GET", `${BASE}/event/%ff`],
])("the unknown path %s %s is refused with the envelope and 404", async (method, path) => {
  expectRefusal(await ask(server, method, path), { status: 404, code: 1404 });
});

test.each([
  ["GET", `${BASE}/event/collect`, "POST"],
  ["GET", `${BASE}/event/collect/`, "POST"],
  ["PUT", `${BASE}/event/collect/`, "POST"],
  ["DELETE", `${BASE}/user/register/`, "POST"],
  ["PATCH", `${BASE}/user/get/`, "GET, POST"],
  ["GET", `${BASE}/user/register/attributed/`, "POST"],
  ["GET", `${BASE}/user/device_info/`, "POST"],
  ["GET", `${BASE}/base/wx/access_token/refresh/`, "POST"],
  ["GET", `${BASE}/event/consumer_event/`, "POST"],
  ["POST", "/healthz", "GET"],
  ["POST", "/", "GET"],
])("the wrong method %s %s is refused with the envelope, 405 and Allow: %s", async (method, path, allow) => {
  const answer = await ask(server, method, path);
  expectRefusal(answer, { status: 405, code: 1405 });
  expect(answer.headers.get("allow")).toBe(allow);
});

test("a request that is not HTTP is answered with the envelope too", async () => {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  socket.end("COLLECT ME PLEASE\r\n\r\n");
  const body = (await text(socket)).split("\r\n\r\n")[1]!;
  expect(JSON.parse(body)).toMatchObject({ code: expect.any(Number), msg: expect.any(String), data: {} });
});

test("an empty body is not JSON, with or without a Content-Type", async () => {
  const query = { access_token: app.accessToken };
  for (const headers of [{}, { "content-type": "application/json" }] as Record<string, string>[]) {
    const answer = await ask(server, "POST", `${BASE}/user/register/`, { query, body: bytesOf(""), headers });
    expectRefusal(answer, { status: 200, code: 1001 });
  }
});

test("a refusal of a parameter names it", async () => {
  for (const field of ["client_id", "name", "channel", "version"]) {
    const { [field]: _, ...rest } = registration("a");
    expect((await server.post("user/register/", app, rest)).msg).toContain(field);
  }
});
