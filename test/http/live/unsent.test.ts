import { createServer, get, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, expect, test } from "vitest";
import { Unsent } from "../../../src/http/live/unsent.ts";
import { KIB } from "../../../src/limits.ts";
import { eventually } from "../../support/patience.ts";

const server = createServer();
afterEach(() => server.close());

/** Both ends of one connection. */
async function connected(): Promise<{ sent: ServerResponse; received: IncomingMessage }> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const asked = new Promise<ServerResponse>((resolve) => server.once("request", (_, response) => resolve(response)));
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    const { port } = server.address() as AddressInfo;
    get({ port, host: "127.0.0.1", agent: false }, resolve).on("error", reject);
  });
  const sent = await asked;
  sent.flushHeaders();
  return { sent, received: await answered };
}

const numbered = (number: number, bytes: number) => Buffer.from(`${String(number).padStart(bytes - 1, "0")}\n`);

test("messages of one moment leave together, in order, and a large one is no exception", async () => {
  const { sent, received } = await connected();
  const unsent = new Unsent(sent);
  const messages = [numbered(1, 10), numbered(2, 200 * KIB), numbered(3, 10), numbered(4, 10)];
  for (const message of messages) unsent.add(message);
  expect(sent.writableLength, "nothing is written at once").toBe(0);
  unsent.end();
  expect(await text(received)).toBe(messages.map(String).join(""));
});

test("the connection of a watcher who does not read holds little; the rest waits, and comes when it is read", async () => {
  const { sent, received } = await connected();
  const unsent = new Unsent(sent);
  // More than the buffers of the operating system take.
  const messages = Array.from({ length: 20_000 }, (_, number) => numbered(number, KIB));
  for (const message of messages) unsent.add(message);
  await eventually(() => expect(sent.writableNeedDrain).toBe(true));
  expect(sent.writableLength).toBeLessThan(200 * KIB);
  expect(unsent.bytes).toBeGreaterThan(1024 * KIB);
  const read = text(received);
  await eventually(() => expect(unsent.bytes).toBe(0));
  unsent.end();
  expect(await read).toBe(messages.map(String).join(""));
});

test("the end does not wait for a watcher who does not read", async () => {
  const { sent } = await connected();
  const unsent = new Unsent(sent);
  for (let number = 0; number < 20_000; number += 1) unsent.add(numbered(number, KIB));
  await eventually(() => expect(sent.writableNeedDrain).toBe(true));
  unsent.end();
  unsent.end();
  expect(sent.writableEnded).toBe(true);
  expect(sent.writableLength).toBeLessThan(200 * KIB);
  sent.destroy();
});
