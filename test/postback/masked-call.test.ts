import { expect, test } from "vitest";
import { CallMask } from "../../src/postback/masked-call.ts";

const SECRET = 'a b+c/"d=é';
const mask = (shownNames: string[] = []) => new CallMask({ secrets: [SECRET, "", "k"], shownNames });
const get = (url: string, headers: Record<string, string> = {}) => ({ method: "GET" as const, url, headers });

test.each([
  ["a signature in the query", "https://p.example/cb?a=1&sign=0123abcd&b=2", "https://p.example/cb?a=1&sign=…&b=2"],
  ["an encrypted text", "https://p.example/log?appId=1&info=AAAA%2B%3D", "https://p.example/log?appId=1&info=…"],
  ["a short signature", "https://p.example/?sign=1&n=1", "https://p.example/?sign=…&n=1"],
  ["a token", "https://p.example/?access_token=t-123456&x=1", "https://p.example/?access_token=…&x=1"],
  ["a secret in another field", `https://p.example/?q=${encodeURIComponent(SECRET)}`, "https://p.example/?q=…"],
  ["a form-encoded secret", `https://p.example/?${new URLSearchParams({ q: SECRET })}`, "https://p.example/?q=…"],
  [
    "nothing else",
    "https://p.example/?callback=cb&design=x&assign=y",
    "https://p.example/?callback=cb&design=x&assign=y",
  ],
])("%s is masked in an address", (_, url, shown) => {
  expect(mask().request(get(url)).url).toBe(shown);
});

test("what a call says is hidden is masked wherever it stands, in a JSON list too", () => {
  const one = mask();
  const request = { ...get("https://p.example/f00dcafe"), body: '["c-1","x f00dcafe"]', hidden: ["f00dcafe"] };
  expect(one.request(request)).toMatchObject({ url: "https://p.example/…", body: '["c-1","x …"]' });
  expect(one.sentence("bad f00dcafe")).toBe("bad …");
});

test("headers and bodies are masked by name and by value, and an answer that repeats them too", () => {
  const one = mask();
  const body = JSON.stringify({ token: "t-secret", list: [{ sign: "s-igned", note: `x ${SECRET} y` }], ouId: "shown" });
  const headers = { "access-token": "header-token", authorization: "Digest x=1", signature: "f00", nonce: "n-1" };
  const shown = one.request({ method: "POST", url: "https://p.example/", headers, body });
  expect(shown.headers).toEqual({ "access-token": "…", authorization: "…", signature: "…", nonce: "n-1" });
  expect(JSON.parse(shown.body)).toEqual({ token: "…", list: [{ sign: "…", note: "x … y" }], ouId: "shown" });
  const answer = one.answer(
    { status: 400, body: "bad sign s-igned for t-secret, header-token" },
    { "content-type": "text/plain", "set-cookie": ["s=1"], location: "https://p.example/?t=t-secret" },
  );
  expect(answer).toEqual({
    status: 400,
    headers: { "content-type": "text/plain", location: "https://p.example/?t=…" },
    body: "bad sign … for …, …",
    is_cut: false,
  });
});

test("fields that a connector names are masked in queries, headers, forms and JSON", () => {
  const own = () => new CallMask({ secrets: [], shownNames: [], hiddenNames: ["x-proof", "check"] });
  const form = { "Content-Type": "application/x-www-form-urlencoded", "x-proof": "f00" };
  expect(
    own().request({ method: "POST", url: "https://p.example/?check=1&a=2", headers: form, body: "check=0123abcd&a=b" }),
  ).toEqual({
    method: "POST",
    url: "https://p.example/?check=…&a=2",
    headers: { ...form, "x-proof": "…" },
    body: "check=…&a=b",
  });
  const { body } = own().request({
    method: "POST",
    url: "https://p.example/",
    headers: {},
    body: '{"check":"0123abcd"}',
  });
  expect(body).toBe('{"check":"…"}');
});

test("a click's key is shown even if its name looks like a secret", () => {
  const { body } = mask(["clue_token"]).request({
    method: "POST",
    url: "https://p.example/?signature=abcd1234",
    headers: {},
    body: '{"clue_token":"clue-1","token":"t-secret"}',
  });
  expect(body).toBe('{"clue_token":"clue-1","token":"…"}');
});

test("only the beginning of a long answer is shown", () => {
  const { body, is_cut } = mask().answer({ status: 200, body: "é".repeat(20_000) }, {});
  expect([Buffer.byteLength(body), is_cut]).toEqual([16_384, true]);
});
