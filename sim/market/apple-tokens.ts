import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A stand-in for Apple's AdServices: the market writes into each token what Apple would know about the download. */
export async function startAppleTokens(): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer(async (request, response) => {
    let token = "";
    for await (const chunk of request) token += String(chunk);
    response.setHeader("content-type", "application/json");
    response.end(Buffer.from(token, "base64url"));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
