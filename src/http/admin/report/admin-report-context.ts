import type { Intake } from "../../../intake/intake.ts";
import type { KnownClients } from "../../../intake/known-clients.ts";
import type { Progress } from "../../../intake/progress.ts";
import type { Asker } from "../../../lake/asker.ts";
import type { Live } from "../../live/live.ts";
import type { ReportContext } from "../../report/report-context.ts";

/** What the console's routes for reports and users work with. */
export type AdminReportContext = ReportContext & EraseContext & LakeContext;

/** Where questions about events are put; undefined in a process without a lake. */
export type LakeContext = { lake: Pick<Asker, "ask" | "askAll"> | undefined };

/** What erasing a user works with: everything that remembers users. */
export type EraseContext = Pick<ReportContext, "clock"> & {
  known: KnownClients;
  intake: Intake;
  live: Live;
  progress: Progress;
  /** Whether this process fills the tables, so that waiting for them makes sense. */
  applies: boolean;
};
