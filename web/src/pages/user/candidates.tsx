import { useState } from "react";
import type { ExplainedCandidate, ExplainedDecision } from "../../../../src/contract/admin/why.ts";
import { useFormat } from "../../format.ts";
import { usePlatformName } from "../../report/platform-name.ts";
import { useTexts } from "../../texts.ts";
import { Badge, type Tone } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { attributionTexts } from "./attribution-texts.ts";
import { durationText } from "./duration.ts";
import { sourceTexts } from "./source-texts.ts";
import { scaleOf, WindowLane } from "./window-lane.tsx";

/** A click flood can bring hundreds of candidates; the first ones tell the story. */
const SHOWN_FIRST = 20;

/** Candidates that could not count at all look different from those that another one beat. */
const TONES: Partial<Record<ExplainedCandidate["outcome"], Tone>> = {
  won: "good",
  outside_window: "warn",
  too_fast: "warn",
  flagged: "bad",
  after_registration: "warn",
};

/** Every touch considered, its place in its window, and why it won or lost. */
export function Candidates({ decision }: { decision: ExplainedDecision }) {
  const text = useTexts(sourceTexts);
  const { number } = useFormat();
  const [areAllShown, showAll] = useState(false);
  const candidates = winnerFirst(decision.candidates);
  const rows = areAllShown ? candidates : candidates.slice(0, SHOWN_FIRST);
  return (
    <section className="stack tight">
      <h2>{text.candidates}</h2>
      {candidates.length > 0 && <p className="soft small">{text.laneHelp}</p>}
      <CandidateTable decision={decision} rows={rows} />
      {rows.length < candidates.length && (
        <div>
          <Button onClick={() => showAll(true)}>{text.showAll(number(candidates.length))}</Button>
        </div>
      )}
    </section>
  );
}

/** The winner, then the others in the order in which they were weighed: surer matches first. */
function winnerFirst(candidates: readonly ExplainedCandidate[]): ExplainedCandidate[] {
  const [won, lost] = [true, false].map((wanted) => candidates.filter(({ outcome }) => (outcome === "won") === wanted));
  return [...won!, ...lost!];
}

function CandidateTable({ decision, rows }: { decision: ExplainedDecision; rows: ExplainedCandidate[] }) {
  const text = useTexts(sourceTexts);
  const words = useTexts(attributionTexts);
  const platformName = usePlatformName();
  const scale = scaleOf(decision);
  const inWords = (ms: number) => durationText(ms, words.units);
  return (
    <DataTable<ExplainedCandidate>
      label={text.candidates}
      rows={rows}
      keyOf={({ touch_id }) => touch_id}
      empty={
        <Empty title={text.noCandidates}>
          <p>{text.noCandidatesHelp}</p>
        </Empty>
      }
      columns={[
        {
          name: "outcome",
          title: text.outcome,
          cell: ({ outcome }) => <Badge tone={TONES[outcome] ?? "plain"}>{words.outcomes[outcome]}</Badge>,
        },
        {
          name: "touch",
          title: text.touch,
          cell: (one) => (
            <>
              <div className="nowrap">
                {words.kinds[one.kind]} · {platformName(one.platform)}
              </div>
              <div className="soft small nowrap">{one.aid && `${text.ad} ${one.aid}`}</div>
            </>
          ),
        },
        {
          name: "when",
          title: text.when,
          cell: (one) => (
            <>
              <div className="nowrap">{one.touched_at}</div>
              <div className="soft small">{gapText(decision.at_ms - one.touched_at_ms, { text, inWords })}</div>
            </>
          ),
        },
        {
          name: "lane",
          title: <LaneTitle gap={inWords(scale.decidedAtMs - scale.fromMs)} isEmpty={rows.length === 0} />,
          cell: (one) => (
            <WindowLane
              candidate={one}
              scale={scale}
              label={text.laneLabel(inWords(Math.abs(decision.at_ms - one.touched_at_ms)), inWords(one.window_ms))}
            />
          ),
        },
        { name: "matches", title: text.matches, cell: (one) => <span className="soft">{sharedText(one, words)}</span> },
        { name: "why", title: text.why, cell: (one) => <Reason candidate={one} decision={decision} /> },
      ]}
    />
  );
}

/** The two ends of the time scale. */
function LaneTitle({ gap, isEmpty }: { gap: string; isEmpty: boolean }) {
  const text = useTexts(sourceTexts);
  return (
    <>
      {text.lane}
      {!isEmpty && (
        <span className="lane-scale">
          <span>{text.before(gap)}</span>
          <span>{text.registration}</span>
        </span>
      )}
    </>
  );
}

function Reason({ candidate, decision }: { candidate: ExplainedCandidate; decision: ExplainedDecision }) {
  const words = useTexts(attributionTexts);
  const { outcome, flags } = candidate;
  const told = {
    isClick: candidate.kind === "click",
    gap: durationText(Math.abs(decision.at_ms - candidate.touched_at_ms), words.units),
    window: durationText(candidate.window_ms, words.units),
    winner: words.methods[decision.method],
    method: words.methods[candidate.matched_by],
    flags: flags.map((flag) => words.flags[flag]).join(", "),
  };
  return (
    <div className="reason">
      {words.reasons[outcome](told)}
      {flags.length > 0 && outcome !== "flagged" && <div className="soft small">⚑ {told.flags}</div>}
    </div>
  );
}

type GapWords = {
  text: { before: (gap: string) => string; after: (gap: string) => string };
  inWords: (ms: number) => string;
};

function gapText(gapMs: number, { text, inWords }: GapWords): string {
  return gapMs < 0 ? text.after(inWords(-gapMs)) : text.before(inWords(gapMs));
}

/** The matching keys, such as `device_id (oaid, imei)`, as readable text. */
function sharedText({ matches }: ExplainedCandidate, words: (typeof attributionTexts)["en"]): string {
  const names: Readonly<Record<string, string>> = { ...words.methods, ...words.keys };
  return matches.replace(/[a-z_]+/g, (name) => names[name] ?? name);
}
