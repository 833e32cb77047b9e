import { once } from "node:events";
import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { json, text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../../src/db/app.ts";
import { sharedServer } from "../../support/shared-server.ts";
import type { Answer } from "../../support/touchpoint.ts";
import { ask, BASE, bytesOf, profile, type Row, Tables, track } from "../fixture.ts";

const server = sharedServer();
const tables = new Tables(server);

/** One app for all tests; each that stores something has its own client. */
let app: App;
beforeAll(async () => {
  app = await server.appWith(["refused"]);
});

const bodyOf = (clientId: string, ...events: Row[]) => ({ client_id: clientId, event_list: events });

/** POST to event/collect with exactly these headers and bytes. */
function post(body: Uint8Array<ArrayBuffer> | FormData, headers: Record<string, string> = {}) {
  const query = { access_token: app.accessToken };
  return ask(server, "POST", `${BASE}/event/collect/`, { query, body, headers });
}

const namesOf = (events: readonly Row[], clientId: string) =>
  events.filter((row) => row.client_id === clientId).map((row) => row.event);

const zipped = (body: unknown) => new Uint8Array(gzipSync(bytesOf(body)));

describe("gzip is undone when it is announced by", () => {
  const ANNOUNCED: [string, Record<string, string>][] = [
    ["Gravity-Content-Compress", { "gravity-content-compress": "gzip" }],
    ["Gravity-Content-Compress in capitals", { "gravity-content-compress": "GZIP" }],
    ["Content-Encoding", { "content-encoding": "gzip" }],
    ["both", { "gravity-content-compress": "gzip", "content-encoding": "gzip" }],
    ["a header of the PHP SDK", { "gravity-content-compress": "gzip", "content-type": "application/gzip" }],
    ["a header of the Python SDK", { "gravity-content-compress": "gzip", "content-type": "application/json" }],
    [
      "a header of the Ruby SDK",
      { "gravity-content-compress": "gzip", "content-type": "application/x-www-form-urlencoded" },
    ],
  ];
  let events: Row[];
  beforeAll(async () => {
    const send = async ([client, headers]: [string, Record<string, string>]) => {
      await server.register(app, client);
      const [small, large] = [track("small"), track("large", { noise: "中".repeat(600) })];
      for (const list of [[small], Array(50).fill(large)])
        expect(await post(zipped(bodyOf(client, ...list)), headers)).toMatchObject({ code: 0, extra: {} });
    };
    await Promise.all(ANNOUNCED.map(send));
    events = await tables.events(app);
  });

  test.each(ANNOUNCED)("%s", (client) => {
    expect(namesOf(events, client).sort()).toEqual(["large", "small"]);
  });

  test("nothing else: `none` and a missing header mean plain", async () => {
    await server.register(app, "plain");
    const headers = { "gravity-content-compress": "none" };
    expect(await post(bytesOf(bodyOf("plain", track("plain"))), headers)).toMatchObject({ code: 0 });
    expect(await post(zipped(bodyOf("plain", track("zipped"))))).toMatchObject({ status: 200, code: 1001 });
    expect(await tables.eventNames(app, "plain")).toEqual(["plain"]);
  });

  test("a header, but data that does not unpack is refused with 1001", async () => {
    const headers = { "gravity-content-compress": "gzip" };
    const whole = zipped(bodyOf("refused", track("e", { noise: "x".repeat(500) })));
    const spoiled = whole.slice();
    spoiled[whole.length - 6]! ^= 0xff;
    for (const body of [bytesOf(bodyOf("refused", track("e"))), whole.slice(0, -5), spoiled, bytesOf("x")]) {
      expect(await post(body, headers)).toMatchObject({ status: 200, code: 1001, data: {} });
    }
    expect(await tables.events(app, "refused")).toEqual([]);
  });
});

describe("the Content-Type is not trusted: a plain body is accepted with", () => {
  const TYPES = [
    undefined,
    "application/json",
    "application/json; charset=utf-8",
    "application/json;charset=GBK",
    "application/x-www-form-urlencoded",
    "application/gzip",
    "application/octet-stream",
    "text/plain;charset=UTF-8",
    "nonsense",
    "a/b/c; d=",
    ";",
  ];
  const clientOf = (contentType: string | undefined) => `Content-Type ${contentType}`;
  let events: Row[];
  beforeAll(async () => {
    const send = async (contentType: string | undefined) => {
      await server.register(app, clientOf(contentType));
      const body = bytesOf(bodyOf(clientOf(contentType), track("e")));
      const headers: Record<string, string> = contentType === undefined ? {} : { "content-type": contentType };
      expect(await post(body, headers)).toMatchObject({ code: 0 });
    };
    await Promise.all(TYPES.map(send));
    events = await tables.events(app);
  });

  test.each(TYPES)("%s", (contentType) => {
    expect(namesOf(events, clientOf(contentType))).toEqual(["e"]);
  });
});

describe("a browser's beacon", () => {
  const beacon = (fields: Record<string, string>) => {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    return form;
  };
  const base64 = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64");

  test("brings its body as base64 in the field `data`", async () => {
    await server.register(app, "beacon");
    const body = bodyOf("beacon", track("$MPHide", { $event_duration: 1.5, note: "再见 👋" }));
    expect(await post(beacon({ data: base64(body) }))).toMatchObject({ code: 0, extra: {} });
    expect(await tables.events(app, "beacon")).toMatchObject([{ event: "$MPHide", properties: { note: "再见 👋" } }]);
  });

  test("may bring other fields, as in debug mode", async () => {
    await server.register(app, "in debug mode");
    const data = base64(bodyOf("in debug mode", track("e")));
    const fields = { source: "client", appid: "1", deviceId: "d", data };
    expect(await post(beacon(fields))).toMatchObject({ code: 0 });
    expect(await tables.eventNames(app, "in debug mode")).toEqual(["e"]);
  });

  test.each<[string, Record<string, string>]>([
    ["no field `data`", { other: "x" }],
    ["a field `data` that is not base64 of JSON", { data: "%%%" }],
    ["an empty field `data`", { data: "" }],
  ])("with %s is refused with 1001", async (_what, fields) => {
    expect(await post(beacon(fields))).toMatchObject({ status: 200, code: 1001, data: {} });
  });

  test("that is truncated is refused with 1001", async () => {
    const headers = { "content-type": "multipart/form-data; boundary=x" };
    const body = bytesOf('--x\r\ncontent-disposition: form-data; name="data"\r\n\r\nAAAA');
    expect(await post(body, headers)).toMatchObject({ status: 200, code: 1001 });
  });
});

describe("the older form, eventv2/collect", () => {
  const send = (clientId: string, type: unknown, ...events: Row[]) =>
    server.post("eventv2/collect/", app, { client_id: clientId, type, event_list: events });

  test("has one type beside the list", async () => {
    await server.register(app, "one type");
    const time = Date.now();
    const two = { event: "two", time, properties: {} };
    await send("one type", "track", { event: "one", time, properties: { n: 1 } }, two);
    await send("one type", "profile", { event: "profile_increment", time, properties: { coins: 5 } });
    expect(await tables.events(app, "one type")).toMatchObject([
      { type: "track", event: "one" },
      { type: "profile", event: "profile_increment" },
      { type: "track", event: "two" },
    ]);
    expect((await tables.user(app, "one type"))!.properties).toEqual({ coins: 5 });
  });

  test("keeps an event's own type", async () => {
    await server.register(app, "own types");
    const answer = await send("own types", "track", track("one"), profile("profile_set", { level: 2 }));
    expect(answer).toMatchObject({ code: 0, extra: {} });
    expect((await tables.user(app, "own types"))!.properties).toEqual({ level: 2 });
  });

  describe("stores nothing, and says so, with the type", () => {
    const NO_TYPES = [undefined, null, "other", 7];
    let answers: Answer[];
    let stored: Row[];
    beforeAll(async () => {
      await server.register(app, "no type");
      const event = { event: "one", time: Date.now(), properties: {} };
      answers = await Promise.all(NO_TYPES.map((type) => send("no type", type, event)));
      stored = await tables.events(app, "no type");
    });

    test.each(NO_TYPES)("%j", (type) => {
      const errors = [{ index: 0, event: "one", reason: "bad_type" }];
      expect(answers[NO_TYPES.indexOf(type)]).toMatchObject({ code: 0, extra: { errors } });
      expect(stored).toEqual([]);
    });
  });
});

test.each<[string, Uint8Array<ArrayBuffer>]>([
  ["random bytes", new Uint8Array([0, 1, 2, 253, 254, 255])],
  ["truncated JSON", bytesOf('{"client_id":"a","event_list":[{"type":"tr')],
  ["two documents", bytesOf("{}{}")],
  ["a form", bytesOf("client_id=a&event_list=")],
  ["invalid UTF-8 in a text", new Uint8Array(Buffer.from('{"client_id":"a\xff"}', "latin1"))],
  ["UTF-16", new Uint8Array(Buffer.from('{"client_id":"a"}', "utf16le"))],
  ["a raw NUL in a text", bytesOf('{"client_id":"a\u0000"}')],
])("%s are refused with 1001", async (_what, body) => {
  expect(await post(body)).toMatchObject({ status: 200, code: 1001, data: {} });
});

test("text that the database cannot hold is stored with the replacement character, without affecting the rest", async () => {
  await server.register(app, "odd text");
  const event = (name: string, properties: string) =>
    `{"type":"track","event":"${name}","time":${Date.now()},"properties":${properties}}`;
  const list = [
    event("nul", '{"a":"x\\u0000y","list":["\\u0000"],"object":{"k":"\\u0000"}}'),
    event("surrogate", '{"a":"x\\ud800y","b":"\\udc00","c":"\\ud83d\\ude00"}'),
    event("plain", '{"a":"\\\\u0000"}'),
  ];
  const answer = await post(bytesOf(`{"client_id":"odd text","event_list":[${list}]}`));
  expect(answer).toMatchObject({ code: 0, extra: {} });
  const events = await tables.events(app, "odd text");
  const rows = Object.fromEntries(events.map((row) => [row.event, row.properties]));
  expect(rows.nul).toMatchObject({ a: "x\ufffdy", list: ["\ufffd"], object: { k: "\ufffd" } });
  expect(rows.surrogate).toMatchObject({ a: "x\ufffdy", b: "\ufffd", c: "😀" });
  expect(rows.plain).toMatchObject({ a: "\\u0000" });
});

test("__proto__ keys are dropped at every level, and change nothing", async () => {
  await server.register(app, "prototype");
  const properties = '{"__proto__":{"polluted":1},"inner":{"__proto__":{"polluted":1},"kept":1},"constructor":"text"}';
  const body = `{"__proto__":{"client_id":"evil"},"client_id":"prototype","event_list":[{"__proto__":{"type":"profile"},"type":"track","event":"e","time":${Date.now()},"properties":${properties}}]}`;
  expect(await post(bytesOf(body))).toMatchObject({ code: 0 });
  const [row] = await tables.events(app, "prototype");
  expect(row).toMatchObject({ type: "track" });
  expect(row!.properties).toEqual({
    inner: { kept: 1 },
    constructor: "text",
    $ip: expect.any(String),
    $ua: expect.any(String),
  });
});

describe("a body that arrives slowly or never", () => {
  async function begin(body: string): Promise<Socket> {
    const { hostname, port } = new URL(server.url);
    const socket = connect(Number(port), hostname);
    await once(socket, "connect");
    socket.write(
      `POST ${BASE}/event/collect/?access_token=${app.accessToken} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n`,
    );
    return socket;
  }

  test("is accepted if it is slow", async () => {
    await server.register(app, "slow");
    const body = JSON.stringify(bodyOf("slow", track("slow")));
    const socket = await begin(body);
    for (const part of body.match(/.{1,10}/gs)!) {
      socket.write(part);
      await sleep(60);
    }
    expect(await text(socket)).toContain('{"code":0,"msg":"success","data":{},"extra":{}}');
    expect(await tables.eventNames(app, "slow")).toEqual(["slow"]);
  });

  test("leaves nothing behind if the client hangs up in the middle", async () => {
    await server.register(app, "half");
    const body = JSON.stringify(bodyOf("half", track("half")));
    const sockets = await Promise.all(Array.from({ length: 20 }, () => begin(body)));
    for (const socket of sockets) {
      socket.write(body.slice(0, -1));
      socket.resetAndDestroy();
    }
    expect(await server.collect(app, "half", [track("next")])).toMatchObject({ code: 0 });
    expect(await tables.eventNames(app, "half")).toEqual(["next"]);
  });

  test("is stored if the client hangs up before the answer", async () => {
    await server.register(app, "gone");
    const body = JSON.stringify(bodyOf("gone", track("gone")));
    const socket = await begin(body);
    socket.end(body);
    await expect.poll(() => tables.eventNames(app, "gone")).toEqual(["gone"]);
    socket.destroy();
  });
});

test("the body of a GET is ignored: an SDK sends `{}` with its lookup", async () => {
  await server.settle();
  const url = `${server.url}${BASE}/user/get/?access_token=${app.accessToken}&client_id=refused`;
  const headers = { "content-type": "application/json", "content-length": "2" };
  const answer = new Promise<any>((resolve, reject) => {
    request(url, { method: "GET", headers }, (response) => resolve(json(response)))
      .on("error", reject)
      .end("{}");
  });
  expect(await answer).toMatchObject({ code: 0, data: { user_list: [{ client_id: "refused" }] } });
});
