import type pg from "pg";
import type { CostPuller } from "../../../cost/puller.ts";
import type { Log } from "../../../log.ts";
import type { HealthContext } from "./health.ts";

/** What running the server takes: health, ledger, doctor, postbacks and costs. */
export type OperationContext = HealthContext & {
  log: Log;
  /** Read-only connections, with a timeout. */
  reportPool: () => pg.Pool;
  costs: CostPuller;
  isStopping: () => boolean;
};
