import { elapsedMs } from "../src/clock.ts";
import { type Setup, startBareServer, startServer } from "./children.ts";
import { withDatabase } from "./database.ts";
import type { Measured } from "./figures.ts";

/** From the start of the process to the first request that it would take; on data that is there already. */
export async function measureReady({ dataDir, folder, env }: Setup): Promise<Measured> {
  const server = await startServer(env);
  await server.stop();
  const startedMs = elapsedMs();
  const bareMs = await withDatabase(dataDir, async () => {
    const bare = await startBareServer(folder);
    const tookMs = elapsedMs() - startedMs;
    await bare.stop();
    return tookMs;
  });
  const figure = {
    ...{ name: "ready", what: "ready after start", unit: "ms", ours: server.readyMs, bare: bareMs },
    ...{ beside: "PostgreSQL and a bare server, one after the other", target: "< 3000" },
  };
  return { figures: [figure], costs: [] };
}
