import type { PathAnswer, PathQuestion } from "../../../../../src/contract/analysis/path.ts";
import type { Source } from "../../../../../src/contract/analysis/question.ts";
import { useKnownNames } from "../../../analysis/known-names.ts";
import { useTexts } from "../../../texts.ts";
import { Failure } from "../../../ui/failure.tsx";
import { SelectField } from "../../../ui/field.tsx";
import { useQuestion } from "../answer/answer-query.ts";
import { Settled } from "../answer/settled.tsx";
import { DaysAndUsers } from "../question/days-and-users.tsx";
import { Part } from "../question/part.tsx";
import { SourceFields } from "../question/source-fields.tsx";
import { sourcesOf, type TabProps } from "../sources.ts";
import { completed, usersOf } from "../state.ts";
import { Paths } from "./path-answer.tsx";
import { pathTexts } from "./path-texts.ts";

const LEVELS = ["1", "2", "3", "4", "5", "6", "8", "10"];
const BRANCHES = ["3", "5", "8", "10", "20"];

/** What users do after an event, or what they did before it. */
export function Path({ url, days, onChange }: TabProps) {
  const text = useTexts(pathTexts);
  const known = useKnownNames();
  const start = startOf(url.start);
  const { event = "", filter } = completed(start);
  const question: PathQuestion = {
    date_list: [days.from, days.to],
    event,
    ...(filter && { filter }),
    direction: url.direction === "before" ? "before" : "after",
    gap_minutes: Number(url.gap in text.gaps ? url.gap : "30"),
    levels: Number(LEVELS.includes(url.levels) ? url.levels : "4"),
    top: Number(BRANCHES.includes(url.branches) ? url.branches : "5"),
    ...usersOf(url.segment),
  };
  const query = useQuestion<PathQuestion, PathAnswer>("path", question, event === "" ? "incomplete" : "complete");
  return (
    <>
      <section className="card stack question">
        <Part title={text.start} about={text.startAbout}>
          <SourceFields
            source={start}
            known={known}
            of="one event"
            onChange={(next) => onChange({ start: JSON.stringify([next]) })}
          />
        </Part>
        <div className="row fields">
          <DaysAndUsers days={days} segment={url.segment} onChange={onChange} />
          <ShownFields question={question} onChange={onChange} />
        </div>
        {query.error && <Failure error={query.error} />}
      </section>
      {event === "" ? (
        <p className="notice warn">{text.startMissing}</p>
      ) : (
        <Settled query={query}>{(asked) => <Paths asked={asked} />}</Settled>
      )}
    </>
  );
}

/** Orders, which a link may name, have no paths. */
function startOf(text: string): Source {
  const [start] = sourcesOf(text, [{ source: "event" }]);
  return start?.source === "event" ? start : { source: "event" };
}

function ShownFields({ question, onChange }: Pick<TabProps, "onChange"> & { question: PathQuestion }) {
  const text = useTexts(pathTexts);
  const { direction, gap_minutes: gap, levels, top } = question;
  return (
    <>
      <SelectField
        label={text.direction}
        value={direction}
        choices={Object.entries(text.directions).map(([value, label]) => ({ value, label }))}
        onChange={(next) => onChange({ direction: next })}
      />
      <SelectField
        label={text.levels}
        value={String(levels)}
        choices={LEVELS.map((value) => ({ value, label: value }))}
        onChange={(next) => onChange({ levels: next })}
      />
      <SelectField
        label={text.branches}
        value={String(top)}
        choices={BRANCHES.map((value) => ({ value, label: text.branchesOf(value) }))}
        onChange={(next) => onChange({ branches: next })}
      />
      <SelectField
        label={text.gap}
        value={String(gap)}
        choices={Object.entries(text.gaps).map(([value, label]) => ({ value, label }))}
        onChange={(next) => onChange({ gap: next })}
      />
    </>
  );
}
