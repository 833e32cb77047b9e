import fc from "fast-check";
import { expect, test } from "vitest";
import type { AppMetadata } from "../../../src/domain/event/metadata.ts";
import { type Judged, judgePlain } from "../../../src/intake/body/judge.ts";
import { LIMITS } from "../../../src/limits.ts";
import { bodyText } from "../../domain/event/plain/body-texts.ts";

const NOW_MS = 1790000000000;

const metadata = (mode: AppMetadata["mode"]): AppMetadata => ({
  mode,
  events: new Map([
    ["switched_off", "disabled"],
    ["level_up", "declared"],
  ]),
  properties: {
    event: new Map([
      ["declared_number", "number"],
      ["declared_text", "string"],
      ["declared_date", "datetime"],
      ["declared_flag", "bool"],
      ["level", "number"],
    ]),
    user: new Map(),
  },
});
const OPEN = metadata("open");
const STRICT = metadata("strict");

/** Such a body is large enough to be read from its bytes. */
const PADDING = `,"padding":"${"x".repeat(2_048)}"}`;

/** The same body, with a name that only JSON.parse can read. */
const toParse = (text: string) => text.replace("{", '{"\\u0061":0,');

const judged = (text: string, app: AppMetadata): Omit<Judged, "plainBytes"> | string => {
  try {
    const { plainBytes: _, ...rest } = judgePlain(Buffer.from(text), { form: "collect", nowMs: NOW_MS, metadata: app });
    return rest;
  } catch (error) {
    return (error as Error).message.replace(/JSON: .*/s, "JSON");
  }
};

test("a body is judged alike from its bytes and as objects", () => {
  let admitted = 0;
  fc.assert(
    fc.property(bodyText, fc.constantFrom(OPEN, STRICT), (text, app) => {
      const padded = text.replace(/\}$/, PADDING);
      const verdict = judged(padded, app);
      expect(verdict).toEqual(judged(toParse(padded), app));
      if (typeof verdict !== "string") admitted += 1;
    }),
    { numRuns: 2_000 },
  );
  expect(admitted).toBeGreaterThan(500);
});

test("how deep a body with unstorable text may be nested counts from its beginning", () => {
  const event = (own: string) => `{"type":"track","event":"level_up","time":${NOW_MS},"properties":${own}}`;
  const list = [event('{"zone":"\\u0000"}'), event(`{"deep":${"[".repeat(100)}${"]".repeat(100)}}`)];
  const body = `{"client_id":"c","event_list":[${list.join(",")}],"padding":"${"x".repeat(2_048)}"}`;
  expect(judged(body, OPEN)).toMatch(/nested deeper/);
  expect(judged(body, OPEN)).toEqual(judged(toParse(body), OPEN));
});

test("each misfit of a plain property gets its error", () => {
  const long = "x".repeat(LIMITS.propertyTextBytes + 1);
  const own = {
    declared_number: '"7"',
    declared_text: "7",
    declared_date: '"soon"',
    declared_flag: "1",
    level: "true",
    $nothing: "1",
    long: `"${long}"`,
  };
  const members = Object.entries(own).map(([key, value]) => `"${key}":${value}`);
  const event = `{"type":"track","event":"level_up","time":${NOW_MS},"properties":{${members.join(",")}}}`;
  const body = `{"client_id":"c","event_list":[${event}]}`;
  const verdict = judged(body, OPEN) as Judged;
  expect(verdict.errors.map(({ message }) => message.split(" ", 1)[0])).toEqual(
    Object.keys(own).map((key) => `"${key}"`),
  );
  expect(verdict).toEqual(judged(toParse(body), OPEN));
});
