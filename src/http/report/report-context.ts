import type pg from "pg";
import type { Clock } from "../../clock.ts";
import type { DeveloperApp } from "../../db/developer-app.ts";
import type { ReportReads } from "../../db/replica/report-reads.ts";
import type { AppDirectory } from "../../intake/app-directory.ts";
import type { Vault } from "../../vault.ts";

/** What the signed reports work with. */
export type ReportContext = {
  clock: Clock;
  pool: pg.Pool;
  reads: ReportReads;
  vault: Vault;
  apps: AppDirectory;
  applyLagMs: () => number;
};

declare module "fastify" {
  interface FastifyRequest {
    /** The developer application whose key a report call names, before the call has proved that it holds the key. */
    named: DeveloperApp | undefined;
    /** The developer application that pulls the report. */
    developer: DeveloperApp;
    requestId: string;
  }
  interface FastifyContextConfig {
    /** Answers, including refusals, carry a request_id. */
    hasRequestId?: boolean;
  }
}
