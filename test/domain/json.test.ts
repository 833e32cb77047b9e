import fc from "fast-check";
import { expect, test } from "vitest";
import {
  assertShallow,
  deeperThan,
  type JsonValue,
  parseJson,
  parseJsonWithIds,
  storableText,
} from "../../src/domain/json.ts";
import { LIMITS } from "../../src/limits.ts";

const bytes = (text: string) => Buffer.from(text);

test.each<[string, JsonValue]>([
  ['{"id":12345678901234567890}', { id: "12345678901234567890" }],
  ['{"id":-9007199254740993}', { id: "-9007199254740993" }],
  ['{"ids":[9007199254740993, 1,\n90071992547409931]}', { ids: ["9007199254740993", 1, "90071992547409931"] }],
  ['{"a":{"b":{"id" : 99999999999999999999}}}', { a: { b: { id: "99999999999999999999" } } }],
  ['{"at":1700000000000,"n":9007199254740991}', { at: 1_700_000_000_000, n: Number.MAX_SAFE_INTEGER }],
  ['{"text":"id:12345678901234567890"}', { text: "id:12345678901234567890" }],
  ['{"text":"\\",12345678901234567890"}', { text: '",12345678901234567890' }],
  [
    '{"text":": 12345678901234567890","id":12345678901234567890}',
    { text: ": 12345678901234567890", id: "12345678901234567890" },
  ],
  ['{"12345678901234567890":1}', { "12345678901234567890": 1 }],
  ['{"f":12345678901234567890.5}', { f: Number("12345678901234567890.5") }],
  ['{"f":0.12345678901234567890}', { f: Number("0.12345678901234567890") }],
  ['{"f":12345678901234567890e2}', { f: Number("12345678901234567890e2") }],
  ['{"f":1E12345678901234567890}', { f: Number.POSITIVE_INFINITY }],
])("of %s, only whole numbers too long for a double become texts", (text, expected) => {
  expect(parseJsonWithIds(bytes(text))).toEqual(expected);
});

test("numbers outside id fields stay numbers", () => {
  expect(parseJson(bytes('{"n":12345678901234567890}'))).toEqual({ n: Number("12345678901234567890") });
});

test.each([
  "",
  "{",
  "{'a':1}",
  '{"a":1,}',
  '{"a":NaN}',
  '{"a":00000000000000000012}',
  "{ 12345678901234567890 : 1}",
  '{"a":12345678901234567890 1}',
  '{"a":"\t"}',
  '{"a":1}x',
])("%j is refused as bad JSON by both parsers", (text) => {
  expect(() => parseJson(bytes(text))).toThrow(expect.objectContaining({ reason: "badJson" }));
  expect(() => parseJsonWithIds(bytes(text))).toThrow(expect.objectContaining({ reason: "badJson" }));
});

test("bytes that are not UTF-8 are refused as bad JSON", () => {
  for (const parse of [parseJson, parseJsonWithIds])
    expect(() => parse(Buffer.from([0x22, 0xc3, 0x28, 0x22]))).toThrow(expect.objectContaining({ reason: "badJson" }));
});

const json = fc.json({ maxDepth: 5, stringUnit: "binary" });

test("both parsers agree with JSON.parse for ordinary numbers and texts", () => {
  fc.assert(
    fc.property(json, (text) => {
      fc.pre(!/(?<![\d.])\d{16,}(?![\d.eE])/.test(text));
      const expected = JSON.parse(text);
      expect(parseJson(bytes(text))).toEqual(replaced(expected));
      expect(parseJsonWithIds(bytes(text))).toEqual(replaced(expected));
    }),
  );
});

test("an id of any length keeps all its digits, at any place", () => {
  const digits = fc.bigInt({ min: 2n ** 53n, max: 10n ** 40n });
  fc.assert(
    fc.property(digits, fc.boolean(), fc.string(), (id, negative, text) => {
      const written = `${negative ? "-" : ""}${id}`;
      const body = `{"t":${JSON.stringify(text)},"id":${written},"l":[${written}],"s":${JSON.stringify(written)}}`;
      expect(parseJsonWithIds(bytes(body))).toEqual({ t: replaced(text), id: written, l: [written], s: written });
    }),
  );
});

test("a text as long as a whole body is parsed", () => {
  const text = `${"x\n".repeat(4 * 1024 * 1024)}"\\`;
  const body = bytes(`{"t":${JSON.stringify(text)},"id":12345678901234567890}`);
  expect(parseJsonWithIds(body)).toEqual({ t: text, id: "12345678901234567890" });
});

test("a text or a key never changes because it looks like a number", () => {
  const look = fc.stringMatching(/^[[{:, "\\-]{0,4}\d{16,24}[\]}:, "\\.e]{0,4}$/);
  fc.assert(
    fc.property(look, look, (key, text) => {
      const value = { [key]: text, long: 1 };
      expect(parseJsonWithIds(bytes(JSON.stringify(value).replace(":1}", ":12345678901234567890}")))).toEqual({
        ...value,
        long: "12345678901234567890",
      });
    }),
  );
});

test.each<[string, JsonValue]>([
  ['"a\\u0000b"', "a\uFFFDb"],
  ['"\\ud800"', "\uFFFD"],
  ['"\\udc00x\\ud83d"', "\uFFFDx\uFFFD"],
  ['"\\ud83d\\ude00"', "😀"],
  ['{"\\u0000":["\\u0000",{"a":"\\uD8FF"}]}', { "\uFFFD": ["\uFFFD", { a: "\uFFFD" }] }],
  ['"\\\\u0000"', "\\u0000"],
])("%s is read with U+FFFD for what PostgreSQL cannot hold", (text, expected) => {
  expect(parseJson(bytes(text))).toEqual(expected);
  expect(parseJsonWithIds(bytes(text))).toEqual(expected);
});

test("no parsed text holds NUL or a lone surrogate", () => {
  const unit = fc.oneof(fc.constantFrom("\\u0000", "\\ud800", "\\uDFFF", "\\ud83d\\ude00", "\\n", "a", "字"));
  fc.assert(
    fc.property(fc.array(unit), fc.array(unit), (key, value) => {
      const text = JSON.stringify(parseJson(bytes(`{"${key.join("")}":["${value.join("")}"]}`)));
      expect(text).not.toMatch(/\\u0000|\\ud[89a-f]/i);
      expect(text.isWellFormed()).toBe(true);
    }),
  );
});

test.each(['{"__proto__":{"admin":true}}', '{"__proto__":{"admin":true},"t":"\\u0000"}'])(
  "a key __proto__ in %s stays data and reaches no prototype",
  (text) => {
    const value = parseJson(bytes(text)) as Record<string, unknown>;
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(value.admin).toBeUndefined();
    expect(({} as Record<string, unknown>).admin).toBeUndefined();
  },
);

test("a body nested a million levels deep is refused or read, but never crashes", () => {
  const deep = (inner: string) => bytes(`{"a":${"[".repeat(1_000_000)}${inner}${"]".repeat(1_000_000)}}`);
  expect(deeperThan(parseJson(deep("1")), LIMITS.nestingDepth)).toBe(true);
  expect(() => parseJson(deep('"\\u0000"'))).toThrow(expect.objectContaining({ reason: "badParameter" }));
});

test("assertShallow accepts 16 levels and names what is deeper", () => {
  const nested = (depth: number): JsonValue =>
    depth === 0 ? 1 : depth % 2 ? [nested(depth - 1)] : { a: nested(depth - 1) };
  expect(() => assertShallow(nested(LIMITS.nestingDepth), "ad_data")).not.toThrow();
  expect(() => assertShallow(nested(LIMITS.nestingDepth + 1), "ad_data")).toThrow(/^ad_data is nested deeper than 16/);
});

function replaced(value: any): any {
  if (typeof value === "string") return storableText(value);
  if (Array.isArray(value)) return value.map(replaced);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [storableText(key), replaced(item)]));
}
