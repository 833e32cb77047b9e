import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { mustCloseUnread } from "../../src/http/unread.ts";
import { LIMITS, MIB } from "../../src/limits.ts";

/** Refuses every body before it arrives, or, at `/begun`, when its first piece has. */
let server: Server;
/** The number of bodies at an address that were read to their end. */
const ended = new Map<string, number>();

beforeAll(async () => {
  server = createServer((request, response) => {
    const url = request.url!;
    request.once("close", () => {
      if (request.readableEnded) ended.set(url, (ended.get(url) ?? 0) + 1);
    });
    const refuse = () => {
      const mustClose = mustCloseUnread(request);
      response.writeHead(429, mustClose ? { connection: "close" } : {}).end("refused");
    };
    if (url.startsWith("/begun")) request.once("data", refuse);
    else refuse();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
});

afterAll(() => {
  server.close();
  server.closeAllConnections();
});

/** Sends requests in turn over one connection, each with a body of this many bytes, and counts the answers. */
async function answersTo(path: string, bytes: number, requests: number): Promise<number> {
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  let text = "";
  socket.setEncoding("latin1").on("data", (piece) => {
    text += piece;
  });
  for (let request = 0; request < requests; request += 1) {
    socket.write(`POST ${path} HTTP/1.1\r\nhost: x\r\ncontent-length: ${bytes}\r\n\r\n`);
    const isSent = new Promise<void>((resolve) => socket.write(Buffer.alloc(bytes, "x"), () => resolve()));
    await isSent;
  }
  while (text.split("refused").length <= requests) await once(socket, "data");
  socket.destroy();
  return text.split("HTTP/1.1 429 ").length - 1;
}

describe.each(["/", "/begun"])("refused bodies at %s", (path) => {
  test("are read to their end, and the connection goes on", async () => {
    expect(await answersTo(path, 3_000_000, 3)).toBe(3);
    await expect.poll(() => ended.get(path)).toBe(3);
  });

  test("are all read even if there are many at once", async () => {
    const answers = await Promise.all(Array.from({ length: 40 }, () => answersTo(`${path}?many`, MIB, 2)));
    expect(answers).toEqual(answers.map(() => 2));
  });
});

test("a body that is too long to read, or has no declared length, ends the connection", () => {
  const unread = (headers: Record<string, string>) =>
    mustCloseUnread({ complete: false, destroyed: true, headers, pause() {}, on() {}, once() {} } as never);
  expect(unread({ "content-length": String(LIMITS.unreadBytes) })).toBe(false);
  expect(unread({ "content-length": String(LIMITS.unreadBytes + 1) })).toBe(true);
  expect(unread({})).toBe(true);
});
