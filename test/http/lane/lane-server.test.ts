import { once } from "node:events";
import type { Socket } from "node:net";
import { afterEach, expect, test } from "vitest";
import { ApiError } from "../../../src/errors.ts";
import type { Door, Exchange } from "../../../src/http/exchange.ts";
import type { Receiver } from "../../../src/http/receive.ts";
import { BYTES_MAX, Client, echo, laneServer, listening, post } from "./echo.ts";

const ends: (() => void)[] = [];

afterEach(() => {
  for (const end of ends.splice(0)) end();
});

async function start(door: Door, options: Parameters<typeof laneServer>[1] = {}) {
  const { server, through } = laneServer(door, options);
  const port = await listening(server);
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const client = () => {
    const one = new Client(port);
    ends.push(() => one.socket.destroy());
    return one;
  };
  return { server, through, client };
}

/** A door that leaves each exchange, and what receives its body, to the test. */
function openDoor() {
  const calls: { exchange: Exchange; bytes: Buffer }[] = [];
  let [isFull, gone] = [false, 0];
  const door: Door = (exchange) => {
    const receiver: Receiver = {
      bytesMax: BYTES_MAX,
      hold: () => (isFull ? new ApiError("overloaded", "full") : undefined),
      done: (bytes) => calls.push({ exchange, bytes }),
      refuse: () => exchange.answer(503, "", exchange.mustClose() ? { connection: "close" } : undefined),
      gone: () => (gone += 1),
    };
    exchange.receive(receiver);
    return true;
  };
  const fill = () => {
    isFull = true;
  };
  return { door, calls, fill, gone: () => gone };
}

const LONG = "y".repeat(1_000_000);

const ok = ({ exchange }: { exchange: Exchange }) => exchange.answer(200, "ok");

const bodiesOf = (client: Client) =>
  client.answers.map((answer) => `${answer.slice(0, 3)} ${(JSON.parse(answer.slice(4)) as { body: string }).body}`);

test("plain requests on one connection are answered without node:http", async () => {
  const { client, through } = await start(echo);
  const caller = client();
  for (const body of ["one", "", "three"]) {
    await caller.send(post(body));
    await expect.poll(() => bodiesOf(caller).at(-1)).toBe(`200 ${body}`);
  }
  await caller.send("GET /echo?a=1 HTTP/1.1\r\nhost: x\r\nConnection: keep-alive\r\n\r\n");
  await expect.poll(() => caller.answers.length).toBe(4);
  expect(caller.heard).toMatch(/\r\nDate: .* GMT\r\nConnection: keep-alive\r\nKeep-Alive: timeout=75\r\n\r\n/);
  expect(through.requests).toBe(0);
});

test("a body may come in pieces", async () => {
  const { client, through } = await start(echo);
  const caller = client();
  const text = "x".repeat(70_000);
  const message = post(text);
  await caller.send(message.slice(0, 60), message.slice(60, 61), message.slice(61, 40_000), message.slice(40_000));
  await expect.poll(() => bodiesOf(caller)).toEqual([`200 ${text}`]);
  expect(through.requests).toBe(0);
});

test.each([
  ["a path that no door takes", "GET /other HTTP/1.1\r\nhost: x\r\n\r\n"],
  ["chunks", "POST /echo HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"],
  ["a body that is too large", post("x".repeat(BYTES_MAX + 1))],
])("%s goes to node:http, and so does what follows on the connection", async (_, message) => {
  const { client, through } = await start(echo);
  const caller = client();
  await caller.send(post("first"));
  await expect.poll(() => caller.answers.length).toBe(1);
  await caller.send(message);
  await expect.poll(() => caller.answers.length).toBe(2);
  expect(through.requests).toBe(1);
});

test("a head in two pieces goes to node:http", async () => {
  const { client, through, server } = await start(echo);
  const sockets: Socket[] = [];
  server.on("connection", (socket) => sockets.push(socket));
  const caller = client();
  const message = post("whole");
  await caller.send(message.slice(0, 20));
  // Otherwise both pieces could arrive as one.
  await expect.poll(() => sockets[0]?.bytesRead).toBe(20);
  await caller.send(message.slice(20));
  await expect.poll(() => bodiesOf(caller)).toEqual(["200 whole"]);
  expect(through.requests).toBe(1);
});

test("requests that come before an answer are answered after it, in order", async () => {
  const { door, calls } = openDoor();
  const { client } = await start(door);
  const caller = client();
  await caller.send(`${post("1")}${post("2")}`, post("3"));
  for (const number of [1, 2, 3]) {
    await expect.poll(() => calls.map(({ bytes }) => String(bytes)).at(-1)).toBe(String(number));
    expect(calls.length).toBe(number);
    ok(calls.at(-1)!);
  }
  await expect.poll(() => caller.answers).toEqual(["200 ok", "200 ok", "200 ok"]);
});

test("large requests that come before an answer are read in order, whatever waits where", async () => {
  const { door, calls } = openDoor();
  const { client, server } = await start(door);
  const sockets: Socket[] = [];
  server.on("connection", (socket) => sockets.push(socket));
  const caller = client();
  const numbers = Array.from({ length: 60_000 }, (_, at) => `${at},`).join("");
  const bodies = ["A", "b".repeat(20_000), numbers];
  const bytes = bodies.map((body) => post(body)).join("");
  caller.socket.write(bytes.slice(0, 60_000));
  await expect.poll(() => calls.length).toBe(1);
  caller.socket.write(bytes.slice(60_000));
  await expect.poll(() => sockets[0]!.readableLength).toBeGreaterThan(0);
  for (const [index, body] of bodies.entries()) {
    await expect.poll(() => calls.length).toBe(index + 1);
    expect(calls[index]!.bytes.toString("latin1") === body).toBe(true);
    ok(calls[index]!);
  }
  await expect.poll(() => caller.answers.length).toBe(3);
});

test("an empty line after a body belongs to no request, and the connection stays on the lane", async () => {
  const { client, through } = await start(echo);
  const caller = client();
  await caller.send(`${post("one")}\r\n`);
  await expect.poll(() => bodiesOf(caller)).toEqual(["200 one"]);
  await caller.send("\r\n", post("two"));
  await expect.poll(() => bodiesOf(caller)).toEqual(["200 one", "200 two"]);
  expect(through).toEqual({ requests: 0, lane: 2 });
});

test("a client that stops sending still gets all of an answer that is on its way", async () => {
  const { door, calls } = openDoor();
  const { client } = await start(door);
  const caller = client();
  caller.socket.pause();
  await caller.send(post("1"));
  await expect.poll(() => calls.length).toBe(1);
  calls[0]!.exchange.answer(200, LONG.repeat(8));
  caller.socket.end();
  await once(caller.socket, "finish");
  caller.socket.resume();
  await caller.closed;
  expect(caller.answers.length).toBe(1);
});

test("a request is answered once", async () => {
  const { door, calls } = openDoor();
  const { client } = await start(door);
  const caller = client();
  await caller.send(post("1"));
  await expect.poll(() => calls.length).toBe(1);
  ok(calls[0]!);
  expect(() => ok(calls[0]!)).toThrow("has been answered");
});

test("a head that comes alone holds no memory", async () => {
  const held: number[] = [];
  const { client } = await start((exchange) => {
    exchange.receive({
      bytesMax: BYTES_MAX,
      hold: (bytes) => void held.push(bytes),
      done: () => exchange.answer(200, "ok"),
      refuse: () => {},
      gone: () => {},
    });
    return true;
  });
  const caller = client();
  await caller.send(post("1").slice(0, -1));
  await expect.poll(() => caller.socket.bytesWritten).toBeGreaterThan(0);
  await caller.send("1", post(""));
  await expect.poll(() => caller.answers.length).toBe(2);
  expect(held).toEqual([1]);
});

test("a client that has said all it wants to say still gets its answer", async () => {
  const { door, calls } = openDoor();
  const { client } = await start(door);
  const caller = client();
  await caller.send(post("1"));
  caller.socket.end();
  await expect.poll(() => calls.length).toBe(1);
  ok(calls[0]!);
  await caller.closed;
  expect(caller.answers).toEqual(["200 ok"]);
});

test("a client that hangs up before the end of its body is forgotten", async () => {
  const { door, calls, gone } = openDoor();
  const { client } = await start(door);
  const caller = client();
  await caller.send(post("never whole").slice(0, -3));
  await expect.poll(() => caller.socket.bytesWritten).toBeGreaterThan(0);
  caller.socket.end();
  await caller.closed;
  await expect.poll(gone).toBe(1);
  expect(calls).toEqual([]);
});

test("an answer to a client that has hung up goes nowhere", async () => {
  const { door, calls } = openDoor();
  const { client, server } = await start(door);
  const caller = client();
  await caller.send(post("1"));
  await expect.poll(() => calls.length).toBe(1);
  caller.socket.destroy();
  await once(caller.socket, "close");
  ok(calls[0]!);
  await expect.poll(() => new Promise((resolve) => server.getConnections((_, count) => resolve(count)))).toBe(0);
});

test("a body that is refused half-way is answered, and the connection closes", async () => {
  const { door, fill } = openDoor();
  const { client } = await start(door);
  const caller = client();
  const message = post("x".repeat(50_000));
  fill();
  await caller.send(message.slice(0, 1_000), message.slice(1_000, 2_000));
  await caller.closed;
  expect(caller.answers).toEqual(["503 "]);
  expect(caller.heard).toContain("connection: close");
});

test("a body that comes too slowly is answered with 408", async () => {
  const { door, gone } = openDoor();
  // Long enough for the head to arrive on a slow machine: before it, a connection is closed without a word.
  const { client } = await start(door, { requestTimeout: 3_000 });
  const caller = client();
  await caller.send(post("never whole").slice(0, -3));
  await caller.closed;
  expect(caller.heard).toMatch(/^HTTP\/1\.1 408 /);
  expect(gone()).toBe(1);
});

test("a connection that never says anything is closed without a word", async () => {
  const { client } = await start(echo, { requestTimeout: 200 });
  const caller = client();
  await caller.closed;
  expect(caller.heard).toBe("");
});

test("a server that closes answers the request in progress, and ends the silent connections", async () => {
  const { door, calls } = openDoor();
  let isStopping = false;
  const { client, server } = await start(door, { isStopping: () => isStopping });
  const [silent, busy] = [client(), client()];
  await once(silent.socket, "connect");
  await busy.send(post("last"));
  await expect.poll(() => calls.length).toBe(1);
  isStopping = true;
  const closed = once(server, "close");
  server.close();
  await silent.closed;
  silent.socket.destroy();
  calls[0]!.exchange.answer(200, "ok", { connection: "close" });
  await busy.closed;
  expect(busy.answers).toEqual(["200 ok"]);
  busy.socket.end();
  await closed;
});

test("who does not read the answers is read no further", async () => {
  let answered = 0;
  const door: Door = (exchange) => {
    exchange.receive({
      bytesMax: BYTES_MAX,
      hold: () => undefined,
      done: () => {
        answered += 1;
        exchange.answer(200, LONG);
      },
      refuse: () => {},
      gone: () => {},
    });
    return true;
  };
  const { client, server } = await start(door);
  const sockets: Socket[] = [];
  server.on("connection", (socket) => sockets.push(socket));
  const caller = client();
  caller.socket.pause();
  // One at a time, so that it stays on the lane.
  for (let sent = 0; !sockets[0]?.isPaused(); sent += 1) {
    caller.socket.write(post("1"));
    await expect.poll(() => answered === sent + 1 || sockets[0]!.isPaused()).toBe(true);
  }
  expect(sockets[0]!.writableLength).toBeLessThan(2 * LONG.length);
  const before = answered;
  caller.socket.resume();
  await expect.poll(() => caller.answers.length).toBe(before);
  caller.socket.write(post("1"));
  await expect.poll(() => caller.answers.length).toBe(before + 1);
});
