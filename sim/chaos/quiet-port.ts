import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "../market/random.ts";

const PORTS = { from: 20_000, until: 32_000 };

/**
 * A port that the system never assigns by itself: otherwise another connection could take the port while the server is down.
 */
export async function quietPort(random: Random): Promise<number> {
  for (let tries = 0; tries < 100; tries += 1) {
    const port = random.whole(PORTS.from, PORTS.until - 1);
    const isFree = await new Promise<boolean>((resolve) => {
      const server = createServer();
      server.once("error", () => resolve(false));
      server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
    });
    if (isFree) return port;
    await sleep(10);
  }
  throw new Error(`No port from ${PORTS.from} to ${PORTS.until} is free.`);
}
