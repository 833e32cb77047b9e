import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { isPublicAddress } from "../../src/domain/network.ts";
import { Sender } from "../../src/outbound/sender.ts";
import { PATIENCE_MS } from "../support/patience.ts";

let inside: Server;
let port: number;
let calls = 0;
beforeAll(async () => {
  inside = createServer((request, response) => {
    calls += 1;
    if (request.url === "/away") response.writeHead(302, { location: `http://127.0.0.1:${port}/inside` });
    response.end("inside");
  });
  await new Promise<void>((resolve) => inside.listen(0, "127.0.0.1", resolve));
  port = (inside.address() as AddressInfo).port;
});
afterAll(() => {
  inside.closeAllConnections();
  inside.close();
});

const requestTo = (url: string) => ({ method: "GET" as const, url, headers: {} });

describe("a callback never reaches this machine or its networks, however its address is spelled:", () => {
  test.each([
    ...["127.0.0.1", "127.1", "2130706433", "0x7f000001", "0177.0.0.1", "localhost", "LOCALHOST.", "0.0.0.0", "0"],
    ...[
      "[::1]",
      "[::ffff:127.0.0.1]",
      "[::ffff:7f00:1]",
      "[0:0:0:0:0:ffff:7f00:1]",
      "[::]",
      "１２７.0.0.1",
      "127。0。0。1",
    ],
  ])("%s", async (host) => {
    const sender = new Sender({ deadlineMs: PATIENCE_MS, connectionsMax: 2, mayCall: isPublicAddress });
    const before = calls;
    const sent = await sender.send(requestTo(`http://${host}:${port}/`), "kept");
    expect(sent).toMatchObject({
      kind: "not_sent",
      reason: expect.stringMatching(/private network|connection failed/),
    });
    expect(calls).toBe(before);
    sender.close();
  });

  test("nor through a redirect", async () => {
    const sender = new Sender({ deadlineMs: PATIENCE_MS, connectionsMax: 2, mayCall: () => true });
    const before = calls;
    const sent = await sender.send(requestTo(`http://127.0.0.1:${port}/away`), "fresh");
    expect(sent).toMatchObject({ kind: "reply", reply: { status: 302 } });
    expect(calls).toBe(before + 1);
    sender.close();
  });
});

test.each([
  ...[
    "10.1.2.3",
    "172.16.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "100.64.0.1",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
  ],
  ...[
    "fd00::1",
    "fe80::1",
    "ff02::1",
    "::ffff:10.0.0.1",
    "64:ff9b::a00:1",
    "2002:a00:1::",
    "",
    "no address",
    "8.8.8.8.8",
  ],
])("%s is not public", (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test.each(["8.8.8.8", "1.1.1.1", "2606:4700::1111", "172.32.0.1", "::ffff:8.8.8.8"])("%s is", (address) => {
  expect(isPublicAddress(address)).toBe(true);
});
