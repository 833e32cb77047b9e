import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { App } from "../../../src/db/app.ts";
import { decodeEntry, type Entry } from "../../../src/journal/entry.ts";
import { KIB } from "../../../src/limits.ts";
import { readAll } from "../../journal/temp-journal.ts";
import { answersIn, speak } from "../../security/socket.ts";
import { eventually } from "../../support/patience.ts";
import { cleanUp, TouchpointProcess } from "../../support/touchpoint.ts";
import { BASE, type Row, track } from "../fixture.ts";

/** Two servers that differ only in who judges. Nothing is applied, so that the journal holds all. */
type Side = { server: TouchpointProcess; app: App };
let alone: Side;
let threaded: Side;
beforeAll(async () => {
  [alone, threaded] = [await start("0"), await start("2")];
  await eventually(async () => {
    await threaded.server.post("event/collect/", threaded.app, PADDED);
    expect(await figure("touchpoint_intake_threads")).toBeGreaterThan(0);
  });
});
afterAll(async () => {
  for (const { server } of [alone, threaded]) {
    await server.stop();
    await cleanUp(server.dataDir);
  }
});

async function start(threads: string): Promise<Side> {
  const server = await TouchpointProcess.start({ env: { ROLES: "http", INTAKE_THREADS: threads } });
  return { server, app: await server.appWith(["a", "12345678901234567890"]) };
}

async function figure(name: string): Promise<number> {
  const lines = (await (await fetch(`${threaded.server.url}/metrics`)).text()).split("\n");
  return Number(lines.find((line) => line.startsWith(`${name} `))?.split(" ")[1]);
}
const handedOver = () => figure("touchpoint_intake_thread_bodies_total");

const durableOf = async ({ server }: Side): Promise<number> => (await server.get("/progress")).data.durable;

async function entriesFrom(side: Side, from: number): Promise<Entry[]> {
  const items = await readAll(join(side.server.dataDir, "journal"), await durableOf(side), { from });
  return items.map(({ payload }) => decodeEntry(payload));
}

/** With it, a body is worth a thread, even alone. */
const NOISE = "x".repeat(97 * KIB);
const bodyOf = (events: Row[], more: object = {}) =>
  JSON.stringify({ client_id: "a", event_list: events, noise: NOISE, ...more });
const PADDED = bodyOf([track("padded")]);
const EVENTS = [
  track("good", { n: 1 }),
  track("old", {}, 1),
  track("cut", { text: "x".repeat(3_000) }),
  track("omitted", { "no name": 1 }),
];
const FORM = { "content-type": "multipart/form-data; boundary=x" };
const beacon = (text: string) =>
  `--x\r\ncontent-disposition: form-data; name="data"\r\n\r\n${Buffer.from(text).toString("base64")}\r\n--x--\r\n`;
const GZIP = { "gravity-content-compress": "gzip" };
/** The size at the end is that of the second part only. */
const MORE_THAN_SAID = Buffer.concat([gzipSync(" ".repeat(600 * KIB)), gzipSync(PADDED)]);
/** What follows the gzip is ignored, but for the size at its end. */
const LONGER_THAN_PLAIN = Buffer.concat([gzipSync(bodyOf([track("short")], { noise: "" })), Buffer.alloc(8 * KIB)]);
LONGER_THAN_PLAIN.writeUInt32LE(97 * KIB, LONGER_THAN_PLAIN.length - 4);
const DEEP = `${"[".repeat(100)}"\\u0000"${"]".repeat(100)}`;

const MANY_VALUES = `{"client_id":"a","event_list":[${"0,".repeat(250_000)}0]}`;

type Sent = {
  body: string | Uint8Array;
  headers?: Record<string, string>;
  path?: string;
  code: number;
  /** How many bodies judge threads get. */
  threads: number;
};

test.each<[string, Sent]>([
  ["plain", { body: bodyOf(EVENTS), code: 0, threads: 1 }],
  ["short", { body: bodyOf(EVENTS, { noise: "" }).replaceAll("x", ""), code: 0, threads: 0 }],
  ["of the older form", { path: "eventv2/collect/", body: bodyOf(EVENTS, { type: "track" }), code: 0, threads: 1 }],
  ["through the framework", { path: "event/c%6fllect/", body: bodyOf(EVENTS), code: 0, threads: 1 }],
  ["with a long number as its client", { body: PADDED.replace('"a"', "12345678901234567890"), code: 0, threads: 1 }],
  ["with a text that cannot be stored", { body: bodyOf([track("e", { text: "\u0000" })]), code: 0, threads: 1 }],
  ["gzip", { body: gzipSync(bodyOf(EVENTS)), headers: GZIP, code: 0, threads: 1 }],
  ["gzip by its encoding", { body: gzipSync(PADDED), headers: { "content-encoding": "gzip" }, code: 0, threads: 1 }],
  ["gzip of more than it says", { body: MORE_THAN_SAID, headers: GZIP, code: 0, threads: 1 }],
  ["gzip longer than its text", { body: LONGER_THAN_PLAIN, headers: GZIP, code: 0, threads: 1 }],
  ["a form", { body: beacon(bodyOf(EVENTS)), headers: FORM, code: 0, threads: 0 }],
  ["a packed form", { body: gzipSync(beacon(bodyOf(EVENTS))), headers: { ...FORM, ...GZIP }, code: 0, threads: 0 }],
  [
    "of a thousand events",
    { body: bodyOf(Array(1_000).fill(track("e", { text: NOISE.slice(0, 200) }))), code: 0, threads: 1 },
  ],
  ["large", { body: bodyOf(EVENTS, { noise: "x".repeat(600 * KIB) }), code: 0, threads: 0 }],
  ["empty", { body: "", code: 1001, threads: 0 }],
  ["bad JSON", { body: PADDED.slice(1), code: 1001, threads: 1 }],
  ["bad UTF-8", { body: Buffer.concat([Buffer.from(PADDED), Buffer.from([0xff])]), code: 1001, threads: 1 }],
  ["bad gzip", { body: Buffer.from(PADDED), headers: GZIP, code: 1001, threads: 0 }],
  ["damaged gzip", { body: gzipSync(PADDED).fill(7, 20, 30), headers: GZIP, code: 1001, threads: 1 }],
  ["without a client", { body: PADDED.replace("client_id", "client"), code: 1004, threads: 1 }],
  ["of too many events", { body: bodyOf(Array<Row>(1_001).fill({})), code: 1004, threads: 1 }],
  ["too deep", { body: PADDED.replace("{", `{"deep":${DEEP},`), code: 1004, threads: 1 }],
  ["of too many values", { body: MANY_VALUES, code: 1413, threads: 1 }],
  ["of an unregistered client", { body: PADDED.replace('"a"', '"nobody"'), code: 2000, threads: 1 }],
])("a body %s gets the same answer and the same entry, whichever thread judges it", async (_, sent) => {
  const { path = "event/collect/", body, headers = {}, code, threads } = sent;
  const before = await handedOver();
  const [one, other] = await Promise.all(
    [alone, threaded].map(async (side) => {
      const from = await durableOf(side);
      const answer = await side.server.post(path, side.app, body, { headers });
      const entries = await entriesFrom(side, from);
      return { answer: { ...answer, headers: undefined }, entries: entries.map(comparable) };
    }),
  );
  expect(other).toEqual(one);
  expect(one!.answer.code).toBe(code);
  expect(one!.entries).toHaveLength(code === 0 ? 1 : 0);
  expect((await handedOver()) - before).toBe(threads);
});

/** Without what differs between two servers and two moments. */
function comparable({ head: { app: _app, at: _at, ...head }, body }: Entry) {
  return { head, body: body.toString("latin1") };
}

test("calls of one connection are journaled and answered in the order in which they were sent", async () => {
  const { server, app } = threaded;
  const from = await durableOf(threaded);
  const before = await handedOver();
  // Every other one is small enough to be judged on the main thread at once.
  const noises = Array.from({ length: 60 }, (_, n) => (n % 2 === 0 ? "x".repeat((126 - n / 2) * KIB) : ""));
  const requests = noises.map((noise, n) => {
    const body = bodyOf([track(`e${n}`)], { client_id: n % 3 === 0 ? "nobody" : "a", noise });
    const close = n === noises.length - 1 ? "connection: close\r\n" : "";
    const head = `host: x\r\n${close}content-length: ${body.length}`;
    return `POST ${BASE}/event/collect/?access_token=${app.accessToken} HTTP/1.1\r\n${head}\r\n\r\n${body}`;
  });
  const answers = answersIn(await speak(server, requests.join("")));
  expect(answers.map(({ body }) => JSON.parse(body).code)).toEqual(noises.map((_, n) => (n % 3 === 0 ? 2000 : 0)));
  const entries = await entriesFrom(threaded, from);
  const sent = entries.map(({ body }) => JSON.parse(body.toString()).event_list[0].event);
  expect(sent).toEqual(noises.map((_, n) => `e${n}`).filter((__, n) => n % 3 !== 0));
  expect((await handedOver()) - before).toBeGreaterThan(0);
});

test("watchers see a packed body that a judge thread has unpacked", async () => {
  const { server, app } = threaded;
  const before = await handedOver();
  const headers = { ...GZIP, "turbo-debug-mode": "1" };
  await server.post("event/collect/", app, gzipSync(bodyOf([track("watched")])), { headers });
  expect((await handedOver()) - before).toBe(1);
  const stream = await fetch(`${server.url}${BASE}/event/stream?app_id=${app.appId}`, {
    headers: { authorization: `Bearer ${app.appKey}` },
  });
  let heard = "";
  for await (const chunk of stream.body!) {
    heard += Buffer.from(chunk).toString();
    if (/^data: .*\n\n/m.test(heard)) break;
  }
  expect(heard).toContain('"event":"watched"');
});
