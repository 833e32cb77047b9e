import fc from "fast-check";
import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/domain/json.ts";
import { POSTBACK_EVENT_TYPES } from "../../../src/domain/postback/postback.ts";
import { ApiError } from "../../../src/errors.ts";
import { LIMITS } from "../../../src/limits.ts";
import { readDeclaredPlatform } from "../../../src/platform/connectors.ts";
import { readDeclaration } from "../../../src/platform/declared/declaration.ts";
import { exampleCalls } from "../../../src/platform/declared/example.ts";
import { PLACEHOLDERS } from "../../../src/platform/declared/placeholder.ts";
import { NOW_MS } from "../sample.ts";
import { workedExample } from "./worked-examples.ts";

const GOOD = {
  url: "https://platform.example/conv",
  query: { click: "{click_id}", type: "{code}" },
  success: { kind: "status" },
  codes: { activate: "1", pay: "3" },
} satisfies JsonObject;

const read = (given: JsonObject, mayCallPrivate = false) => readDeclaration(given, { mayCallPrivate });
const changed = (change: Record<string, unknown>) => read(JSON.parse(JSON.stringify({ ...GOOD, ...change })));

test.each<[string, Record<string, unknown>, RegExp]>([
  ["no address", { url: undefined }, /^url is missing/],
  ["something that is no address", { url: "platform.example" }, /^url must be an address that begins with http/],
  ["another scheme", { url: "ftp://platform.example/" }, /^url must be an address that begins with http/],
  ["a private address", { url: "http://10.0.0.1/conv" }, /^url: 10\.0\.0\.1 is an address of a private network; /],
  ["this machine", { url: "http://localhost:5432/" }, /^url: localhost is an address of a private network; /],
  ["a host that depends on data", { url: "https://{click_id}.example/" }, /^url is fixed, or \{callback\} alone/],
  ["a password in the address", { url: "https://u:p@platform.example/" }, /^url must not hold a name or a password/],
  ["a callback without hosts", { url: "{callback}" }, /^callback_hosts is missing/],
  ["hosts with wildcards", { url: "{callback}", callback_hosts: "*.example" }, /"\*\.example" is not a full host name/],
  ["private hosts", { url: "{callback}", callback_hosts: "a.example,127.0.0.1" }, /^callback_hosts: 127\.0\.0\.1 is/],
  ["hosts for nothing", { callback_hosts: "a.example" }, /^callback_hosts belong to/],
  [
    "an unknown placeholder",
    { query: { c: "{clickid}" } },
    /^query\.c: \{clickid\} is not a placeholder here; .*\{click_id\}/,
  ],
  ["half a placeholder", { query: { c: "{click_id" } }, /^query\.c: a single \{ is no placeholder/],
  ["a number outside JSON", { query: { c: "{click_id:number}" } }, /^query\.c: :number makes a whole value of JSON/],
  ["an undeclared field of the account", { headers: { k: "{account.k}" } }, /\{account\.k\} is not a placeholder/],
  ["the body outside the signature", { headers: { k: "{body}" } }, /\{body\} is not a placeholder/],
  ["no rule of success", { success: undefined }, /^success is missing: say how/],
  ["an unknown rule of success", { success: { kind: "always" } }, /^success\.kind must be field, text or status/],
  ["success without a field", { success: { kind: "field", accepted: ["0"] } }, /^success\.field must name/],
  ["success without a value", { success: { kind: "field", field: "code" } }, /^success\.accepted must name/],
  [
    "success that is a refusal too",
    { success: { kind: "field", field: "code", accepted: [0], refused: ["0"] } },
    /"0" cannot be both/,
  ],
  ["an unknown event type", { codes: { buy: "3" } }, /^codes: "buy" is not an event type; these are: activate, /],
  ["no codes", { codes: {} }, /^codes is missing/],
  ["an empty code", { codes: { pay: " " } }, /^codes\.pay must be a code/],
  ["codes that are not told", { query: { c: "{click_id}" } }, /^\{code\} is used nowhere/],
  [
    "nothing about the click",
    { query: { t: "{code}" } },
    /^Nothing ties a conversion to its click: use one of \{click_id\}/,
  ],
  ["repeats that nothing detects", { repeats: "detected" }, /by what\? Send \{id\}/],
  ["a body in a GET", { json: { a: 1 } }, /^form and json belong to the method POST/],
  ["two bodies", { method: "POST", json: {}, form: {} }, /either form or json/],
  ["another method", { method: "PUT" }, /^method must be GET or POST/],
  ["a field that does not exist", { header: {} }, /^A declaration has no field "header"; its fields are url, /],
  ["a secret in the declaration", { headers: { Authorization: "Bearer abc" } }, /a secret belongs to the account/],
  ["a secret in JSON", { method: "POST", json: { a: [{ token: "abc" }] } }, /^json\.a\.token: a secret belongs/],
  ["a secret in the address", { url: "https://p.example/?app_key=abc" }, /^url, app_key: a secret belongs/],
  ["a header of the connection", { headers: { Host: "x" } }, /^headers: Host is set by the server itself/],
  ["a header with a line break", { headers: { a: "b\nc" } }, /^headers\.a holds signs/],
  ["a name that is no header", { headers: { "a b": "c" } }, /is not the name of a header/],
  ["an unknown hash", { sign: { hash: "crc", of: "{body}" } }, /^sign\.hash must be md5 or /],
  ["a signature of no body", { sign: { hash: "md5", of: "{body}" } }, /there is no body to sign/],
  ["an unused signature", { sign: { hash: "md5", of: "{click_id}" } }, /\{sign\} is used nowhere/],
  ["an HMAC without a key", { sign: { hash: "hmac_md5", of: "{click_id}" } }, /^sign\.key must be a text/],
  ["a key without an HMAC", { sign: { hash: "md5", of: "{click_id}", key: "k" } }, /^sign\.key belongs to an HMAC/],
  ["a field with a meaning of its own", { account: { akey: "secret" } }, /^account: akey has a meaning of its own/],
  ["an address as a field", { account: { base_url: "setting" } }, /^account: base_url has a meaning of its own/],
  ["a field of an unknown kind", { account: { key: "hidden" } }, /^account\.key must be setting or secret/],
  ["values that are no texts", { query: { c: {} } }, /^query\.c must be a text/],
  ["too much", { query: { ...GOOD.query, x: "x".repeat(LIMITS.declarationBytes) } }, /must not be longer than/],
])("a declaration with %s is refused in one sentence", (_, change, sentence) => {
  expect(() => changed(change)).toThrow(sentence);
});

test("a private address is accepted where the server allows private networks", () => {
  expect(read({ ...GOOD, url: "http://127.0.0.1:8080/conv" }, true).address.kind).toBe("fixed");
});

test.each(["uc", "qihu360"] as const)(
  "the worked example of %s is accepted, and every event type can be sent",
  (name) => {
    const calls = exampleCalls(read(workedExample(name)), NOW_MS);
    expect(calls.length).toBeGreaterThan(1);
    expect(calls.filter(({ kind }) => kind !== "call")).toEqual([]);
  },
);

test("an event type that could never be sent is found by its example", () => {
  const query = { ...GOOD.query, amount: "{amount_fen}" };
  expect(exampleCalls(read({ ...GOOD, query }), NOW_MS)).toMatchObject([
    { eventType: "activate", kind: "skip", reason: "The conversion has no amount_fen." },
    { eventType: "pay", kind: "call" },
  ]);
});

test("every placeholder has a value in the example of a payment", () => {
  const query = Object.fromEntries(PLACEHOLDERS.map(({ name }) => [name, `{${name}}`]));
  const [call] = exampleCalls(read({ ...GOOD, query, codes: { pay: "3" } }), NOW_MS);
  if (call?.kind !== "call") throw new Error(call?.reason);
  const sent = new URL(call.request.url).searchParams;
  expect(PLACEHOLDERS.filter(({ name }) => !sent.get(name))).toEqual([]);
});

test("whatever is given, a declaration is read or refused", () => {
  const values = fc.oneof(
    fc.jsonValue({ maxDepth: 3 }),
    fc.constantFrom("{callback}", "{code}", "{{", "}", "{a?:number}"),
  );
  const declarations = fc.record(
    {
      url: fc.oneof(fc.constantFrom("https://a.example/", "{callback}"), values),
      callback_hosts: values,
      method: fc.constantFrom("GET", "POST"),
      query: fc.oneof(fc.constant(GOOD.query), fc.dictionary(fc.string(), values)),
      headers: fc.dictionary(fc.string(), values),
      form: values,
      json: values,
      sign: values,
      success: fc.oneof(fc.constant(GOOD.success), values),
      codes: fc.oneof(fc.constant(GOOD.codes), fc.dictionary(fc.constantFrom(...POSTBACK_EVENT_TYPES), fc.string())),
      repeats: values,
      account: fc.dictionary(fc.string(), fc.constantFrom("setting", "secret")),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(declarations, (given) => {
      try {
        for (const call of exampleCalls(changed(given), NOW_MS)) if (call.kind === "call") new URL(call.request.url);
      } catch (error) {
        expect(error).toBeInstanceOf(ApiError);
      }
    }),
  );
});

test("connectors are declared for platforms that have none", () => {
  expect(readDeclaredPlatform("UC")).toBe("uc");
  expect(readDeclaredPlatform("my_network")).toBe("my_network");
  expect(() => readDeclaredPlatform("gdt")).toThrow(/^tencent has a connector of its own/);
  expect(() => readDeclaredPlatform("apple")).toThrow(/^asa accepts no postbacks/);
  for (const name of ["natural", "", "a b", "__proto__"])
    expect(() => readDeclaredPlatform(name)).toThrow(/is not the name of a platform/);
});
