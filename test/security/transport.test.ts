import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../src/db/app.ts";
import { BASE, track } from "../http/fixture.ts";
import { cleanUp, TouchpointProcess } from "../support/touchpoint.ts";
import { answersIn, speak } from "./socket.ts";

/** A server with a short timeout, so that slowness shows soon, but longer than a whole request takes to arrive. */
let server: TouchpointProcess;
let app: App;
beforeAll(async () => {
  server = await TouchpointProcess.start({ env: { REQUEST_TIMEOUT_S: "3", LOG_LEVEL: "trace" } });
  app = await server.createApp();
  await server.register(app, "u");
});
afterAll(async () => {
  await server.stop();
  await cleanUp(server.dataDir);
});

const collectPath = () => `${BASE}/event/collect/?access_token=${app.accessToken}`;
const host = "host: x\r\n";

async function expectHealthy(): Promise<void> {
  expect(await server.get("/healthz")).toMatchObject({ status: 200, code: 0 });
  expect(await server.collect(app, "u", [track("healthy")])).toMatchObject({ code: 0 });
}

describe("a message with two lengths, or a wrong one, is refused and its connection closed", () => {
  const smuggled = `GET /healthz HTTP/1.1\r\n${host}\r\n`;
  test.each<[string, () => string]>([
    ["both lengths", () => `content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`],
    ["two lengths", () => `content-length: 5\r\ncontent-length: 50\r\n\r\nabcde${smuggled}`],
    ["a list of lengths", () => `content-length: 5, 50\r\n\r\nabcde${smuggled}`],
    ["a length below zero", () => `content-length: -1\r\n\r\n${smuggled}`],
    ["a length in hex", () => `content-length: 0x10\r\n\r\n${smuggled}`],
    ["a length with a sign", () => `content-length: +5\r\n\r\nabcde${smuggled}`],
    ["a length beyond counting", () => `content-length: 99999999999999999999\r\n\r\n${smuggled}`],
    ["a chunk of no size", () => `transfer-encoding: chunked\r\n\r\nzz\r\nabc\r\n0\r\n\r\n${smuggled}`],
    ["a chunk below zero", () => `transfer-encoding: chunked\r\n\r\n-1\r\nabc\r\n0\r\n\r\n${smuggled}`],
    ["a chunk beyond counting", () => `transfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\nabc\r\n${smuggled}`],
    ["a chunk longer than it says", () => `transfer-encoding: chunked\r\n\r\n1\r\nabc\r\n0\r\n\r\n${smuggled}`],
    ["another transfer encoding", () => `transfer-encoding: gzip\r\n\r\n${smuggled}`],
    ["chunked not last", () => `transfer-encoding: chunked, identity\r\n\r\n0\r\n\r\n${smuggled}`],
    ["a space before the colon", () => `transfer-encoding : chunked\r\n\r\n0\r\n\r\n${smuggled}`],
    [
      "a folded header",
      () => `x: a\r\n transfer-encoding: chunked\r\ntransfer-encoding:\r\n chunked\r\n\r\n${smuggled}`,
    ],
  ])("%s", async (_, rest) => {
    for (const path of [collectPath(), `${BASE}/user/get/?access_token=${app.accessToken}`]) {
      const heard = await speak(server, `POST ${path} HTTP/1.1\r\n${host}${rest()}`);
      const answers = answersIn(heard);
      expect(answers.map(({ status }) => status)).not.toContain(200);
      expect(answers.length).toBeLessThanOrEqual(1);
      expect(heard).not.toContain("alive");
      for (const { head, body } of answers) {
        expect(head).toMatch(/^connection: close/im);
        expect(JSON.parse(body)).toMatchObject({ code: 1004, data: {} });
      }
    }
    await expectHealthy();
  });
});

describe("an unreadable message is answered or cut off", () => {
  test.each<[string, () => string | Buffer]>([
    ["a header without end", () => `GET /healthz HTTP/1.1\r\n${host}x: ${"a".repeat(100_000)}\r\n\r\n`],
    ["headers without end", () => `GET /healthz HTTP/1.1\r\n${host}${"x: a\r\n".repeat(20_000)}\r\n`],
    ["an address without end", () => `GET /${"a".repeat(100_000)} HTTP/1.1\r\n${host}\r\n`],
    ["a NUL in a header", () => `GET /healthz HTTP/1.1\r\n${host}x: a\u0000b\r\n\r\n`],
    ["a line feed in a header", () => `GET /healthz HTTP/1.1\r\n${host}x: a\nb\r\n\r\n`],
    ["a carriage return in a header", () => `GET /healthz HTTP/1.1\r\n${host}x: a\rb: c\r\n\r\n`],
    ["a blank in the address", () => `GET /health z HTTP/1.1\r\n${host}\r\n`],
    ["a control character in the address", () => `GET /health\u0007z HTTP/1.1\r\n${host}\r\n`],
    ["no host", () => "GET /healthz HTTP/1.1\r\n\r\n"],
    ["another protocol", () => "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
    ["an invalid version", () => `GET /healthz HTTP/9.9\r\n${host}\r\n`],
    ["a TLS greeting", () => Buffer.from("16030100c8010000c403037a", "hex")],
    ["nothing but zeros", () => Buffer.alloc(10_000)],
  ])("%s", async (_, bytes) => {
    const heard = await speak(server, bytes());
    const answers = answersIn(heard);
    expect(heard === "" || answers.length === 1).toBe(true);
    for (const { status, body } of answers) {
      expect(status).toBeGreaterThanOrEqual(400);
      expect(status).toBeLessThan(500);
      if (body !== "") expect(JSON.parse(body)).toMatchObject({ code: expect.any(Number), data: {}, extra: {} });
    }
    await expectHealthy();
  });
});

test("a client that sends the head or the body too slowly is cut off, and the others notice nothing", async () => {
  const slow = [
    `POST ${collectPath()} HTTP/1.1\r\n${host}content-length: 100\r\n\r\n{"client_id":`,
    `POST ${BASE}/user/get/?access_token=${app.accessToken} HTTP/1.1\r\n${host}content-length: 100\r\n\r\n{`,
    `POST ${collectPath()} HTTP/1.1\r\n${host}transfer-encoding: chunked\r\n\r\n5\r\n{"a"`,
    "GET /healthz HTTP/1.1\r\nx: ",
    "POST",
  ];
  const heard = Promise.all(slow.map((bytes) => speak(server, bytes)));
  await expectHealthy();
  for (const text of await heard) {
    const answers = answersIn(text);
    expect(text === "" || (answers.length === 1 && answers[0]!.status === 408)).toBe(true);
  }
  await expectHealthy();
});

test("a connection that was opened ahead of need and never used is closed without an answer", async () => {
  expect(await speak(server, "")).toBe("");
  await expectHealthy();
});

test("pipelined requests are answered in order; a client with too many is cut off", async () => {
  const ask = (count: number) => `GET /healthz HTTP/1.1\r\n${host}\r\n`.repeat(count);
  const last = `GET /progress HTTP/1.1\r\n${host}connection: close\r\n\r\n`;
  const answers = answersIn(await speak(server, `${ask(50)}${last}`));
  expect(answers.map(({ status }) => status)).toEqual(Array<number>(51).fill(200));
  expect(answers.at(-1)!.body).toContain("durable");
  const heard = answersIn(await speak(server, `${ask(5_000)}${last}`));
  expect(heard.length).toBeLessThan(5_000);
  await expectHealthy();
});

test("long answers that nobody reads take no memory", async () => {
  const memory = async () => {
    const figures = await (await fetch(`${server.url}/metrics`)).text();
    return Number(/^touchpoint_resident_memory_bytes (\S+)$/m.exec(figures)![1]);
  };
  await fetch(`${server.url}/openapi.json`);
  const before = await memory();
  const { hostname, port } = new URL(server.url);
  const deaf = Array.from({ length: 10 }, () => {
    const socket = connect(Number(port), hostname).pause();
    socket.on("error", () => {});
    socket.write(`GET /openapi.json HTTP/1.1\r\n${host}\r\n`.repeat(100));
    return socket;
  });
  await expectHealthy();
  expect((await memory()) - before).toBeLessThan(100 * 1024 * 1024);
  for (const socket of deaf) socket.destroy();
  await expectHealthy();
});

test("a hundred half requests do not delay a whole one", async () => {
  const half = Array.from({ length: 100 }, () => speak(server, `POST ${collectPath()} HTTP/1.1\r\n${host}`));
  await expectHealthy();
  await Promise.all(half);
});

describe("a path that climbs out of its folder finds nothing, in every spelling", () => {
  const climbs = [
    ...["/../../etc/passwd", "/..%2f..%2fetc%2fpasswd", "/%2e%2e/%2e%2e/etc/passwd", "/%2e%2e%2f%2e%2e%2fsecret.key"],
    ...["/..%5c..%5cetc%5cpasswd", "/%252e%252e/%252e%252e/etc/passwd", "/%c0%ae%c0%ae/etc/passwd", "//etc/passwd"],
    ...["/docs/../secret.key", "/docs/..;/secret.key", "/docs/%2e%2e/secret.key", "/./secret.key", "/secret.key"],
    ...[
      "/openapi.json/../secret.key",
      "/etc/passwd%00.html",
      "/docs%2f..%2f..%2fpostgres-connection.json",
      "/.git/config",
    ],
    ...["/*/secret.key", "/:a(((a+)+)+)$", "/a(b", "/[a", "/event_center/*/x", "/{a}", "/?../secret.key", "/#/../x"],
    ...[
      "http://127.0.0.1/secret.key",
      "/docs\\..\\secret.key",
      `${BASE}/../../../../secret.key`,
      "/admin/api/v1/../../../x",
    ],
  ];

  test.each(climbs)("%s", async (path) => {
    const [answer] = answersIn(await speak(server, `GET ${path} HTTP/1.1\r\n${host}connection: close\r\n\r\n`));
    expect([302, 400, 404]).toContain(answer!.status);
    expect(answer!.body).not.toMatch(/root:|password|^[0-9a-f]{64}/m);
    if (answer!.status === 404) expect(JSON.parse(answer!.body)).toMatchObject({ code: 1404, data: {} });
  });

  test.each(["QUERY", "PROPFIND", "TRACE", "PURGE", "DELETE", "HEAD", "CONNECT"])(
    "%s of an existing address is refused, or has no body",
    async (method) => {
      const heard = await speak(server, `${method} ${BASE}/user/get HTTP/1.1\r\n${host}connection: close\r\n\r\n`);
      const [answer] = answersIn(heard);
      expect([405, 404, 400, undefined, 200]).toContain(answer?.status);
      if (answer?.status === 200) expect(method).toBe("HEAD");
      if (answer?.status === 405) expect(answer.head).toMatch(/^allow: GET, POST/im);
      await expectHealthy();
    },
  );
});

test("a HEAD of the live stream is refused at once, even with the right key", async () => {
  const authorization = `authorization: Bearer ${app.appKey}\r\nconnection: close\r\n`;
  const path = `${BASE}/event/stream?app_id=${app.appId}`;
  const [answer] = answersIn(await speak(server, `HEAD ${path} HTTP/1.1\r\n${host}${authorization}\r\n`));
  expect(answer?.status).toBe(405);
});

test("the docs page runs no script and cannot be framed", async () => {
  const page = await fetch(`${server.url}/docs`);
  expect(page.headers.get("content-security-policy")).toMatch(/^default-src 'none'; .*frame-ancestors 'none'$/);
  expect(page.headers.get("x-content-type-options")).toBe("nosniff");
  expect(await page.text()).not.toMatch(/<script|javascript:| on\w+=/i);
});

test("no answer has a header made by the sender", async () => {
  const lines = "x%0d%0aset-cookie:%20evil=1";
  const attempts = [
    `GET /${lines} HTTP/1.1\r\n${host}`,
    `GET /healthz?a=${lines} HTTP/1.1\r\n${host}`,
    `GET ${BASE}/user/get/?access_token=${lines}&client_id=${lines} HTTP/1.1\r\n${host}`,
    `GET ${BASE}/event/click/?app_id=${app.appId}&company=${lines} HTTP/1.1\r\n${host}`,
    `GET / HTTP/1.1\r\nhost: evil.example\r\norigin: https://evil.example\r\nx-forwarded-host: evil.example\r\n`,
    `OPTIONS ${BASE}/event/collect/ HTTP/1.1\r\n${host}origin: https://a.example\r\naccess-control-request-headers: evil\r\n`,
  ];
  for (const attempt of attempts) {
    const heard = await speak(server, `${attempt}connection: close\r\n\r\n`);
    const [answer] = answersIn(heard);
    expect(answer!.status).toBeGreaterThan(0);
    expect(answer!.head.toLowerCase()).not.toMatch(/set-cookie|evil/);
  }
});

test("the log of all this has one JSON object per line, and nothing in it was forged", async () => {
  const forged = '\n{"level":"fatal","msg":"forged"}\u001b[31m';
  await server.register(app, `forged${encodeURIComponent(forged)}`, { name: forged, channel: forged });
  await server.post("user/register/attributed/", app, { client_id: "x", click_company: forged });
  await fetch(`${server.url}/${encodeURIComponent(forged)}`, { headers: { "user-agent": "forged" } });
  await server.settle();
  // The first lines are for people: the address, the demo app and how to try it.
  const lines = server.output.split("\n").slice(0, -1);
  const logged = lines.filter((line) => line.startsWith("{"));
  expect(logged.length).toBeGreaterThan(5);
  for (const line of logged) {
    const entry = JSON.parse(line) as { level: string; msg: string };
    expect(entry).toMatchObject({ level: expect.any(String), time: expect.any(String) });
    expect(entry.msg).not.toBe("forged");
    expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f]/);
  }
});
