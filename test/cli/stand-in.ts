import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

/** Works with a server that answers as a real one does only on a bad day. */
export async function withStandIn<T>(answer: RequestListener, work: (address: string) => Promise<T>): Promise<T> {
  const server = createServer(answer).listen(0, "127.0.0.1");
  await new Promise((done) => server.once("listening", done));
  try {
    return await work(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}
