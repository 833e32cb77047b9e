import { expect, test } from "vitest";
import { CALLBACK_MACROS, readCallback } from "../../../src/domain/postback/callback.ts";

const URL_OF_ALL = `https://example.com/a?${CALLBACK_MACROS.map((name) => `${name}=__${name.toUpperCase()}__`).join("&")}`;
const EVENT = { kind: "event", url: "https://example.com/e", events: ["level_up"] };
const read = (given: { kind: string; url: string; events?: string[]; secret?: string }, mayCallPrivate = false) =>
  readCallback(given, { mayCallPrivate });

test("the address of attribution callbacks may hold every macro", () => {
  expect(read({ kind: "attribution", url: URL_OF_ALL })).toEqual({ kind: "attribution", url: URL_OF_ALL, events: [] });
});

test("the event callback names each event once, and may bring its own secret", () => {
  const given = { ...EVENT, events: ["level_up", "$PayEvent", "level_up"], secret: "0123456789abcdef" };
  expect(read(given)).toEqual({ ...given, events: ["level_up", "$PayEvent"] });
});

test.each([
  [{ ...EVENT, kind: "other" }, /^kind must be attribution or event/],
  [{ ...EVENT, url: "example.com/e" }, /^url must be an address/],
  [{ ...EVENT, url: "ftp://example.com/e" }, /^url must be an address/],
  [{ ...EVENT, url: `https://example.com/${"e".repeat(2000)}` }, /^url must not be longer/],
  [{ ...EVENT, url: "https://example.com/__CLIENT_ID__" }, /^url: macros belong to/],
  [{ kind: "attribution", url: "https://example.com/__NAME__" }, /^url: __NAME__ is not a macro/],
  [{ kind: "attribution", url: "https://example.com/__client_id__" }, /^url: __client_id__ is not a macro/],
  [{ kind: "attribution", url: "https://example.com/__MID1__" }, /^url: __MID1__ is not a macro/],
  [{ kind: "attribution", url: "https://__CHANNEL__/x" }, /^url: the host must not hold a macro/],
  [{ kind: "attribution", url: "https://example.com/", events: ["a"] }, /^events belong to/],
  [{ kind: "attribution", url: "https://example.com/", secret: "0123456789abcdef" }, /^secret belongs to/],
  [{ ...EVENT, events: [] }, /^events must name at least one/],
  [{ ...EVENT, events: ["level_up", "$RefundEvent"] }, /^events: \$RefundEvent is not an activity/],
  [{ ...EVENT, events: ["level up"] }, /^events: "level up" is not the name/],
  [{ ...EVENT, secret: "short" }, /^secret must be 16 to 200/],
])("refused: %j", (given, sentence) => {
  expect(() => read(given)).toThrow(sentence);
});

test.each([
  "127.0.0.1",
  "127.1",
  "0x7f000001",
  "10.1.2.3",
  "192.168.0.1",
  "169.254.169.254",
  "[::1]",
  "[::ffff:10.0.0.1]",
  "[fd00::1]",
  "localhost",
  "api.localhost",
])("%s is refused unless private networks are allowed", (host) => {
  const given = { ...EVENT, url: `http://${host}:8080/e` };
  expect(() => read(given)).toThrow(/private network/);
  expect(read(given, true).url).toBe(given.url);
});
