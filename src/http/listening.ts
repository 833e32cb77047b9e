import type { FastifyInstance } from "fastify";
import type { Config } from "../config.ts";

/** Less than the time of the stage in which the server stops; see serve.ts. */
const LAST_REQUESTS_MS = 3_000;

/** Starts listening and returns the address. Without the http role: on this machine only, on any free port. */
export async function listen(
  server: FastifyInstance,
  { roles, port, host }: Pick<Config, "roles" | "port" | "host">,
): Promise<string> {
  const isOpen = roles.has("http");
  const address = await server.listen({ port: isOpen ? port : 0, host: isOpen ? host : "127.0.0.1" });
  return address.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
}

/** Stops the server. Requests in progress are answered, but cut off after `LAST_REQUESTS_MS`. */
export async function close(server: FastifyInstance): Promise<void> {
  const timer = setTimeout(() => server.server.closeAllConnections(), LAST_REQUESTS_MS);
  await server.close();
  clearTimeout(timer);
}
