import { temporaryPlace } from "../../sim/market/place.ts";
import { type Played, simulate } from "../../sim/market/simulation.ts";
import { TouchpointProcess } from "../support/touchpoint.ts";

const TICK_MS = 180 * 60_000;
const SEED = 11;

/** A real server that holds a small market which ends now: people, orders, costs, postbacks and some fraud. */
export type ServedMarket = {
  server: TouchpointProcess;
  appId: number;
  /** Of a developer application that may pull reports of the app. */
  appKey: string;
  truth: Played["truth"];
  stop(): Promise<void>;
};

/**
 * Plays a market on simulated time, then serves it as `npm start` would. The same people each time; the days are the last
 * ones before now. Make one for a whole file of tests, in `beforeAll`.
 */
export async function serveMarket({ days = 15, people = 300 } = {}): Promise<ServedMarket> {
  const place = temporaryPlace();
  const played = await simulate({
    seed: SEED,
    days,
    people,
    tickMs: TICK_MS,
    endMs: Date.now(),
    dataDir: place.dataDir,
    flaggedMayWin: true,
  });
  const appKey = await played.operator.developerKey();
  await played.server.stop();
  played.release();
  const { appleUrl } = played.counterparts;
  const server = await TouchpointProcess.start({ dataDir: place.dataDir, env: { APPLE_ATTRIBUTION_URL: appleUrl } });
  const stop = async () => {
    const code = await server.stop();
    await played.counterparts.close();
    place.remove();
    if (code !== 0) throw new Error(`The server of the market ended with ${code}:\n${server.output}`);
  };
  return { server, appId: played.operator.app.appId, appKey, truth: played.truth, stop };
}
