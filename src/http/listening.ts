import type { FastifyInstance } from "fastify";
import type { Config } from "../config.ts";

const LAST_REQUESTS_MS = 10_000;

/** Where the server listens. A process without the http role answers this machine alone, on any free port. */
export async function listen(
  server: FastifyInstance,
  { roles, port, host }: Pick<Config, "roles" | "port" | "host">,
): Promise<string> {
  const isOpen = roles.has("http");
  const address = await server.listen({ port: isOpen ? port : 0, host: isOpen ? host : "127.0.0.1" });
  return address.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
}

/** Requests under way are answered; those that take longer than the last requests may are cut off. */
export async function close(server: FastifyInstance): Promise<void> {
  const timer = setTimeout(() => server.server.closeAllConnections(), LAST_REQUESTS_MS);
  await server.close();
  clearTimeout(timer);
}
