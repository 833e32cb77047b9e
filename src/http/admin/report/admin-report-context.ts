import type { Intake } from "../../../intake/intake.ts";
import type { KnownClients } from "../../../intake/known-clients.ts";
import type { Progress } from "../../../intake/progress.ts";
import type { Live } from "../../live/live.ts";
import type { ReportContext } from "../../report/report-context.ts";
import type { AuditContext } from "../audit.ts";

/** What reports and users work with, for somebody who is signed in. */
export type AdminReportContext = ReportContext & AuditContext & EraseContext;

/** What erasing a user works with: everything that remembers one. */
export type EraseContext = Pick<ReportContext, "pool" | "clock"> & {
  known: KnownClients;
  intake: Intake;
  live: Live;
  progress: Progress;
  /** Whether the tables are filled by this process, so that waiting for them makes sense. */
  applies: boolean;
  durable: () => number;
};
