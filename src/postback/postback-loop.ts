import type { Clock } from "../clock.ts";
import type { Config } from "../config.ts";
import type { Database } from "../db/engine/database.ts";
import { openPool } from "../db/engine/pool.ts";
import { DutyLock } from "../db/lock/duty-lock.ts";
import { LIMITS } from "../limits.ts";
import type { Log } from "../log.ts";
import type { Loop } from "../loop.ts";
import type { Vault } from "../vault.ts";
import { PostbackWorker } from "./worker.ts";

/** Separate connections, so that postbacks waiting for a platform never take one from a request. */
const CONNECTIONS = 4;

type PostbackConfig = Pick<
  Config,
  "postbackRetryMs" | "postbackDeadlineMs" | "platformPrivateNetworks" | "callbackPrivateNetworks"
>;

export type PostbackLoopOptions = {
  config: PostbackConfig;
  log: Log;
  clock: Clock;
  database: Database;
  vault: Vault;
  nodeId: string;
};

/** Sends postbacks as they fall due, while no other process does. */
export function startPostbacks({ config, log, clock, database, vault, nodeId }: PostbackLoopOptions): Loop {
  const pool = openPool(database.server, {
    log,
    connectionsMax: CONNECTIONS,
    name: "postback",
    prefersIndexes: true,
  });
  const duty = new DutyLock({ duty: "send", server: database.direct, nodeId, log });
  const worker = new PostbackWorker({
    pool,
    vault,
    log,
    clock,
    connectionsMax: LIMITS.postbacksInFlight,
    maySend: () => duty.isOurs(),
    backOffMs: config.postbackRetryMs,
    deadlineMs: config.postbackDeadlineMs,
    mayCallPrivate: { platforms: config.platformPrivateNetworks, callbacks: config.callbackPrivateNetworks },
  });
  const sending = worker.start();
  return {
    async stop() {
      await sending.stop();
      await duty.release();
      await pool.end();
    },
  };
}
