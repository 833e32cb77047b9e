import { gzipSync } from "node:zlib";
import { afterAll, describe, expect, test } from "vitest";
import type { AppMetadata } from "../../../src/domain/event/metadata.ts";
import { type CollectForm, type Judged, judgeOrdinary } from "../../../src/intake/body/judge.ts";
import { JudgeThreads } from "../../../src/intake/body/judge-threads.ts";
import { KIB, LIMITS, MIB } from "../../../src/limits.ts";
import { createLog } from "../../../src/log.ts";
import { eventually } from "../../support/patience.ts";

const NOW_MS = Date.UTC(2024, 5, 15);
const script = new URL("../../../dist/src/intake/body/judge-worker.js", import.meta.url);
const settings = { unpackedBytesMax: LIMITS.bodyBytesHandedOver };
const metadata = (mode: AppMetadata["mode"] = "open"): AppMetadata => ({
  mode,
  events: new Map(),
  properties: { event: new Map(), user: new Map() },
});
const OPEN = { appId: 1, metadata: metadata() };

const opened: JudgeThreads[] = [];
function open(options: { threads: number; heapMb?: number }): JudgeThreads {
  const threads = new JudgeThreads({ settings, log: createLog("silent"), script, ...options });
  opened.push(threads);
  return threads;
}
afterAll(async () => {
  for (const threads of opened.splice(0)) await threads.stop();
});

type Sent = Parameters<JudgeThreads["judge"]>[0];

/** A body that is worth a thread, by what it claims to be. */
const WORTH_BYTES = 96 * KIB;

function sentOf(text: string, more: Partial<Sent> = {}): Sent {
  const form: CollectForm = "collect";
  return { form, bytes: Buffer.from(text), isPacked: false, plainBytes: WORTH_BYTES, nowMs: NOW_MS, ...more };
}
function bodyOf(clientId: string, noise = ""): Sent {
  const event = { type: "track", event: "e", time: NOW_MS, properties: {} };
  const text = JSON.stringify({ client_id: clientId, event_list: [event], noise });
  return sentOf(text, { plainBytes: Math.max(WORTH_BYTES, text.length) });
}
const packed = (text: string) => sentOf(text, { bytes: gzipSync(text), isPacked: true });

/** Waits until a thread is ready, which takes bodies from then on. */
async function judged(threads: JudgeThreads, sent: Sent, app = OPEN): Promise<Judged> {
  // In a list, so that a refusal is the result and not a reason to try again.
  const [judging] = await eventually(() => {
    const taken = threads.judge(sent, app);
    if (!taken) throw new Error("No thread is ready.");
    return [taken] as const;
  });
  return judging;
}

test("without threads, or before one is ready, the caller judges", () => {
  expect(open({ threads: 0 }).judge(bodyOf("a"), OPEN)).toBeUndefined();
  expect(open({ threads: 1 }).judge(bodyOf("a"), OPEN)).toBeUndefined();
});

describe("judge threads", () => {
  // Starting a thread takes longer than everything that it does here.
  const threads = open({ threads: 2 });

  test.each<[string, Sent]>([
    ["plain", bodyOf("a")],
    ["packed", packed(bodyOf("a").bytes.toString())],
    ["of the older form", sentOf('{"client_id":"a","type":"track","event_list":[7]}', { form: "collect_v2" })],
    ["with an id longer than a double", sentOf('{"client_id":12345678901234567890,"event_list":[7]}')],
    ["with bad events", sentOf('{"client_id":"a","event_list":[7,{"type":"track","event":"e","time":5}]}')],
  ])("judge a body %s as the main thread does", async (_, sent) => {
    const expected = judgeOrdinary(sent, { metadata: OPEN.metadata, ...settings });
    expect(await judged(threads, sent)).toEqual(expected);
  });

  test.each<[string, Sent, string]>([
    ["that is not JSON", sentOf("{"), "badJson"],
    ["that is not UTF-8", sentOf("", { bytes: Buffer.from([0xff]) }), "badJson"],
    ["that is not gzip", sentOf("{}", { isPacked: true }), "badJson"],
    ["without a client", sentOf('{"event_list":[]}'), "badParameter"],
    ["that unpacks to too much", packed(" ".repeat(settings.unpackedBytesMax + 1)), "bodyTooLarge"],
  ])("say why a body %s is refused, and go on", async (_, sent, reason) => {
    await expect(judged(threads, sent)).rejects.toMatchObject({ reason });
    expect(await judged(threads, bodyOf("b"))).toMatchObject({ clientId: "b" });
  });

  test("give each of many bodies its own verdict, by the current metadata of its app", async () => {
    await judged(threads, bodyOf("a"));
    const before = threads.handedOver;
    const strict = { appId: 2, metadata: metadata("strict") };
    const judging = Array.from({ length: 256 }, (_, n) =>
      threads.judge({ ...bodyOf(`c${n}`), plainBytes: 2 * KIB }, n % 3 === 0 ? strict : OPEN),
    );
    const verdicts = await Promise.all(judging);
    expect(threads.handedOver - before).toBe(256);
    expect(verdicts.map((one) => one?.clientId)).toEqual(verdicts.map((_, n) => `c${n}`));
    expect(verdicts.map((one) => one?.errors.length)).toEqual(verdicts.map((_, n) => (n % 3 === 0 ? 1 : 0)));
    expect((await judged(threads, bodyOf("a"), { ...strict, metadata: OPEN.metadata })).errors).toEqual([]);
  });

  test("keep a failure to the body that caused it", async () => {
    await judged(threads, bodyOf("a"));
    const broken = { appId: 3, metadata: { ...OPEN.metadata, properties: Object.create(null) } };
    const event = { type: "track", event: "e", time: NOW_MS, properties: { name: 1 } };
    const sent = sentOf(JSON.stringify({ client_id: "a", event_list: [event] }));
    const [failed, beside] = [threads.judge(sent, broken), threads.judge(sent, OPEN)];
    await expect(failed).rejects.toMatchObject({ name: "TypeError" });
    expect(await beside).toMatchObject({ clientId: "a", errors: [] });
  });

  test("know the metadata of a limited number of apps, and get again what they have forgotten", async () => {
    const strict = metadata("strict");
    await judged(threads, bodyOf("a"));
    const appIds = Array.from({ length: LIMITS.toldApps + 1 }, (_, appId) => appId);
    for (const appId of [...appIds, 0])
      expect((await judged(threads, bodyOf("a"), { appId, metadata: strict })).errors).toHaveLength(1);
    const small = { ...bodyOf("a"), plainBytes: 1 * KIB };
    const together = [...appIds, ...appIds].map((appId) => threads.judge(small, { appId, metadata: strict }));
    for (const verdict of await Promise.all(together)) expect(verdict?.errors).toHaveLength(1);
  });

  test("get no body that is alone in its turn and small, but it is judged all the same", async () => {
    await judged(threads, bodyOf("a"));
    const before = threads.handedOver;
    const small = { plainBytes: WORTH_BYTES - 1 };
    expect(await threads.judge({ ...bodyOf("b"), ...small }, OPEN)).toMatchObject({ clientId: "b" });
    await expect(threads.judge(sentOf("{", small), OPEN)).rejects.toMatchObject({ reason: "badJson" });
    const liar = packed(" ".repeat(LIMITS.bodyBytesAtOnce + 1));
    await expect(threads.judge({ ...liar, ...small }, OPEN)).rejects.toMatchObject({ reason: "bodyTooLarge" });
    expect(threads.handedOver).toBe(before);
  });

  test("are not more than allowed, and leave to the caller what is too much for them", async () => {
    const noise = "x".repeat(128 * KIB);
    const flood = async () => {
      const judging = Array.from({ length: 100 }, (_, n) => threads.judge(bodyOf(`c${n}`, noise), OPEN));
      const taken = judging.filter((one) => one !== undefined);
      await Promise.all(taken);
      return taken.length;
    };
    await eventually(async () => {
      await flood();
      expect(threads.ready).toBe(2);
    });
    const taken = await flood();
    expect(taken).toBeGreaterThan(0);
    expect(taken).toBeLessThan(50);
    expect(threads.ready).toBe(2);
    expect(await judged(threads, bodyOf("a"))).toMatchObject({ clientId: "a" });
  });
});

test("a thread that ends refuses what it has in hand, and another one takes its place", async () => {
  const threads = open({ threads: 1, heapMb: 16 });
  await judged(threads, bodyOf("a"));
  // Room for the program and the others, but not for this text, which is there twice: as sent and as parsed.
  const deadly = sentOf(`{"client_id":"a","event_list":[{"event":"${"x".repeat(15 * MIB)}"}]}`);
  const before = threads.handedOver;
  const settled = await Promise.allSettled([threads.judge(deadly, OPEN), threads.judge(bodyOf("b"), OPEN)]);
  for (const one of settled)
    expect(one).toMatchObject({ status: "rejected", reason: { reason: "overloaded", retryAfterS: 5 } });
  expect(threads.handedOver).toBe(before + 2);
  expect(threads.ready).toBe(0);
  expect(threads.judge(bodyOf("c"), OPEN), "the caller judges meanwhile").toBeUndefined();
  expect(await judged(threads, bodyOf("c"))).toMatchObject({ clientId: "c" });
});

test("everybody who waits is answered when the threads are stopped, and no more bodies are taken", async () => {
  const threads = open({ threads: 2 });
  await judged(threads, bodyOf("a"));
  const handedOver = threads.judge(bodyOf("b", "x".repeat(300 * KIB)), OPEN);
  const gathered = threads.judge(bodyOf("c"), OPEN);
  const settled = Promise.allSettled([handedOver, gathered]);
  await threads.stop();
  for (const one of await settled) expect(one).toMatchObject({ status: "rejected", reason: { reason: "overloaded" } });
  expect(threads.judge(bodyOf("d"), OPEN)).toBeUndefined();
  expect(threads.ready).toBe(0);
});
