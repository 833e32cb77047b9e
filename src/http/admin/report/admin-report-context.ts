import type { Intake } from "../../../intake/intake.ts";
import type { KnownClients } from "../../../intake/known-clients.ts";
import type { Progress } from "../../../intake/progress.ts";
import type { Live } from "../../live/live.ts";
import type { ReportContext } from "../../report/report-context.ts";

/** What the console's routes for reports and users work with. */
export type AdminReportContext = ReportContext & EraseContext;

/** What erasing a user works with: everything that remembers users. */
export type EraseContext = Pick<ReportContext, "clock"> & {
  known: KnownClients;
  intake: Intake;
  live: Live;
  progress: Progress;
  /** Whether this process fills the tables, so that waiting for them makes sense. */
  applies: boolean;
};
