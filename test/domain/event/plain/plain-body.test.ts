import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalTexts } from "../../../../src/domain/event/fingerprint.ts";
import { PlainBody } from "../../../../src/domain/event/plain/plain-body.ts";
import { PlainText } from "../../../../src/domain/event/plain/plain-text.ts";
import { type JsonObject, parseJson } from "../../../../src/domain/json.ts";
import { bodyText } from "./body-texts.ts";

// One for all bodies, as on a server: nothing of one may show in the next.
const read = new PlainBody();
const texts = new PlainText();

/** With the one or the other, the origin is long enough to be stored by itself. */
const ADDED = [
  ["$ip", "10.1.2.3"],
  ["$ua", "Mozilla/5.0 (Linux; Android 14)"],
  ["$user_id", "p".repeat(90)],
].map(([key, value]) => {
  const text = `"${key}":"${value}"`;
  return { key: key!, text, bytes: Buffer.from(text) };
});

test("what is read from bytes is what JSON.parse reads", () => {
  let plainEvents = 0;
  fc.assert(
    fc.property(bodyText, (text) => {
      const bytes = Buffer.from(text);
      if (!read.read(bytes)) return;
      const body = parseJson(bytes) as JsonObject;
      const sent = body.event_list as JsonObject[];
      expect(read.count).toBe(sent.length);
      for (const name of ["client_id", "client_ip", "client_ua", "type"] as const)
        expect(read.members[name]).toEqual(body[name]);
      for (const [index, object] of sent.entries()) {
        const event = read.events[index]!;
        expect(read.objectOf(event)).toEqual(object);
        if (event.sent) continue;
        plainEvents += 1;
        const properties = object.properties as JsonObject;
        expect([event.name, event.timeMs, event.isFree]).toEqual([
          object.event,
          object.time,
          object.time_free === true,
        ]);
        expect(event.hasType ? "track" : undefined).toBe(object.type);
        expect(event.shape.keys).toEqual(Object.keys(properties));
        for (const key of event.shape.keys) expect(read.valueOf(event, key)).toEqual(properties[key]);
      }
    }),
    { numRuns: 2_000 },
  );
  expect(plainEvents).toBeGreaterThan(1_000);
});

test("the texts of a plain event are those of the event as an object", () => {
  const compared = { whole: 0, withOrigin: 0 };
  fc.assert(
    fc.property(bodyText, fc.subarray(ADDED), (text, added) => {
      if (!read.read(Buffer.from(text))) return;
      for (const event of read.events.slice(0, read.count)) {
        if (event.sent || event.shape.keys.some((key) => ADDED.some((one) => one.key === key))) continue;
        const object = read.objectOf(event);
        const { canonical, stored } = canonicalTexts(object.properties as JsonObject, added);
        texts.write(read, event, added);
        expect(texts.bytes.toString("utf8", texts.until, texts.printUntil)).toBe(
          `${event.timeMs}\ntrack\n${event.name}\n${canonical}`,
        );
        expect(texts.bytes.toString("utf8", 0, texts.until)).toBe(stored.bytes.toString("utf8", 0, stored.until));
        expect(texts.originUntil).toBe(stored.originUntil);
        compared[texts.originUntil === 0 ? "whole" : "withOrigin"] += 1;
      }
    }),
    { numRuns: 1_000 },
  );
  expect(compared.whole).toBeGreaterThan(200);
  expect(compared.withOrigin).toBeGreaterThan(200);
});

test("a body that is no JSON is never read", () => {
  let broken = 0;
  const mutation = fc.record({ at: fc.nat(), byte: fc.constantFrom(...'{}[],:"\\ 0e-\u0001x') });
  fc.assert(
    fc.property(bodyText, fc.option(mutation), (text, change) => {
      const bytes = Buffer.from(text);
      if (change) bytes.write(change.byte, change.at % bytes.length, "latin1");
      if (isJson(bytes)) return;
      broken += 1;
      expect(read.read(bytes)).toBe(false);
    }),
    { numRuns: 3_000 },
  );
  expect(broken).toBeGreaterThan(500);
});

function isJson(bytes: Buffer): boolean {
  try {
    parseJson(bytes);
    return true;
  } catch {
    return false;
  }
}

test("events with the usual properties are plain, in whatever order their members come", () => {
  const properties =
    '{"$os":"android","$lib":"MiniGame","scene":"游戏","level":7,"ratio":-0.125,"first":true,"none":null}';
  const events = [
    `{"type":"track","event":"level_up","time":1790000000000,"time_free":false,"properties":${properties}}`,
    `{ "event" : "level_up", "properties" : ${properties.replaceAll(",", " , ")}, "time" : 1790000000001, "type":"track" }`,
    `{"event":"level_up","time":1790000000002,"properties":{},"$uuid":"u","type":"track"}`,
  ];
  expect(read.read(Buffer.from(`{"event_list":[${events.join(" ,\n")}],"client_id":"c","$flush_time":5}`))).toBe(true);
  expect(read.events.slice(0, 3).map(({ sent, timeMs }) => [sent, timeMs])).toEqual([
    [undefined, 1790000000000],
    [undefined, 1790000000001],
    [undefined, 1790000000002],
  ]);
});

test("an event that is not plain leaves those beside it plain", () => {
  const event = (own: string) => `{"type":"track","event":"a","time":1790000000000,"properties":${own}}`;
  const list = [
    event('{"x":1}'),
    event('{"x":"\\n"}'),
    event('{"x":[1,"}"]}'),
    event('{"x":1,"x":2}'),
    event('{"x":2}'),
  ];
  expect(read.read(Buffer.from(`{"client_id":"c","event_list":[${list.join(",")}]}`))).toBe(true);
  expect(read.events.slice(0, 5).map(({ sent }) => sent?.properties)).toEqual([
    undefined,
    { x: "\n" },
    { x: [1, "}"] },
    { x: 2 },
    undefined,
  ]);
});

test("an event that stops being plain leaves no trace in those behind it", () => {
  const event = (own: string, more = "") =>
    `{"type":"track","event":"x","time":1790000000000,"properties":${own}${more}}`;
  const list = [
    event('{"a":1,"b":2,"c":3}'),
    event('{"a":1,"b":2,"c":5}', ',"z":{}'),
    event('{"a":1,"b":2,"c":[]}'),
    event('{"a":1,"b":2,"c":5}', ',"z":10'),
    event('{"a":7,"b":8,"c":9}'),
  ];
  const body = Buffer.from(`{"client_id":"u","event_list":[${list.join(",")}]}`);
  expect(read.read(body)).toBe(true);
  const sent = (parseJson(body) as { event_list: JsonObject[] }).event_list;
  for (const [index, { properties }] of sent.entries()) {
    const plain = read.events[index]!;
    if (plain.sent) continue;
    expect(Object.keys(properties as JsonObject).map((key) => read.valueOf(plain, key))).toEqual(
      Object.values(properties as JsonObject),
    );
  }
  expect(read.events.slice(0, 5).map((plain) => plain.sent === undefined)).toEqual([true, false, false, true, true]);
});

test("nothing of a body is held once it is forgotten", () => {
  const name = "x".repeat(100);
  const events = Array.from(
    { length: 1_200 },
    () => `{"type":"track","event":"${name}","time":1790000000000,"properties":{}}`,
  );
  expect(read.read(Buffer.from(`{"client_id":"c","event_list":[${events.join(",")}]}`))).toBe(true);
  read.forget();
  expect(read.events).toHaveLength(1_000);
  expect(read.events.filter((event) => event.name !== "" || event.sent)).toEqual([]);
  expect([read.bytes.length, read.members, read.count]).toEqual([0, {}, 0]);
});

test("keys that somebody makes up are forgotten, and others are still read", () => {
  for (let number = 0; number < 11_000; number += 1) {
    const own = `{"type":"track","event":"a","time":1790000000000,"properties":{"k${number}":${number % 10},"x":true}}`;
    expect(read.read(Buffer.from(`{"client_id":"c","event_list":[${own},${own}]}`))).toBe(true);
    expect(read.events[1]!.sent).toBeUndefined();
    expect(read.events[1]!.shape.keys).toEqual([`k${number}`, "x"]);
  }
});
