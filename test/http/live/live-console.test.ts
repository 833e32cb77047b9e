import { get, type IncomingMessage } from "node:http";
import { Value } from "typebox/value";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type LiveCall, liveCall } from "../../../src/contract/live.ts";
import { findAdminUser, replaceGrants } from "../../../src/db/admin-user.ts";
import type { App } from "../../../src/db/app.ts";
import { raiseAdminTokenGeneration } from "../../../src/db/installation.ts";
import { everywhere } from "../../../src/domain/access/role.ts";
import { LIMITS } from "../../../src/limits.ts";
import { ADMIN, AdminCaller, ConsoleUser } from "../../support/admin-caller.ts";
import { eventually } from "../../support/patience.ts";
import { cleanUp, TouchpointProcess } from "../../support/touchpoint.ts";
import { refresh } from "../endpoints.ts";
import { ask, BASE, track } from "../fixture.ts";

const DEBUG = { headers: { "turbo-debug-mode": "1" } };
let server: TouchpointProcess;
let app: App;
let analyst: ConsoleUser;
beforeAll(async () => {
  server = await TouchpointProcess.start();
  analyst = await new ConsoleUser(server, "analyst").signIn();
  app = await server.createApp();
});
afterAll(async () => {
  await server.stop();
  await cleanUp(server.dataDir);
});

/** A stream, read as a browser does, on its own connection. */
class Stream {
  readonly calls: LiveCall[] = [];
  readonly texts: string[] = [];
  hasEnded = false;
  readonly #response: IncomingMessage;
  #text = "";

  private constructor(response: IncomingMessage) {
    this.#response = response;
    response.setEncoding("utf8");
    response.on("data", (chunk: string) => this.#read(chunk));
    response.on("end", () => (this.hasEnded = true));
    response.on("error", () => {});
  }

  static async open(query: Record<string, string> = {}, headers = analyst.headers): Promise<Stream> {
    const search = new URLSearchParams({ app_id: String(app.appId), ...query });
    const url = `${server.url}${ADMIN}/live/stream?${search}`;
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      get(url, { headers, agent: false }, resolve).on("error", reject);
    });
    expect(response.headers["content-type"]).toBe("text/event-stream");
    return new Stream(response);
  }

  #read(chunk: string): void {
    const messages = `${this.#text}${chunk}`.split("\n\n");
    this.#text = messages.pop()!;
    for (const message of messages) {
      this.texts.push(message);
      const [, data] = /^id: \d+\ndata: (.*)$/.exec(message) ?? [];
      if (data !== undefined) this.calls.push(JSON.parse(data));
    }
  }

  async until(count: number): Promise<LiveCall[]> {
    await expect.poll(() => this.calls.length).toBeGreaterThanOrEqual(count);
    return this.calls;
  }

  close(): void {
    this.#response.destroy();
  }
}

async function freshApp(...clients: string[]): Promise<void> {
  app = await server.createApp();
  for (const client of clients) await server.register(app, client);
}

test("every kind of collection call is shown as received, with the reasons for what was not stored", async () => {
  await freshApp();
  const stream = await Stream.open();
  await server.register(app, "u", { wx_openid: "open-1" });
  await server.collect(app, "u", [track("good", { n: 1 }), track("bad name")]);
  await server.post("user/device_info/", app, { data: { os_name: "ios", idfa: "I" } }, { query: { client_id: "u" } });
  await server.post("user/get/", app, { user_list: ["u"] });
  await ask(server, "GET", `${BASE}/event/click/`, {
    query: { app_id: String(app.appId), company: "tencent", click_id: "c-1", imei: "__IMEI__" },
    headers: { "user-agent": "platform" },
  });
  const calls = await stream.until(5);
  for (const call of calls) expect(Value.Errors(liveCall, call)).toEqual([]);
  expect(calls).toMatchObject([
    { endpoint: "user/register", client_id: "u", code: 0, msg: "", body: { wx_openid: "open-1" }, errors: [] },
    {
      endpoint: "event/collect",
      client_id: "u",
      debug: false,
      ip: "127.0.0.1",
      body: { event_list: [{ event: "good" }, { event: "bad name" }] },
      errors: [{ index: 1, reason: "bad_name", message: expect.stringMatching(/./) }],
    },
    { endpoint: "user/device_info", client_id: "u", body: { data: { os_name: "ios", idfa: "I" } } },
    { endpoint: "user/get", client_id: "", body: { user_list: ["u"] } },
    { endpoint: "event/click", client_id: "", ua: "platform", body: { click_id: "c-1", imei: "__IMEI__" } },
  ]);
  stream.close();
});

test("a call refused as a whole is shown with its message", async () => {
  await freshApp("u");
  const stream = await Stream.open({ scope: "all" });
  await stream.until(1);
  await server.post("event/collect/", app, '{"client_id":');
  await server.collect(app, "stranger", [track("early")]);
  await server.collect(app, "u", []);
  await server.post("user/register/", app, { client_id: "v", name: "n" });
  const data = { data: Buffer.alloc(16).toString("base64") };
  await server.post("user/device_info/", app, data, { query: { client_id: "u" } });
  await ask(server, "GET", `${BASE}/event/click/`, { query: { app_id: String(app.appId), company: "?" } });
  const [, ...calls] = await stream.until(7);
  for (const call of calls) expect(Value.Errors(liveCall, call)).toEqual([]);
  expect(calls).toMatchObject([
    {
      endpoint: "event/collect",
      client_id: "",
      code: 1001,
      msg: expect.stringContaining("JSON"),
      body: '{"client_id":',
    },
    { endpoint: "event/collect", client_id: "stranger", code: 2000, body: { event_list: [{ event: "early" }] } },
    { endpoint: "event/collect", client_id: "u", code: 1004, msg: expect.stringContaining("event_list") },
    { endpoint: "user/register", client_id: "v", code: 1004, msg: expect.stringContaining("channel") },
    { endpoint: "user/device_info", client_id: "u", code: 2007 },
    { endpoint: "event/click", code: 1004, msg: expect.stringContaining("company"), body: { company: "?" } },
  ]);
  stream.close();
});

test("a filter shows only one client, one event, or debug mode", async () => {
  await freshApp("u", "v");
  const [ofClient, ofEvent, ofDebug] = [
    await Stream.open({ client_id: "u" }),
    await Stream.open({ event: "wanted" }),
    await Stream.open({ scope: "debug" }),
  ];
  const seen = (calls: LiveCall[]) => calls.map(({ client_id, endpoint }) => `${client_id} ${endpoint}`);
  await server.collect(app, "u", [track("other")]);
  await server.collect(app, "v", [track("wanted")]);
  await server.post("event/collect/", app, { client_id: "v", event_list: [track("other")] }, DEBUG);
  await server.post("user/register/", app, { client_id: "v", name: "n", channel: "c", version: 2 }, DEBUG);
  await server.collect(app, "u", [track("last")]);
  expect(seen(await ofClient.until(3)).slice(-2)).toEqual(["u event/collect", "u event/collect"]);
  expect(seen(await ofEvent.until(1))).toEqual(["v event/collect"]);
  expect(seen(await ofDebug.until(2))).toEqual(["v event/collect", "v user/register"]);
  for (const stream of [ofClient, ofEvent, ofDebug]) stream.close();
});

test("a reconnecting viewer sees nothing twice", async () => {
  await freshApp("u");
  const first = await Stream.open();
  for (const name of ["one", "two", "three"]) {
    await server.post("event/collect/", app, { client_id: "u", event_list: [track(name)] }, DEBUG);
  }
  const calls = await first.until(4);
  first.close();
  const again = await Stream.open({}, { ...analyst.headers, "last-event-id": String(calls[2]!.id) });
  expect(await again.until(1)).toEqual(calls.slice(3));
  again.close();
});

test("shows no token and no other app", async () => {
  await freshApp("u");
  const ours = app;
  await freshApp("their-client");
  const theirs = app;
  app = ours;
  const stream = await Stream.open();
  await server.collect(theirs, "their-client", [track("their_event")]);
  await server.post("base/wx/access_token/refresh/", ours, refresh(ours, "media-token"));
  await server.post("base/wx/access_token/refresh/", ours, { ...refresh(ours, "media-token"), sign: "0" });
  await ask(server, "GET", `${BASE}/user/get/`, { query: { access_token: ours.accessToken, client_id: "u" } });
  await stream.until(4);
  const text = stream.texts.join("\n");
  expect(text).not.toMatch(/their|media-token/);
  for (const secret of [ours.accessToken, ours.appKey, theirs.accessToken]) expect(text).not.toContain(secret);
  expect(stream.calls.slice(1)).toMatchObject([
    { endpoint: "base/wx/access_token/refresh", code: 0, body: null },
    { endpoint: "base/wx/access_token/refresh", code: 2002, body: null },
    { endpoint: "user/get", client_id: "u", body: { client_id: "u" } },
  ]);
  stream.close();
});

describe("the stream", () => {
  const open = (query: Record<string, string>, headers: Record<string, string>) =>
    ask(server, "GET", `${ADMIN}/live/stream`, { query, headers });

  test("needs a signed-in user", async () => {
    const query = { app_id: String(app.appId) };
    expect(await open(query, {})).toMatchObject({ status: 200, code: 2002 });
    expect(await open(query, { cookie: "touchpoint_session=made-up" })).toMatchObject({ code: 2002 });
    expect(await open(query, { authorization: `Bearer ${app.appKey}` })).toMatchObject({ code: 2002 });
  });

  test("names a wrong parameter", async () => {
    const id = String(app.appId);
    expect(await open({}, analyst.headers)).toMatchObject({ code: 1004, msg: expect.stringContaining("app_id") });
    expect(await open({ app_id: "x" }, analyst.headers)).toMatchObject({ code: 1004 });
    expect(await open({ app_id: "2147483000" }, analyst.headers)).toMatchObject({ code: 2001 });
    const scope = await open({ app_id: id, scope: "some" }, analyst.headers);
    expect(scope).toMatchObject({ code: 1004, msg: expect.stringContaining("scope") });
    expect(await open({ app_id: id, event: "e".repeat(51) }, analyst.headers)).toMatchObject({ code: 1004 });
  });

  test("is limited in number, and a closed one makes room for another", async () => {
    const streams = await Promise.all(Array.from({ length: LIMITS.liveWatchers }, () => Stream.open()));
    const refused = await open({ app_id: String(app.appId) }, analyst.headers);
    expect(refused).toMatchObject({ status: 503, code: 5003 });
    for (const stream of streams) stream.close();
    const again = await eventually(() => Stream.open());
    again.close();
  });

  test("sends a heartbeat while it is quiet, and ends with its session", async () => {
    const leaving = await new ConsoleUser(server, "analyst").signIn();
    const [stays, goes] = [await Stream.open(), await Stream.open({}, leaving.headers)];
    await leaving.signOut();
    await expect.poll(() => goes.hasEnded).toBe(true);
    await expect.poll(() => stays.texts).toContain(": alive");
    expect(stays.hasEnded).toBe(false);
    stays.close();
  });

  test("ends when the role for its app is taken from the person, though the session lives", async () => {
    const person = await new ConsoleUser(server, "analyst").signIn();
    const stream = await Stream.open({}, person.headers);
    const pool = server.database();
    const { userId } = (await findAdminUser(pool, person.name))!;
    await replaceGrants(pool, userId, everywhere("viewer")).finally(() => pool.end());
    await expect.poll(() => stream.hasEnded).toBe(true);
    expect(await person.get("session")).toMatchObject({ code: 0 });
  });

  test("ends when the admin token that opened it is replaced", async () => {
    const stream = await Stream.open({}, new AdminCaller(server).headers);
    const pool = server.database();
    await raiseAdminTokenGeneration(pool).finally(() => pool.end());
    await expect.poll(() => stream.hasEnded).toBe(true);
  });

  test("ends when the server stops, which does not wait for it", async () => {
    const stream = await Stream.open();
    expect(await server.stop()).toBe(0);
    // A stream that is cut off, as all open connections are after a while, never reaches its end.
    await expect.poll(() => stream.hasEnded).toBe(true);
  });
});
