import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

/** A request as a stand-in gets it: its address with the query decoded, and its body. */
export type Asked = { address: string; body: string };

export type ChangingServer = { url: string; close: () => Promise<void> };

/** A server between us and a stand-in that changes answers, as a platform with other figures would send them. */
export async function startProxy(
  target: string,
  change: (asked: Asked, answer: string) => string,
): Promise<ChangingServer> {
  const server = createServer(async (request, response) => {
    const body = await text(request);
    const headers = { ...request.headers } as Record<string, string>;
    for (const name of ["host", "connection", "content-length", "transfer-encoding"]) delete headers[name];
    const init = { method: request.method!, headers, ...(body === "" ? {} : { body }) };
    const reply = await fetch(target + request.url, init);
    const asked = { address: decodeURIComponent(request.url!.replaceAll("+", " ")), body };
    response.writeHead(reply.status).end(change(asked, await reply.text()));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
