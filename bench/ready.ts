import { elapsedMs } from "../src/clock.ts";
import { type Setup, startBareServer, startServer } from "./children.ts";
import { withDatabase } from "./database.ts";
import { type Measured, median } from "./figures.ts";

const ROUNDS = 3;

/** The time from the start of the process to the first request that it would accept, on existing data. */
export async function measureReady({ dataDir, folder, env }: Setup): Promise<Measured> {
  const [ours, bare]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    const server = await startServer(env);
    await server.stop();
    ours.push(server.readyMs);
    bare.push(await bareReadyMs({ dataDir, folder }));
  }
  const figure = {
    name: "ready",
    what: "ready after start",
    unit: "ms",
    ours: median(ours),
    bare: median(bare),
    beside: "PostgreSQL and a bare server, one after the other",
    target: "< 1000",
  };
  return { figures: [figure], costs: [] };
}

function bareReadyMs({ dataDir, folder }: Pick<Setup, "dataDir" | "folder">): Promise<number> {
  const startedMs = elapsedMs();
  return withDatabase(dataDir, async () => {
    const bare = await startBareServer(folder);
    const tookMs = elapsedMs() - startedMs;
    await bare.stop();
    return tookMs;
  });
}
