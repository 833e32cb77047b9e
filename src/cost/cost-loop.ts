import type { Clock } from "../clock.ts";
import type { Config } from "../config.ts";
import type { Database } from "../db/engine/database.ts";
import { openPool } from "../db/engine/pool.ts";
import { LIMITS } from "../limits.ts";
import type { Log } from "../log.ts";
import type { Loop } from "../loop.ts";
import type { Vault } from "../vault.ts";
import { CostPuller } from "./puller.ts";

export type CostLoopOptions = {
  config: Pick<Config, "roles" | "platformPrivateNetworks">;
  log: Log;
  clock: Clock;
  database: Database;
  vault: Vault;
};

/** Scheduled pulls run only in the cost role; requested pulls run in any process. */
export function startCosts({ config, log, clock, database, vault }: CostLoopOptions): Loop & { puller: CostPuller } {
  const pool = openPool(database.direct, { log, connectionsMax: 2 * LIMITS.costPullsAtOnce + 1, name: "cost" });
  const puller = new CostPuller({ pool, vault, log, clock, mayCallPrivate: config.platformPrivateNetworks });
  const loop = config.roles.has("cost") ? puller.start() : undefined;
  const stop = async () => {
    puller.abort();
    await loop?.stop();
    await puller.stop();
    await pool.end();
  };
  return { puller, stop };
}
