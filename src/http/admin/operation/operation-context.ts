import type { Config } from "../../../config.ts";
import type { LiveCall } from "../../../contract/live.ts";
import type { CostPuller } from "../../../cost/puller.ts";
import type { ReportReads } from "../../../db/replica/report-reads.ts";
import type { Log } from "../../../log.ts";
import type { AdminTokens } from "../admin-token.ts";
import type { HealthContext } from "./health.ts";

/** What the routes for operators work with: health, ledger, doctor, postbacks and costs. */
export type OperationContext = HealthContext & {
  config: Pick<Config, "postbackDeadlineMs" | "platformPrivateNetworks">;
  log: Log;
  reads: ReportReads;
  /** The calls of an app that the processes remember, oldest first. */
  recentCalls: (appId: number, bytesMax: number) => Promise<LiveCall[]>;
  costs: CostPuller;
  adminTokens: AdminTokens;
  isStopping: () => boolean;
};
