import fc from "fast-check";
import { expect, test } from "vitest";
import { parseRawJson, type RawJson } from "../../../src/domain/access/raw-json.ts";
import { isReportSigned as isSignedInTurns, signReport } from "../../../src/domain/access/report-sign.ts";
import { BODY, KEY, SIGN } from "../../report/sign-vector.ts";

const isReportSigned = (body: string, sign: string, appKey: string) =>
  isSignedInTurns({ body, sign, appKey }, async () => {});

test("the published example signs to the published digest", async () => {
  expect(signReport(JSON.stringify(BODY), KEY)).toBe(SIGN);
  expect(await isReportSigned(JSON.stringify({ ...BODY, sign: SIGN }), SIGN, KEY)).toBe(true);
});

test("the order of fields, whitespace and the sign itself are not part of what is signed", async () => {
  const reversed = Object.fromEntries(Object.entries({ ...BODY, sign: "x" }).reverse());
  expect(await isReportSigned(JSON.stringify(reversed, null, 2), SIGN, KEY)).toBe(true);
  expect(await isReportSigned(JSON.stringify(BODY), SIGN.toUpperCase(), KEY)).toBe(true);
});

test.each([
  ["another key", JSON.stringify(BODY), "other_key", SIGN],
  ["a changed value", JSON.stringify({ ...BODY, app_id: 13467211 }), KEY, SIGN],
  ["a field more", JSON.stringify({ ...BODY, page: 1 }), KEY, SIGN],
  ["a shorter sign", JSON.stringify(BODY), KEY, SIGN.slice(1)],
  ["an empty sign", JSON.stringify(BODY), KEY, ""],
])("%s does not verify", async (_, body, key, sign) => {
  expect(await isReportSigned(body, sign, key)).toBe(false);
});

/** The hashed text, written out by hand as a client in another language would. */
const md5Of = async (text: string) => (await import("node:crypto")).createHash("md5").update(text).digest("hex");

test.each([
  ["nested keys in the order received", '{"f":{"b":1,"a":2}}', "f={b:1,a:2}k"],
  ["nested keys sorted", '{"f":{"b":1,"a":2}}', "f={a:2,b:1}k"],
  ["non-ASCII plain", '{"n":"夏 天"}', "n=夏天k"],
  ["non-ASCII escaped", '{"n":"夏 天"}', "n=\\u590f\\u5929k"],
  ["a character beyond 16 bits escaped", '{"n":"😀"}', "n=\\ud83d\\ude00k"],
  ["angles plain", '{"n":"a<b>&c"}', "n=a<b>&ck"],
  ["angles as Go writes them", '{"n":"a<b>&c"}', "n=a\\u003cb\\u003e\\u0026ck"],
  ["a number as written", '{"n":1.0}', "n=1.0k"],
  ["a number in its shortest form", '{"n":1.0}', "n=1k"],
  ["a number beyond a double", '{"n":12345678901234567890}', "n=12345678901234567890k"],
])("%s is accepted", async (_, body, text) => {
  expect(await isReportSigned(body, await md5Of(text), "k")).toBe(true);
});

function plain(raw: RawJson): unknown {
  switch (raw.kind) {
    case "object":
      return Object.fromEntries(raw.members.map(([key, value]) => [key, plain(value)]));
    case "array":
      return raw.items.map(plain);
    case "string":
      return raw.value;
    case "token":
      return JSON.parse(raw.text);
  }
}

test("the raw form holds what the text says, whatever its whitespace", () => {
  fc.assert(
    fc.property(fc.json(), fc.constantFrom(0, 1, 4), (text, indent) => {
      fc.pre(!text.includes("__proto__"));
      const spaced = JSON.stringify(JSON.parse(text), null, indent);
      expect(plain(parseRawJson(spaced))).toEqual(JSON.parse(text));
    }),
  );
});

test("what a client signs is accepted, for any body", async () => {
  const bodies = fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true });
  await fc.assert(
    fc.asyncProperty(bodies, fc.string(), async (body, key) => {
      const text = JSON.stringify(body);
      expect(await isReportSigned(text, signReport(text, key), key)).toBe(true);
    }),
  );
});

test("fields are sorted by their bytes, whatever their characters", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.string({ unit: fc.constantFrom(..."az é夏\ue000\uffff😀") }), { maxLength: 6 }),
      async (keys) => {
        fc.pre(!keys.includes("sign") && !keys.includes("__proto__"));
        const sorted = keys.map((key) => Buffer.from(`${key}=1`)).sort(Buffer.compare);
        const text = `${sorted.map(String).join("&")}k`.replaceAll(/[" ]/g, "");
        expect(signReport(JSON.stringify(Object.fromEntries(keys.map((key) => [key, 1]))), "k")).toBe(
          await md5Of(text),
        );
      },
    ),
  );
});

test.each([
  ["plain", '{"f":{"a":1,"b":["x",2]}}', 1],
  ["whose own keys are unsorted", '{"g":1,"f":2}', 1],
  ["of unsorted keys", '{"f":{"b":1,"a":2}}', 2],
  ["of long numbers", '{"n":1.0}', 2],
  ["of everything that can be written in two ways", '{"f":{"b":"夏<","a":1.0}}', 16],
])("a body %s is signed in every possible spelling, with a pause around each step", async (_, body, spellings) => {
  let pauses = 0;
  await isSignedInTurns({ body, sign: "", appKey: "k" }, async () => (pauses += 1));
  expect(pauses).toBe(4 + spellings);
});
