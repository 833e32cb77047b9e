import { DAY_MS } from "../../src/domain/calendar.ts";
import type { PulledRevenue } from "../../test/report/oracle-market.ts";
import { type Counterparts, startCounterparts } from "./counterparts.ts";
import { Market } from "./market.ts";
import { applied, Operator } from "./operator.ts";
import { type MarketOptions, marketOptions, startOf } from "./options.ts";
import { Player } from "./player.ts";
import { earnedIn, toldDays, wechatRows } from "./publisher.ts";
import { SimulatedServer } from "./simulated-server.ts";
import { Truth } from "./truth.ts";

/** A finished market: the server still runs, at the end of its time. */
export type Played = {
  market: Market;
  truth: Truth;
  server: SimulatedServer;
  operator: Operator;
  counterparts: Counterparts;
  /** What WeChat says that the ads inside the game earned. */
  pulledRevenue: PulledRevenue[];
  /** Switches the counterparts to the real clock. */
  release(): void;
  stop(): Promise<void>;
};

export type SimulationOptions = Partial<MarketOptions> & {
  endMs: number;
  dataDir: string;
  /** Whether touches flagged as fraud may win anyway, so that they show in the reports. */
  flaggedMayWin?: boolean;
  /** Called with the current step and its progress from 0 to 1. */
  onStep?: (what: string, share: number) => void;
};

const CONNECTIONS = 24;
/** The interval, in simulated time, at which all due postbacks are sent. */
const POSTBACKS_EVERY_MS = 24 * 3_600_000;
/** More attempts than a postback has. */
const ROUNDS_MAX = 12;

/** Plays a market from its first day to its last on a server whose clock it sets. */
export async function simulate(given: SimulationOptions): Promise<Played> {
  const { dataDir, flaggedMayWin = false, onStep = () => {}, ...wanted } = given;
  const { endMs } = marketOptions(wanted);
  let nowMs = startOf(marketOptions(wanted));
  let clock = () => nowMs;
  const counterparts = await startCounterparts(() => clock());
  const market = new Market(marketOptions({ ...wanted, callbackUrl: counterparts.callbackUrl }));
  const server = await SimulatedServer.start({ dataDir, env: settingsOf(counterparts), atMs: nowMs });
  const operator = await Operator.begin(server, { name: "Market", timeZone: market.options.timeZone });
  await operator.settle(market.catalogue, { flagged_may_win: flaggedMayWin ? "on" : "off" });
  const { appId } = operator.app;
  const { publisher } = counterparts;
  await operator.storeAccounts([...counterparts.accounts(appId), publisher.account(appId)], nowMs);
  const truth = new Truth();
  const player = new Player({
    url: server.url,
    app: operator.app,
    clock: () => nowMs,
    truth,
    connections: CONNECTIONS,
  });
  let postbacksDueMs = nowMs + POSTBACKS_EVERY_MS;
  for (const { atMs, turns } of market.ticks()) {
    nowMs = atMs;
    if (turns.length === 0 && atMs < postbacksDueMs) continue;
    await server.setClock(atMs);
    await player.play(turns);
    if (atMs < postbacksDueMs) continue;
    postbacksDueMs = atMs + POSTBACKS_EVERY_MS;
    // On a slow machine apply would fall behind by days of the market, and its postbacks would be too late to send.
    await applied(server.url);
    await server.sendPostbacks();
    onStep("days", 1 - (endMs - atMs) / (market.options.days * DAY_MS));
  }
  player.close();
  const pulledRevenue = earnedIn(truth, market.options);
  publisher.earned.push(...wechatRows(publisher.appId, pulledRevenue));
  await finish({ server, operator, market, truth }, (atMs) => {
    nowMs = atMs;
  });
  const release = () => {
    clock = Date.now;
  };
  const stop = async () => {
    await server.stop();
    await counterparts.close();
  };
  return { market, truth, server, operator, counterparts, pulledRevenue, release, stop };
}

type Parts = Pick<Played, "server" | "operator" | "market" | "truth">;

/** Waits until everything is applied, sent and counted. */
async function finish({ server, operator, market, truth }: Parts, setClock: (atMs: number) => void): Promise<void> {
  const { endMs, tickMs } = market.options;
  await operator.importCosts(market.costs());
  const { from, to } = toldDays(market.options);
  await operator.pullRevenue("wechat", { from, to });
  await applied(server.url);
  // The server asks Apple at its own pace, by the real clock. People won by a forged click never belong to Apple.
  const byApple = truth.people.filter(({ source, fraud }) => source?.platform === "asa" && fraud.length === 0);
  await operator.attributed(
    byApple.map(({ clientId }) => clientId),
    "asa",
  );
  await applied(server.url);
  // Postbacks that failed temporarily are due again later.
  let dueAtMs: number | null = endMs;
  for (let rounds = 0; dueAtMs !== null && rounds < ROUNDS_MAX; rounds += 1) {
    const atMs = Math.max(dueAtMs, endMs + rounds * tickMs);
    setClock(atMs);
    await server.setClock(atMs);
    dueAtMs = await server.sendPostbacks();
  }
  await server.refresh();
}

function settingsOf({ appleUrl }: Counterparts): Record<string, string> {
  return {
    PORT: "0",
    HOST: "127.0.0.1",
    LOG_LEVEL: "error",
    DISK_FREE_BYTES_MIN: "0",
    // All people of the market call from this machine, each through a proxy that names their address.
    TRUSTED_PROXIES: "127.0.0.1",
    APPLE_ATTRIBUTION_URL: appleUrl,
    // The stand-ins for the ad platforms are on this machine.
    PLATFORM_PRIVATE_NETWORKS: "allow",
  };
}
