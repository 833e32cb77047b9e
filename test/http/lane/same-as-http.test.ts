import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readHead } from "../../../src/http/lane/request-head.ts";
import { Client, echoInto, laneServer, listening, plainServer, post } from "./echo.ts";

const understood: { lane: string[]; plain: string[] } = { lane: [], plain: [] };
const { server: lane, through } = laneServer(echoInto(understood.lane), { inOrder: (handle) => handle });
const plain = plainServer(echoInto(understood.plain));
let ports: { lane: number; plain: number };

beforeAll(async () => {
  ports = { lane: await listening(lane), plain: await listening(plain) };
});

afterAll(() => {
  for (const server of [lane, plain]) {
    server.closeAllConnections();
    server.close();
  }
});

/** After its answer the server closes, and after what it cannot read it closes as well. */
const LAST = `GET /echo?last HTTP/1.1\r\nhost: x\r\nuser-agent: ${"z".repeat(100)}\r\nconnection: close\r\n\r\n`;

/**
 * The requests that a server understands. Not its answers: which of them are lost when a message cannot be read depends on how
 * the bytes arrive.
 */
async function understoodBy(side: keyof typeof ports, pieces: readonly string[]): Promise<string[]> {
  understood[side].length = 0;
  const client = new Client(ports[side]);
  await client.send(...pieces, LAST);
  await client.closed;
  client.socket.destroy();
  // In plain node:http a request may overtake the one before it on the connection.
  return understood[side].toSorted();
}

/** Mostly ordinary, and now and then anything. */
const often = <T>(ordinary: fc.Arbitrary<T>, odd: fc.Arbitrary<T>) =>
  fc.oneof({ arbitrary: ordinary, weight: 12 }, { arbitrary: odd, weight: 1 });

const method = often(fc.constantFrom("GET", "POST"), fc.constantFrom("PUT", "HEAD", "post", "G T", ""));
const url = often(
  fc.constantFrom("/echo", "/echo/?access_token=a&b=%20", "/echo?x#y", "/other"),
  fc.constantFrom("*", "echo", "/echo ", "/ech\xe9", "http://x/echo", "/echo\t", "//echo"),
);
const version = often(fc.constant("HTTP/1.1"), fc.constantFrom("HTTP/1.0", "HTTP/2.0", "http/1.1", "HTTP/1.1 ", ""));
const header = often(
  fc.constantFrom(
    "User-Agent: some thing/1.0 (x; y)",
    "content-type: application/json",
    "Accept: */*",
    "ORIGIN: http://a.example",
    "X-Forwarded-For: 1.2.3.4, 5.6.7.8",
    "Turbo-Debug-Mode: 1",
    "Connection: keep-alive",
    "X-Other: caf\xe9",
  ),
  fc.constantFrom(
    "User-Agent : x",
    "user-agent:x",
    "User-Agent: x \t",
    "User-Agent:  two",
    "User-Agent:",
    "user-agent: second",
    " folded",
    "\tfolded",
    "no colon",
    ": no name",
    "X-For\xe9: x",
    "X-Nul: a\0b",
    "X-Line: a\nb",
    "X-Return: a\rContent-Length: 3",
    "Connection: Keep-Alive, close",
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Expect: 100-continue",
    "Expect: something",
    "Host: y",
    "Transfer-Encoding: chunked",
    "Transfer-Encoding: identity",
    "Transfer-Encoding:\x0bchunked",
    "TE: trailers",
    "Content-Length: 3",
    "Content-Length: 003",
    "Content-Length: +3",
    "Content-Length: 3, 3",
    "Content-Length: 0x3",
    "Content-Length: 99999999999999999999",
  ),
);
const lineEnd = often(fc.constant("\r\n"), fc.constantFrom("\n", "\r", "\r\n\r\n", ""));
const LONG = Array.from({ length: 6_000 }, (_, at) => `${at},`).join("");
const body = often(
  fc.oneof(fc.constant(""), fc.string({ maxLength: 30 }), fc.constant("2\r\nhi\r\n0\r\n\r\n")),
  fc.constant(LONG),
);
/** The declared length, as more or less than the true one; undefined: none is declared. */
const lengthOff = often<number | undefined>(fc.constant(0), fc.constantFrom(undefined, -1, 1, 20));

const message = fc
  .record({ method, url, version, headers: fc.array(header, { maxLength: 4 }), lineEnd, body, lengthOff })
  .map((made) => {
    const lines = [`${made.method} ${made.url} ${made.version}`, "Host: x", ...made.headers];
    if (made.lengthOff !== undefined && (made.method === "POST" || made.body !== "" || made.lengthOff !== 0)) {
      lines.push(`Content-Length: ${made.body.length + made.lengthOff}`);
    }
    const [first, ...others] = lines;
    return `${first}${made.lineEnd}${others.map((line) => `${line}\r\n`).join("")}\r\n${made.body}`;
  });

const conversation = fc.record({
  messages: fc.array(message, { minLength: 1, maxLength: 3 }),
  cuts: fc.array(fc.oneof(fc.nat(300), fc.nat(60_000)), { maxLength: 2 }),
});

function cut(text: string, cuts: readonly number[]): string[] {
  const places = [0, ...cuts.map((place) => Math.min(place, text.length)).sort((a, b) => a - b), text.length];
  return places
    .slice(1)
    .map((until, index) => text.slice(places[index], until))
    .filter((piece) => piece !== "");
}

test("whatever is sent, in whatever pieces, is understood as node:http understands it", async () => {
  await fc.assert(
    fc.asyncProperty(conversation, async ({ messages, cuts }) => {
      const pieces = cut(messages.join(""), cuts);
      const [ours, theirs] = await Promise.all([understoodBy("lane", pieces), understoodBy("plain", pieces)]);
      expect(ours).toEqual(theirs);
    }),
    { numRuns: 1_500 },
  );
  // Otherwise the lane would not have been tried.
  expect(through.lane).toBeGreaterThan(300);
});

test.each([
  ["an ordinary request", post("body", { headers: "User-Agent: x\r\n" }), true],
  ["no host", "POST /echo HTTP/1.1\r\nContent-Length: 0\r\n\r\n", false],
  ["no length", "POST /echo HTTP/1.1\r\nHost: x\r\n\r\n", false],
  ["a GET with a body", "GET /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx", false],
  ["a second length", post("", { headers: "Content-Length: 0\r\n" }), false],
  ["a second user agent", post("", { headers: "User-Agent: x\r\nuser-agent: y\r\n" }), false],
  ["another encoding of the message", post("", { headers: "Transfer-Encoding: chunked\r\n" }), false],
  ["a line that ends in \\n", post("", { headers: "X-A: b\nX-B: c\r\n" }), false],
  ["a folded line", post("", { headers: "X-A: b\r\n c\r\n" }), false],
  ["a head of more than 8 KiB", post("", { headers: `X-A: ${"b".repeat(8_200)}\r\n` }), false],
  ["HTTP/1.0", "GET /echo HTTP/1.0\r\nHost: x\r\n\r\n", false],
  ["half a head", "POST /echo HTTP/1.1\r\nHost: x\r\n", false],
])("the lane reads only plain heads: %s", (_, text, isPlain) => {
  expect(readHead(Buffer.from(text, "latin1")) !== undefined).toBe(isPlain);
});

test("a plain head is read whole", () => {
  const text = post("body", { path: "/a?b", headers: "User-Agent: x/1 (y)\r\nAccept: */*\r\nORIGIN: http://z\r\n" });
  expect(readHead(Buffer.from(text, "latin1"))).toEqual({
    method: "POST",
    url: "/a?b",
    headers: { host: "x", "user-agent": "x/1 (y)", origin: "http://z" },
    contentLength: 4,
    bytes: text.length - 4,
  });
});
