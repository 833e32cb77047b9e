import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../src/db/app.ts";
import { LIMITS } from "../../src/limits.ts";
import { answersIn } from "../security/socket.ts";
import { AdminCaller } from "../support/admin-caller.ts";
import { eventually } from "../support/patience.ts";
import { type Answer, answerOf, cleanUp, TouchpointProcess } from "../support/touchpoint.ts";
import { BASE, type Row, track } from "./fixture.ts";

const KIB = 1024;
const BODIES_MAX = 1024 * KIB;

/** A server with limits that fill quickly, which trusts the callers' forwarded addresses. */
let server: TouchpointProcess;
let app: App;
let other: App;
beforeAll(async () => {
  server = await TouchpointProcess.start({
    env: {
      TRUSTED_PROXIES: "127.0.0.1",
      BODY_BYTES_MAX: "256KiB",
      BODIES_IN_FLIGHT_BYTES_MAX: `${BODIES_MAX}`,
      APP_ENTRIES_PER_S: "1",
      APP_BYTES_PER_S: "256KiB",
      ADDRESS_ENTRIES_PER_S: "1",
      INTAKE_THREADS: "0",
    },
  });
  [app, other] = [await server.appWith(["a"]), await server.appWith(["a"])];
});
afterAll(async () => {
  await server.stop();
  await cleanUp(server.dataDir);
});

const from = (address: string) => ({ headers: { "x-forwarded-for": address } });
const collectOf = (whose: App, address: string) =>
  server.post("event/collect/", whose, { client_id: "a", event_list: [track("e")] }, from(address));

async function figure(name: string): Promise<number> {
  const lines = (await (await fetch(`${server.url}/metrics`)).text()).split("\n");
  return Number(lines.find((line) => line.startsWith(`${name} `))?.split(" ")[1] ?? 0);
}
const bodiesHeld = () => figure("touchpoint_bodies_in_flight_bytes");

/** Begins a call that never ends. */
async function begin(whose: App, address: string, options: { path?: string; bytes: number }): Promise<Socket> {
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  await once(socket, "connect");
  const path = `${BASE}/${options.path ?? "event/collect"}/?access_token=${whose.accessToken}`;
  const head = `host: x\r\nx-forwarded-for: ${address}\r\nconnection: close\r\ncontent-length: ${options.bytes + 1}`;
  socket.write(`POST ${path} HTTP/1.1\r\n${head}\r\n\r\n`);
  socket.write(" ".repeat(options.bytes));
  return socket;
}

describe("bodies being received", () => {
  const opened: Socket[] = [];
  const open = async (...call: Parameters<typeof begin>) => {
    const socket = await begin(...call);
    opened.push(socket);
    return socket;
  };
  async function hangUp(): Promise<void> {
    for (const socket of opened.splice(0)) socket.destroy();
    await eventually(async () => expect(await bodiesHeld()).toBe(0));
  }

  test.each(["event/collect", "user/register"])(
    "at %s: one address cannot take all the room, and others go on meanwhile",
    async (path) => {
      // Half of the room, in whole bodies.
      const bytes = 120 * KIB;
      for (let count = 0; count < 4; count += 1) await open(app, "192.0.2.1", { path, bytes });
      await eventually(async () => expect(await bodiesHeld()).toBe(4 * bytes));
      const answer = answersIn(await text(await begin(app, "192.0.2.1", { path, bytes })))[0]!;
      expect([answer.status, JSON.parse(answer.body).code]).toEqual([429, 2003]);
      expect(answer.head).toMatch(/^retry-after: \d+$/im);
      expect(await figure(`touchpoint_refused_total{app="${app.appId}",reason="bodies"}`)).toBeGreaterThan(0);
      expect(await collectOf(other, "192.0.2.2")).toMatchObject({ status: 200, code: 0 });
      await hangUp();
      expect(await collectOf(app, "192.0.2.1")).toMatchObject({ status: 200, code: 0 });
    },
  );

  test("of one app cannot take all the room, wherever they come from", async () => {
    const bytes = 120 * KIB;
    for (let caller = 1; caller <= 4; caller += 1) await open(app, `198.51.100.${caller}`, { bytes });
    await eventually(async () => expect(await bodiesHeld()).toBe(4 * bytes));
    const answer = answersIn(await text(await begin(app, "198.51.100.5", { bytes })))[0]!;
    expect([answer.status, JSON.parse(answer.body).code]).toEqual([429, 2003]);
    expect(await collectOf(other, "198.51.100.6")).toMatchObject({ status: 200, code: 0 });
    await hangUp();
  });

  test("count by the bytes received, so that slow senders hold no more than that", async () => {
    const { hostname, port } = new URL(server.url);
    for (let count = 0; count < 40; count += 1) {
      const socket = connect(Number(port), hostname);
      opened.push(socket);
      const head = `host: x\r\ncontent-length: ${200 * KIB}`;
      socket.write(`POST ${BASE}/event/collect/?access_token=${app.accessToken} HTTP/1.1\r\n${head}\r\n\r\n{`);
    }
    await eventually(async () => expect(await bodiesHeld()).toBe(40));
    expect(await collectOf(app, "127.0.0.1")).toMatchObject({ status: 200, code: 0 });
    await hangUp();
  });

  test("are released when they are answered, whatever the answer is", async () => {
    await collectOf(app, "192.0.2.1");
    await server.post("event/collect/", app, "no JSON");
    await server.post("event/collect/", app, " ".repeat(300 * KIB));
    await server.post("user/get/", app, { user_list: ["a"] });
    await server.post("user/get/", app, "no JSON");
    await eventually(async () => expect(await bodiesHeld()).toBe(0));
  });
});

describe("a large body", () => {
  const handedOver = () => figure("touchpoint_large_bodies_total");
  const events = [track("good", { n: 1 }), track("old", {}, 1), track("cut", { text: "x".repeat(3_000) })];
  const bodyOf = (bytes: number) => JSON.stringify({ client_id: "a", event_list: events, noise: "x".repeat(bytes) });
  const gzip = { headers: { "gravity-content-compress": "gzip" } };
  const beacon = (text: string) => {
    const part = `--x\r\ncontent-disposition: form-data; name="data"\r\n\r\n`;
    return `${part}${Buffer.from(text).toString("base64")}\r\n--x--\r\n`;
  };
  const form = { headers: { "content-type": "multipart/form-data; boundary=x" } };
  /** The reported errors of the two events that are not stored as sent. */
  const told = {
    errors: [
      { index: 1, reason: "bad_time" },
      { index: 2, reason: "bad_property" },
    ],
  };

  test("is judged on its own thread, and stored and answered like a small one", async () => {
    const whose = await server.appWith(["a"]);
    const pool = server.database();
    const before = await handedOver();
    const path = "event/collect/";
    const spelledOut = "event/c%6fllect/";
    for (const [count, send] of [
      () => server.post(path, whose, bodyOf(0)),
      () => server.post(path, whose, gzipSync(bodyOf(0)), gzip),
      () => server.post(path, whose, bodyOf(200 * KIB)),
      () => server.post(path, whose, gzipSync(bodyOf(200 * KIB)), gzip),
      () => server.post(path, whose, beacon(bodyOf(150 * KIB)), form),
      () => server.post(spelledOut, whose, bodyOf(200 * KIB)),
    ].entries()) {
      expect(await send()).toMatchObject({ status: 200, code: 0, extra: told });
      expect(await handedOver()).toBe(before + Math.max(0, count - 1));
    }
    await server.settle();
    const { rows } = await pool.query(
      "select event, properties_text::json as properties from event where app_id = $1 order by event",
      [whose.appId],
    );
    await pool.end();
    expect(rows).toMatchObject([
      { event: "cut", properties: { text: "x".repeat(2_048) } },
      { event: "good", properties: { n: 1 } },
    ]);
  });

  test.each<[string, string, number, RegExp]>([
    ["values", `{"client_id":"a","event_list":[${"{},".repeat(1_000_000)}{}]}`, 1413, /more than \d+ values/],
    ["levels", "[".repeat(3_000_000), 1004, /nested deeper than \d+ levels/],
    ["bytes", " ".repeat(17 * KIB * KIB), 1413, /larger than \d+ bytes/],
  ])("of too many %s is refused by that thread", async (_, text, code, msg) => {
    const before = await handedOver();
    const bomb = gzipSync(text);
    expect(bomb.length).toBeLessThan(20 * KIB);
    expect(await server.post("event/collect/", app, bomb, gzip)).toMatchObject({
      code,
      msg: expect.stringMatching(msg),
    });
    expect(await handedOver()).toBe(before + 1);
  });

  test("of an unregistered client is refused with 2000", async () => {
    const body = bodyOf(200 * KIB).replace('"client_id":"a"', '"client_id":"nobody"');
    expect(await server.post("event/collect/", app, body)).toMatchObject({ status: 200, code: 2000 });
  });
});

describe("a budget", () => {
  /** The first refusal among many simultaneous calls: enough to fill the budget twice. */
  async function flood(send: () => Promise<Answer>): Promise<Answer> {
    for (;;) {
      const answers = await Promise.all(Array.from({ length: 2 * LIMITS.budgetBurstS }, send));
      const refusal = answers.find(({ status }) => status !== 200);
      if (refusal) return refusal;
    }
  }
  const refused = (msg: RegExp) => ({ status: 429, code: 2003, data: {}, msg: expect.stringMatching(msg) });
  const refusalsOf = (whose: App, reason: string) =>
    figure(`touchpoint_refused_total{app="${whose.appId}",reason="${reason}"}`);

  test.each<[string, (whose: App) => Promise<Answer>]>([
    ["collect", (whose) => collectOf(whose, "192.0.2.7")],
    ["every other endpoint with a token", (whose) => server.post("user/get/", whose, { user_list: ["a"] })],
  ])("of calls applies to %s, by app", async (_, send) => {
    const [flooded, modest] = [await server.appWith(["a"]), await server.appWith(["a"])];
    const answer = await flood(() => send(flooded));
    expect(answer).toMatchObject(refused(/more calls/));
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(await refusalsOf(flooded, "entries")).toBeGreaterThan(0);
    expect(await send(modest)).toMatchObject({ status: 200, code: 0 });
    expect(await refusalsOf(modest, "entries")).toBe(0);
  });

  test("of bytes counts a compressed body by its unpacked size, and the console shows who is refused", async () => {
    const whose = await server.appWith(["a"]);
    const event = JSON.stringify({ client_id: "a", event_list: [track("padded")] });
    const packed = gzipSync(event.padEnd(15 * KIB * KIB));
    const send = () => server.post("event/collect/", whose, packed, { headers: { "content-encoding": "gzip" } });
    expect(await send()).toMatchObject({ status: 200, code: 0 });
    expect(await send()).toMatchObject(refused(/more bytes/));
    const { data } = await new AdminCaller(server).get("health");
    const mine = data.refused.filter(({ app_id }: Row) => app_id === whose.appId);
    expect(mine).toEqual([{ app_id: whose.appId, reason: "bytes", calls: 1, last_at_ms: expect.any(Number) }]);
  });

  test("of link calls is per address", async () => {
    const click = (address: string) =>
      fetch(`${server.url}${BASE}/event/click/?app_id=${app.appId}&company=tencent&click_id=${Math.random()}`, {
        headers: { "x-forwarded-for": address },
      }).then(answerOf);
    const startedMs = Date.now();
    let [calls, taken] = [0, 0];
    const clickInTurn = async () => {
      calls += 1;
      const answer = await click(`2001:db8::${1 + (calls % 2)}`);
      if (answer.status === 200) taken += 1;
      return answer;
    };
    expect(await flood(clickInTurn)).toMatchObject(refused(/address/));
    const passedS = Math.ceil((Date.now() - startedMs) / 1000);
    expect(taken, "of both addresses of one network").toBeLessThanOrEqual(LIMITS.budgetBurstS + passedS);
    expect((await click("192.0.2.9")).status).toBe(200);
    expect(await refusalsOf(app, "address")).toBeGreaterThan(0);
  });
});

test("an app that fills the journal is refused before it takes the others' share", async () => {
  const env = { ROLES: "http", JOURNAL_BACKLOG_BYTES_MAX: "1MiB" };
  const unapplied = await TouchpointProcess.start({ env });
  try {
    const [greedy, modest] = [await unapplied.createApp(), await unapplied.createApp()];
    for (const whose of [greedy, modest]) await unapplied.register(whose, "a");
    const events = Array.from({ length: 10 }, (_, n) => track("e", { n, noise: "x".repeat(2_000) }));
    const send = (whose: App) => unapplied.collect(whose, "a", events);
    let calls = 0;
    let answer = await send(greedy);
    for (; answer.status === 200; calls += 1) answer = await send(greedy);
    expect(answer).toMatchObject({ status: 429, code: 2003 });
    expect(calls * 20_000).toBeLessThan(600 * KIB);
    for (let count = 0; count < 5; count += 1) expect(await send(modest)).toMatchObject({ status: 200, code: 0 });
  } finally {
    await unapplied.stop();
    await cleanUp(unapplied.dataDir);
  }
});
