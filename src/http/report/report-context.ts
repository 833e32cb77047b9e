import type pg from "pg";
import type { Clock } from "../../clock.ts";
import type { DeveloperApp } from "../../db/developer-app.ts";
import type { AppDirectory } from "../../intake/app-directory.ts";
import type { Vault } from "../../vault.ts";

/** What the signed reports work with. */
export type ReportContext = {
  clock: Clock;
  pool: pg.Pool;
  /** Read-only connections, with a timeout. */
  reportPool: () => pg.Pool;
  vault: Vault;
  apps: AppDirectory;
  applyLagMs: () => number;
};

declare module "fastify" {
  interface FastifyRequest {
    /** Whose key a report call names, until it has proved that it is theirs. */
    named: DeveloperApp | undefined;
    /** Who pulls a report. */
    developer: DeveloperApp;
    requestId: string;
  }
  interface FastifyContextConfig {
    /** Answers carry a request_id, refusals too. */
    hasRequestId?: boolean;
  }
}
