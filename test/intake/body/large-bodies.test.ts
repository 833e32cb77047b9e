import { afterAll, describe, expect, test } from "vitest";
import type { AppMetadata } from "../../../src/domain/event/metadata.ts";
import type { SentLarge } from "../../../src/intake/body/judge.ts";
import { LargeBodies } from "../../../src/intake/body/large-bodies.ts";
import { Refusals } from "../../../src/intake/refusals.ts";
import { LIMITS, MIB } from "../../../src/limits.ts";
import { createLog } from "../../../src/log.ts";

const NOW_MS = Date.UTC(2024, 5, 15);
const script = new URL("../../../dist/src/intake/body/large-body-worker.js", import.meta.url);
const HEADERS = { contentType: "", contentEncoding: "", gravityCompress: "" };
const metadata = (mode: AppMetadata["mode"] = "open"): AppMetadata => ({
  mode,
  events: new Map(),
  properties: { event: new Map(), user: new Map() },
});

const opened: LargeBodies[] = [];
function open(options: { heapMb?: number } = {}): LargeBodies {
  const bodies = new LargeBodies({
    largeTurn: new SharedArrayBuffer(4),
    refusals: new Refusals(() => NOW_MS),
    log: createLog("silent"),
    script,
    ...options,
  });
  opened.push(bodies);
  return bodies;
}
afterAll(async () => {
  for (const bodies of opened.splice(0)) await bodies.stop();
});

function bodyOf(clientId: string, events = 1): SentLarge {
  const list = Array.from({ length: events }, () => ({ type: "track", event: "e", time: NOW_MS, properties: {} }));
  const bytes = Buffer.from(JSON.stringify({ client_id: clientId, event_list: list }));
  return { form: "collect", bytes, headers: HEADERS, unpackedBytesMax: 16e6, nowMs: NOW_MS };
}

describe("the thread of large bodies", () => {
  // Starting a thread takes longer than everything that it does here.
  const bodies = open();

  test("judges a body by the app's current metadata, and returns its bytes", async () => {
    const [before, after] = [metadata(), metadata("strict")];
    const text = bodyOf("a").bytes.toString();
    const first = await bodies.judge(bodyOf("a"), { appId: 1, metadata: before });
    expect(first).toMatchObject({ clientId: "a", verdicts: "", errors: [] });
    expect(first.body.toString()).toBe(text);
    const again = await bodies.judge(bodyOf("a"), { appId: 1, metadata: before });
    expect(again.errors).toEqual([]);
    const stricter = await bodies.judge(bodyOf("a"), { appId: 1, metadata: after });
    expect(stricter.errors).toMatchObject([{ reason: "undeclared" }]);
    expect((await bodies.judge(bodyOf("a"), { appId: 2, metadata: before })).errors).toEqual([]);
    expect([bodies.bodies, bodies.handedOver]).toEqual([0, 4]);
  });

  test("knows the metadata of a limited number of apps, and gets again what it has forgotten", async () => {
    const strict = metadata("strict");
    for (let appId = 0; appId <= LIMITS.toldApps; appId += 1) {
      expect((await bodies.judge(bodyOf("a"), { appId, metadata: strict })).errors).toHaveLength(1);
    }
    expect((await bodies.judge(bodyOf("a"), { appId: 0, metadata: strict })).errors).toHaveLength(1);
  });

  test("says why a body is refused, and goes on", async () => {
    const app = { appId: 1, metadata: metadata() };
    const refused = bodies.judge({ ...bodyOf("a"), bytes: Buffer.from("{") }, app);
    await expect(refused).rejects.toMatchObject({ reason: "badJson" });
    expect(await bodies.judge(bodyOf("b"), app)).toMatchObject({ clientId: "b" });
  });

  test("is replaced when it ends: its current body is answered, the others are judged", async () => {
    // Room for the program and the others, but not for this text, which is there twice: as sent and as parsed.
    const small = open({ heapMb: 16 });
    const app = { appId: 1, metadata: metadata() };
    const text = Buffer.from(`{"client_id":"a","event_list":[{"event":"${"x".repeat(15 * MIB)}"}]}`);
    const deadly = () => small.judge({ ...bodyOf("a"), bytes: text }, app);
    const [killed, next] = await Promise.allSettled([deadly(), small.judge(bodyOf("b"), app)]);
    expect(killed).toMatchObject({ status: "rejected", reason: { reason: "overloaded", retryAfterS: 5 } });
    expect(next).toMatchObject({ status: "fulfilled", value: { clientId: "b" } });
    expect(small.bodies).toBe(0);
  });

  test("lets apps take turns, and gives none more than its share of the places", async () => {
    const order: number[] = [];
    const judge = (appId: number) =>
      bodies.judge(bodyOf("a"), { appId, metadata: metadata() }).then(() => order.push(appId));
    const share = LIMITS.largeBodiesWaiting / 2;
    const greedy = Array.from({ length: share }, () => judge(1));
    await expect(judge(1)).rejects.toMatchObject({ reason: "overBudget", retryAfterS: expect.any(Number) });
    const modest = judge(2);
    await Promise.all([...greedy, modest]);
    expect(order.indexOf(2)).toBeLessThan(3);
    expect(order).toHaveLength(share + 1);
  });

  test("answers all who wait when it is stopped", async () => {
    const stopped = open();
    const judging = Array.from({ length: 5 }, (_, appId) =>
      stopped.judge(bodyOf("a"), { appId, metadata: metadata() }),
    );
    const settled = Promise.allSettled(judging);
    await stopped.stop();
    for (const one of await settled)
      expect(one).toMatchObject({ status: "rejected", reason: { reason: "overloaded" } });
  });
});
