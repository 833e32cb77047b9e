import type { Worker } from "node:worker_threads";
import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type DecodedEntry, decodeAlone, openItem } from "../../src/apply/entry/decode.ts";
import type { DecodeThread } from "../../src/apply/entry/decode-thread.ts";
import { TakenEvents } from "../../src/apply/entry/handed-events.ts";
import type { JsonObject } from "../../src/domain/json.ts";
import { REFUND_EVENT } from "../../src/domain/refund.ts";
import { type EntryHead, payloadOf } from "../../src/journal/entry.ts";
import type { LogItem } from "../../src/journal/entry-log.ts";
import { builtDecodeThread } from "./built-decode-thread.ts";

let thread: DecodeThread;
const workers: Worker[] = [];
beforeAll(async () => {
  process.on("worker", (worker) => workers.push(worker));
  thread = await builtDecodeThread();
});
afterAll(() => thread.close());

const AT = Date.UTC(2026, 0, 2);
const HEAD: EntryHead = {
  kind: "collect",
  app: 3,
  client: "c",
  at: AT,
  registered: "yes",
  ip: "10.0.0.1",
  ua: "game/1.0",
};

function itemOf(body: Buffer | JsonObject, head: Partial<EntryHead> = {}): LogItem {
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body));
  const payload = payloadOf({ head: { ...HEAD, ...head }, body: bytes });
  return { kind: "record", from: 0, until: payload.length, payload };
}

/** What apply can ask an entry for. */
function shown(entry: DecodedEntry): object {
  if (entry.kind !== "events") return { ...entry };
  const events = Array.from(entry.events, (event) => {
    const { type, event: name, atMs, fingerprint, told, shape, properties, propertiesText, payment, refund } = event;
    return { type, name, atMs, fingerprint, told, shape, properties, propertiesText, payment, refund };
  });
  return { ...entry, events };
}

/** The entries as the thread decodes them, and which of them it did. */
async function decoded(items: readonly LogItem[]): Promise<{ entries: object[]; handed: boolean[] }> {
  const opened = items.map(openItem);
  const taken = new TakenEvents(await thread.decode(opened));
  const handed = opened.map((item) => taken.next(item));
  const entries = handed.map((entry, index) => shown(entry ?? decodeAlone(items[index]!)));
  return { entries, handed: handed.map((entry) => entry !== undefined) };
}

const NAMES = ["$PayEvent", REFUND_EVENT, "$AdShow", "$BindThirdPlatform", "level_up", "等级"];
const KEYS = ["$order_id", "$pay_amount", "$ecpm", "$ad_type", "$ad_unit_id", "$os", "$ip", "level", "名字", "ta_id"];
const values = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer(),
  fc.boolean(),
  fc.array(fc.string(), { maxLength: 3 }),
);
const events = fc.record({
  type: fc.constantFrom("track", "track", "profile"),
  event: fc.constantFrom(...NAMES),
  time: fc.integer({ min: AT - 1_000, max: AT }),
  properties: fc.dictionary(fc.constantFrom(...KEYS), values, { maxKeys: 6, noNullPrototype: true }),
});
const calls = fc.record({
  list: fc.array(events, { maxLength: 5 }),
  verdicts: fc.constantFrom<Partial<EntryHead>>(
    {},
    {},
    { rejected: [[0, "bad_event"]] },
    { omitted: [[0, "level"]], cut: [[1, "名字"]] },
  ),
  isPacked: fc.boolean(),
  app: fc.constantFrom(3, 4),
});

function itemOfCall({ list, verdicts, isPacked, app }: typeof calls extends fc.Arbitrary<infer Call> ? Call : never) {
  const known = list.map((event) => (event.type === "profile" ? { ...event, event: "profile_set" } : event));
  const cut = verdicts.cut?.filter(([index, name]) => typeof known[index]?.properties[name] === "string") ?? [];
  const head = { app, ...verdicts, ...(verdicts.cut && { cut }) };
  const body = Buffer.from(JSON.stringify({ event_list: known }));
  return isPacked ? itemOf(gzipSync(body), { ...head, gzip: body.length }) : itemOf(body, head);
}

test("what the thread decodes is what decoding in place gives, for any calls", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(calls, { maxLength: 6 }), async (given) => {
      const items = given.map(itemOfCall);
      const { entries, handed } = await decoded(items);
      expect(entries).toEqual(items.map((item) => shown(decodeAlone(item))));
      expect(handed).toEqual(items.map(() => true));
    }),
    { numRuns: 60 },
  );
});

test("other entries, damage and unreadable bodies are left to the applying thread, and spoil nothing beside them", async () => {
  const level = { type: "track", event: "level_up", time: AT, properties: { level: 2 } };
  const call = itemOf({ event_list: [level] });
  const items: LogItem[] = [
    call,
    itemOf({ client_id: "c" }, { kind: "register" }),
    itemOf(Buffer.from("{")),
    { kind: "damage", from: 7, until: 9, payload: Buffer.from("??") },
    // Its first event is decoded before the second turns out to be unusable.
    itemOf({ event_list: [level, { ...level, time: 1e300 }] }),
    itemOf({ event_list: [] }),
    call,
  ];
  const { entries, handed } = await decoded(items);
  expect(handed).toEqual([true, false, false, false, false, true, true]);
  expect(entries).toMatchObject([
    shown(decodeAlone(call)),
    { kind: "user" },
    { kind: "unreadable", reason: expect.stringMatching(/not valid JSON/) },
    { kind: "unreadable", from: 7, until: 9 },
    { kind: "unreadable", reason: "An event of the entry has no usable time." },
    { kind: "events", received: 0, events: [] },
    shown(decodeAlone(call)),
  ]);
});

test("properties that are read from their text are those that were sent, without the sender's address", async () => {
  const properties = { 名字: '"tab\t\\', level: 1.5, deep: { b: [1, null], a: true }, $ip: "1.2.3.4" };
  const { $ip: _, ...own } = properties;
  const at = { type: "track", event: "level_up", time: AT };
  const items = [
    itemOf({
      event_list: [
        { ...at, properties: own },
        { ...at, properties },
      ],
    }),
  ];
  const { entries } = await decoded(items);
  expect(entries).toMatchObject([{ events: [{ properties: own }, { properties }] }]);
  const [{ events: read }] = entries as [{ events: { properties: object; propertiesText: string }[] }];
  expect(read.map((event) => event.properties)).toEqual([own, properties]);
  expect(read.map(({ propertiesText }) => JSON.parse(propertiesText).$ip)).toEqual(["10.0.0.1", "1.2.3.4"]);
});

test("a thread that ends fails what it had in hand, and the next entries start another", async () => {
  const items = [itemOf({ event_list: [] })].map(openItem);
  await thread.decode(items);
  const ended = workers.at(-1)!;
  const ending = ended.terminate();
  await expect(thread.decode(items)).rejects.toThrow("The thread that decodes entries ended.");
  await ending;
  expect((await thread.decode(items)).counts).toEqual(new Int32Array([0]));
  expect(workers.at(-1)).not.toBe(ended);
});
