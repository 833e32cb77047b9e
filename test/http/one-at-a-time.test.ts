import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { oneAtATime } from "../../src/http/one-at-a-time.ts";
import { LIMITS } from "../../src/limits.ts";

/** Requests begun, in order, to be answered by the test. */
const begun: { url: string; response: ServerResponse }[] = [];
const server = createServer(oneAtATime((request, response) => begun.push({ url: request.url!, response })));
let socket: Socket;

afterEach(async () => {
  socket.destroy();
  await new Promise((resolve) => server.close(resolve));
  begun.length = 0;
});

async function send(paths: readonly string[]): Promise<void> {
  await once(server.listen(0, "127.0.0.1"), "listening");
  socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  socket.on("error", () => {});
  socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`).join(""));
}

const urls = () => begun.map(({ url }) => url);

test("a request begins when the one before it on its connection is answered", async () => {
  await send(["/1", "/2", "/3"]);
  await expect.poll(urls).toEqual(["/1"]);
  begun[0]!.response.end("first");
  await expect.poll(urls).toEqual(["/1", "/2"]);
  begun[1]!.response.end("second");
  await expect.poll(urls).toEqual(["/1", "/2", "/3"]);
  begun[2]!.response.end("third");
  let heard = "";
  socket.on("data", (chunk) => (heard += chunk));
  await expect.poll(() => [...heard.matchAll(/first|second|third/g)].join()).toBe("first,second,third");
});

test("a connection with too many waiting requests is cut off, and none of them begins", async () => {
  await send(Array.from({ length: LIMITS.requestsWaiting + 2 }, (_, index) => `/${index}`));
  socket.resume();
  await once(socket, "close");
  expect(urls()).toEqual(["/0"]);
});
