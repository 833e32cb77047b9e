import type pg from "pg";
import type { Clock } from "../../../clock.ts";
import type { Config } from "../../../config.ts";
import type { ReportReads } from "../../../db/replica/report-reads.ts";
import type { AppDirectory } from "../../../intake/app-directory.ts";
import type { Vault } from "../../../vault.ts";

/** What the settings' routes work with. */
export type SettingContext = {
  config: Pick<Config, "platformPrivateNetworks" | "callbackPrivateNetworks">;
  clock: Clock;
  pool: pg.Pool;
  /** Used by dry runs of a rule. */
  reads: ReportReads;
  vault: Vault;
  apps: AppDirectory;
};
