import type { DistributionAnswer, DistributionCell, DistributionQuestion } from "./distribution.ts";
import type { EventsAnswer, EventsCell, EventsQuestion } from "./events.ts";
import type { FunnelAnswer, FunnelCell, FunnelQuestion } from "./funnel.ts";
import type { PathAnswer, PathCell, PathQuestion } from "./path.ts";
import type { UsersBehind } from "./question.ts";
import type { RetentionAnswer, RetentionCell, RetentionQuestion } from "./retention.ts";
import type { SegmentQuestion } from "./segment.ts";

/** The questions, with the answer that each gets and the cell that names one of its numbers. */
export type Analyses = {
  events: { question: EventsQuestion; answer: EventsAnswer; cell: EventsCell };
  funnel: { question: FunnelQuestion; answer: FunnelAnswer; cell: FunnelCell };
  retention: { question: RetentionQuestion; answer: RetentionAnswer; cell: RetentionCell };
  distribution: { question: DistributionQuestion; answer: DistributionAnswer; cell: DistributionCell };
  path: { question: PathQuestion; answer: PathAnswer; cell: PathCell };
  /** Its answer is the users themselves. */
  segment: { question: SegmentQuestion; answer: UsersBehind; cell: Record<never, never> };
};
export type AnalysisKind = keyof Analyses;
