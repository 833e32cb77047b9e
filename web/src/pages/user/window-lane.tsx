import type { ExplainedCandidate, ExplainedDecision } from "../../../../src/contract/admin/why.ts";

/** One time scale for all candidates of a decision, so that they can be compared. */
export type Scale = { fromMs: number; untilMs: number; decidedAtMs: number };

/** Room at both ends, so that a touch at the very edge is still a whole dot. */
const MARGIN = 3;

export function scaleOf({ at_ms, candidates }: ExplainedDecision): Scale {
  const times = candidates.flatMap(({ touched_at_ms, window_ms }) => [touched_at_ms, at_ms - window_ms]);
  const fromMs = Math.min(at_ms - 1, ...times);
  return { fromMs, untilMs: Math.max(at_ms, ...times), decidedAtMs: at_ms };
}

function positionOf(atMs: number, { fromMs, untilMs }: Scale): number {
  return MARGIN + ((atMs - fromMs) / (untilMs - fromMs)) * (100 - 2 * MARGIN);
}

type WindowLaneProps = { candidate: ExplainedCandidate; scale: Scale; label: string };

/** The window as a bar that ends at the registration, and the touch as a dot: inside the bar it could count. */
export function WindowLane({ candidate, scale, label }: WindowLaneProps) {
  const end = positionOf(scale.decidedAtMs, scale);
  const begin = positionOf(Math.max(scale.fromMs, scale.decidedAtMs - candidate.window_ms), scale);
  const touch = positionOf(candidate.touched_at_ms, scale);
  return (
    <svg className={`window-lane ${candidate.outcome === "won" ? "won" : ""}`} role="img" aria-label={label}>
      <line className="axis" x1="0" x2="100%" y1="12" y2="12" />
      <rect className="window" x={`${begin}%`} y="7" width={`${Math.max(0, end - begin)}%`} height="10" rx="3" />
      <line className="registration" x1={`${end}%`} x2={`${end}%`} y1="3" y2="21" />
      <circle className="touch" cx={`${touch}%`} cy="12" r="5" />
    </svg>
  );
}
