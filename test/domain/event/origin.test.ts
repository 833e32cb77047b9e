import { expect, test } from "vitest";
import { canonicalTexts } from "../../../src/domain/event/fingerprint.ts";
import { originIdOf } from "../../../src/domain/event/origin.ts";

/** From here on, an origin is stored by itself. */
const WORTH_BYTES = 100;

/** An origin that is exactly as long as wanted: `{"$os":"…"`. */
const ofLength = (bytes: number) => ({ $os: "x".repeat(bytes - '{"$os":""'.length) });

const storedTexts = (...given: Parameters<typeof canonicalTexts>) => {
  const { bytes, originUntil, until } = canonicalTexts(...given).stored;
  return [bytes.toString("utf8", 0, originUntil), bytes.toString("utf8", originUntil, until)];
};

test("an origin of a hundred bytes stands before the rest, and both together are the JSON text", () => {
  const [origin, rest] = storedTexts({ level: 3, ...ofLength(WORTH_BYTES), a: { b: [1] } });
  expect(origin).toHaveLength(WORTH_BYTES);
  expect(rest).toBe(',"a":{"b":[1]},"level":3}');
  expect(JSON.parse(origin! + rest)).toEqual({ ...ofLength(WORTH_BYTES), a: { b: [1] }, level: 3 });
});

test("properties with a shorter origin stay together, in the order of the canonical text", () => {
  const { $os } = ofLength(WORTH_BYTES - 1);
  expect(storedTexts({ level: 3, $os, a: 1 })).toEqual(["", `{"a":1,"$os":"${$os}","level":3}`]);
});

test("an origin is measured in bytes", () => {
  const [origin] = storedTexts({ $carrier: "中国移动".repeat(8) });
  expect(Buffer.byteLength(origin!)).toBeGreaterThanOrEqual(WORTH_BYTES);
  expect(origin!.length).toBeLessThan(WORTH_BYTES);
});

test("an event of which nothing is left has a bracket as the rest", () => {
  expect(storedTexts(ofLength(WORTH_BYTES))[1]).toBe("}");
});

test("what the server adds belongs to the origin, in the order of its keys", () => {
  const ua = { key: "$ua", text: `"$ua":"${"u".repeat(WORTH_BYTES)}"` };
  const [origin, rest] = storedTexts({ $os: "ios", $ip: "1.2.3.4", n: 1 }, [ua]);
  expect(origin).toBe(`{"$ip":"1.2.3.4","$os":"ios",${ua.text}`);
  expect(rest).toBe(',"n":1}');
});

test("the canonical text, and with it the fingerprint, does not tell an origin from the rest", () => {
  const { $os } = ofLength(WORTH_BYTES);
  expect(canonicalTexts({ level: 3, $os, a: 1 }).canonical).toBe(`{"a":1,"$os":"${$os}","level":3}`);
});

test("the id of an origin is a whole number that a double holds, and another one for another origin", () => {
  const ids = Array.from({ length: 1_000 }, (_, number) => originIdOf(Buffer.from(`{"$os":"${number}"`)));
  expect(ids.every(Number.isSafeInteger)).toBe(true);
  expect(new Set(ids).size).toBe(1_000);
});
