import { request } from "node:http";
import { json } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { beforeAll, describe, expect, test } from "vitest";
import type { App } from "../../src/db/app.ts";
import { sharedServer } from "../support/shared-server.ts";
import { BASE, Tables, track } from "./fixture.ts";

const server = sharedServer();
const tables = new Tables(server);

const MIB = 1024 * 1024;
const WIRE_BYTES_MAX = 2 * MIB;
const UNPACKED_BYTES_MAX = 16 * MIB;

/** One app for all tests; each that stores something has its own client. */
let app: App;
beforeAll(async () => {
  app = await server.appWith(["declared", "chunked", "gravity-content-compress", "content-encoding"]);
});

/** A valid collect body of exactly this many bytes. */
function bodyOfSize(clientId: string, event: string, bytes: number): string {
  const body = JSON.stringify({ client_id: clientId, event_list: [track(event)] });
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
    const send = (event: string, bytes: number) =>
      server.post("event/collect/", app, bodyOfSize("declared", event, bytes));
    expect(await send("fits", WIRE_BYTES_MAX)).toMatchObject({ code: 0 });
    expect(await send("large", WIRE_BYTES_MAX + 1)).toMatchObject(tooLarge);
    expect(await tables.eventNames(app, "declared")).toEqual(["fits"]);
  });

  test("a body without a declared length is counted as it arrives", async () => {
    const send = async (event: string, bytes: number) => {
      const body = bodyOfSize("chunked", event, bytes);
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
    expect(await send("fits", WIRE_BYTES_MAX)).toMatchObject({ status: 200, body: { code: 0 } });
    expect(await send("large", WIRE_BYTES_MAX + 1)).toMatchObject({ status: 413, body: { code: 1413 } });
    expect(await tables.eventNames(app, "chunked")).toEqual(["fits"]);
  });

  test("gzip is measured as sent, so that over 2 MiB of it is refused unread", async () => {
    const headers = { "gravity-content-compress": "gzip" };
    const answer = await server.post("event/collect/", app, new Uint8Array(WIRE_BYTES_MAX + 1), { headers });
    expect(answer).toMatchObject(tooLarge);
  });
});

/** Made once: packing takes longer than refusing. */
let bombs: Record<"long" | "nested" | "small", Buffer>;
beforeAll(() => {
  bombs = {
    // A gzip file may hold several members in a row: 1 GiB in about 1 MiB.
    long: Buffer.concat(Array<Buffer>(64).fill(gzipSync(Buffer.alloc(16 * MIB)))),
    nested: gzipSync(gzipSync(Buffer.alloc(64 * MIB))),
    small: gzipSync(Buffer.alloc(UNPACKED_BYTES_MAX + 1)),
  };
});

describe.each(["gravity-content-compress", "content-encoding"])("unpacked, by %s", (header) => {
  const headers = { [header]: "gzip" };
  const post = (body: Uint8Array) => server.post("event/collect/", app, body, { headers });

  test("a body of 16 MiB is accepted, one byte more is refused", async () => {
    const send = (event: string, bytes: number) => post(gzipSync(bodyOfSize(header, event, bytes)));
    expect(await send("fits", UNPACKED_BYTES_MAX)).toMatchObject({ code: 0 });
    expect(await send("large", UNPACKED_BYTES_MAX + 1)).toMatchObject(tooLarge);
    expect(await tables.eventNames(app, header)).toEqual(["fits"]);
  });

  test("a bomb is refused while it is unpacked, and does not fill the memory", async () => {
    expect(bombs.long.length).toBeLessThan(WIRE_BYTES_MAX);
    const before = await residentBytes();
    const answers = await Promise.all([1, 2, 3].map(() => post(bombs.long)));
    for (const answer of answers) expect(answer).toMatchObject(tooLarge);
    expect((await residentBytes()) - before).toBeLessThan(512 * MIB);
  });

  test("a small bomb is refused as well", async () => {
    expect(await post(bombs.nested)).toMatchObject({ code: 1001 });
    expect(await post(bombs.small)).toMatchObject(tooLarge);
  });
});

test("the server goes on serving after bodies that it refused", async () => {
  await server.post("event/collect/", app, " ".repeat(3 * MIB));
  expect(await server.collect(app, "declared", [track("after")])).toMatchObject({ status: 200, code: 0 });
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
