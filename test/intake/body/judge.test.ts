import { gunzipSync, gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { admitEvents } from "../../../src/domain/event/admission.ts";
import type { AppMetadata } from "../../../src/domain/event/metadata.ts";
import type { JsonObject } from "../../../src/domain/json.ts";
import { type CollectForm, judgeLarge, type SentLarge } from "../../../src/intake/body/judge.ts";
import { LIMITS } from "../../../src/limits.ts";

const NOW_MS = Date.UTC(2024, 5, 15);
const metadata: AppMetadata = {
  mode: "strict",
  events: new Map([["level_up", "declared"]]),
  properties: { event: new Map([["level", "number"]]), user: new Map() },
};
const PLAIN = { contentType: "", contentEncoding: "", gravityCompress: "" };
const GZIP = { ...PLAIN, gravityCompress: "gzip" };

const sentOf = (text: string, more: Partial<SentLarge> = {}): SentLarge => ({
  form: "collect" as CollectForm,
  bytes: Buffer.from(text),
  headers: PLAIN,
  unpackedBytesMax: 32e6,
  nowMs: NOW_MS,
  ...more,
});

const event = (more: object = {}): JsonObject =>
  ({ type: "track", event: "level_up", time: NOW_MS, properties: { level: 1 }, ...more }) as JsonObject;
const EVENTS = [
  event(),
  event({ properties: { level: "one", other: 2 } }),
  event({ event: "unknown" }),
  event({ time: 5 }),
  event({ properties: { $url_query: "x".repeat(5_000) } }),
];

test("a large body is judged like a small one", () => {
  const text = JSON.stringify({ client_id: "c", event_list: EVENTS });
  const { errors, ...found } = admitEvents(EVENTS, undefined, { nowMs: NOW_MS, metadata });
  expect([found.rejected.length, found.omitted.length, found.cut.length]).toEqual([2, 2, 1]);
  const judged = judgeLarge(sentOf(text), metadata);
  expect(JSON.parse(`{"kind":"collect"${judged.verdicts}}`)).toEqual({ kind: "collect", ...found });
  expect(judged).toMatchObject({ clientId: "c", errors, gzip: undefined, plainBytes: text.length });
  expect(JSON.parse(judged.answer)).toMatchObject({ code: 0, extra: { errors } });
  expect(judged.body.toString()).toBe(text);
});

test("a packed body stays packed, and a valid one leaves no verdict", () => {
  const text = `{"client_id":12345678901234567890,"event_list":${JSON.stringify(Array(100).fill(event()))}}`;
  const bytes = gzipSync(text);
  const judged = judgeLarge(sentOf("", { bytes, headers: GZIP }), metadata);
  expect(judged).toMatchObject({ clientId: "12345678901234567890", verdicts: "", errors: [], gzip: text.length });
  expect(judged.body).toBe(bytes);
});

test("the field of a packed form is packed again, so that a small request never takes much space", () => {
  const text = JSON.stringify({ client_id: "c", event_list: [event()], noise: "x".repeat(1_000_000) });
  const part = '--x\r\ncontent-disposition: form-data; name="data"\r\n\r\n';
  const bytes = gzipSync(`${part}${Buffer.from(text).toString("base64")}\r\n--x--\r\n`);
  const headers = { ...GZIP, contentType: "multipart/form-data; boundary=x" };
  const judged = judgeLarge(sentOf("", { bytes, headers }), metadata);
  expect(judged).toMatchObject({ clientId: "c", gzip: text.length, plainBytes: text.length });
  expect(judged.body.length).toBeLessThan(bytes.length);
  expect(gunzipSync(judged.body).toString()).toBe(text);
});

const open: AppMetadata = { ...metadata, mode: "open", properties: { event: new Map(), user: new Map() } };
const withProperties = (count: number) =>
  JSON.stringify({
    client_id: "c",
    event_list: [
      event({
        properties: Object.fromEntries(Array.from({ length: count }, (_, at) => [`-${at}-too-long-for-so-many`, 1])),
      }),
    ],
  });

test.each<[string, string, RegExp]>([
  ["values", `{"client_id":"c","event_list":[${"{},".repeat(LIMITS.bodyValues / 2)}{}]}`, /more than \d+ values/],
  ["levels", `{"client_id":"c","event_list":${"[".repeat(LIMITS.bodyDepth)}`, /nested deeper than \d+ levels/],
  ["bytes", `{"client_id":"c","event_list":[${" ".repeat(33e6)}{}]}`, /larger than \d+ bytes/],
  ["properties that cannot be stored", withProperties(60_000), /Too many properties/],
  ["events", JSON.stringify({ client_id: "c", event_list: Array(1_001).fill(event()) }), /event_list/],
  ["nothing", "{}", /client_id is missing/],
])("a body of too many %s is refused", (_, text, why) => {
  expect(() => judgeLarge(sentOf("", { bytes: gzipSync(text, { level: 1 }), headers: GZIP }), open)).toThrow(why);
});
