import { request } from "node:http";
import { json } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { sharedServer } from "../support/shared-server.ts";
import { BASE, Tables, track } from "./fixture.ts";

const server = sharedServer();
const tables = new Tables(server);

const MIB = 1024 * 1024;
const WIRE_BYTES_MAX = 2 * MIB;
const UNPACKED_BYTES_MAX = 16 * MIB;

/** A valid collect body of exactly this many bytes. */
function bodyOfSize(event: string, bytes: number): string {
  const body = JSON.stringify({ client_id: "a", event_list: [track(event)] });
  return body + " ".repeat(bytes - body.length);
}

const tooLarge = {
  status: 413,
  code: 1413,
  data: {},
  extra: { error: expect.stringMatching(/larger than \d+ bytes/) },
};

describe("on the wire", () => {
  test("a body of 2 MiB is accepted, one byte more is refused", async () => {
    const app = await server.appWith(["a"]);
    expect(await server.post("event/collect/", app, bodyOfSize("fits", WIRE_BYTES_MAX))).toMatchObject({ code: 0 });
    expect(await server.post("event/collect/", app, bodyOfSize("large", WIRE_BYTES_MAX + 1))).toMatchObject(tooLarge);
    expect(await tables.eventNames(app)).toEqual(["fits"]);
  });

  test("a body without a declared length is counted as it arrives", async () => {
    const app = await server.appWith(["a"]);
    const send = async (body: string) => {
      const { promise, resolve, reject } = withResolvers<{ status: number; body: any }>();
      const sent = request(
        `${server.url}${BASE}/event/collect/?access_token=${app.accessToken}`,
        { method: "POST", headers: { "transfer-encoding": "chunked" } },
        async (answer) => resolve({ status: answer.statusCode!, body: await json(answer) }),
      );
      sent.on("error", reject);
      for (let at = 0; at < body.length; at += 256 * 1024) sent.write(body.slice(at, at + 256 * 1024));
      sent.end();
      return promise;
    };
    expect(await send(bodyOfSize("fits", WIRE_BYTES_MAX))).toMatchObject({ status: 200, body: { code: 0 } });
    expect(await send(bodyOfSize("large", WIRE_BYTES_MAX + 1))).toMatchObject({ status: 413, body: { code: 1413 } });
    expect(await tables.eventNames(app)).toEqual(["fits"]);
  });

  test("gzip is measured as sent, so that over 2 MiB of it is refused unread", async () => {
    const app = await server.appWith(["a"]);
    const headers = { "gravity-content-compress": "gzip" };
    const answer = await server.post("event/collect/", app, new Uint8Array(WIRE_BYTES_MAX + 1), { headers });
    expect(answer).toMatchObject(tooLarge);
  });
});

describe.each(["gravity-content-compress", "content-encoding"])("unpacked, by %s", (header) => {
  const headers = { [header]: "gzip" };

  test("a body of 16 MiB is accepted, one byte more is refused", async () => {
    const app = await server.appWith(["a"]);
    const send = (event: string, bytes: number) =>
      server.post("event/collect/", app, gzipSync(bodyOfSize(event, bytes)), { headers });
    expect(await send("fits", UNPACKED_BYTES_MAX)).toMatchObject({ code: 0 });
    expect(await send("large", UNPACKED_BYTES_MAX + 1)).toMatchObject(tooLarge);
    expect(await tables.eventNames(app)).toEqual(["fits"]);
  });

  test("a bomb is refused while it is unpacked, and does not fill the memory", async () => {
    const app = await server.appWith(["a"]);
    // A gzip file may hold several members in a row: 1 GiB in about 1 MiB.
    const bomb = Buffer.concat(Array<Buffer>(64).fill(gzipSync(Buffer.alloc(16 * MIB))));
    expect(bomb.length).toBeLessThan(WIRE_BYTES_MAX);
    const before = await residentBytes();
    const answers = await Promise.all([1, 2, 3].map(() => server.post("event/collect/", app, bomb, { headers })));
    for (const answer of answers) expect(answer).toMatchObject(tooLarge);
    expect((await residentBytes()) - before).toBeLessThan(512 * MIB);
  });

  test("a small bomb is refused as well", async () => {
    const app = await server.appWith(["a"]);
    const bomb = gzipSync(gzipSync(Buffer.alloc(64 * MIB)));
    expect(await server.post("event/collect/", app, bomb, { headers })).toMatchObject({ code: 1001 });
    const member = gzipSync(Buffer.alloc(UNPACKED_BYTES_MAX + 1));
    expect(await server.post("event/collect/", app, member, { headers })).toMatchObject(tooLarge);
  });
});

test("the server goes on serving after bodies that it refused", async () => {
  const app = await server.appWith(["a"]);
  await server.post("event/collect/", app, " ".repeat(3 * MIB));
  expect(await server.collect(app, "a", [track("after")])).toMatchObject({ status: 200, code: 0 });
});

async function residentBytes(): Promise<number> {
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  return Number(/^touchpoint_resident_memory_bytes (\S+)$/m.exec(metrics)![1]);
}

function withResolvers<T>() {
  let resolve!: (value: T) => void;
  let reject!: (reason: unknown) => void;
  const promise = new Promise<T>((settle, fail) => {
    resolve = settle;
    reject = fail;
  });
  return { promise, resolve, reject };
}
