import type { ReactNode } from "react";
import type { Source } from "../../../../../src/contract/analysis/question.ts";
import type { RetentionAnswer, RetentionQuestion } from "../../../../../src/contract/analysis/retention.ts";
import { useKnownNames } from "../../../analysis/known-names.ts";
import { useToday } from "../../../report/days.ts";
import { useTexts } from "../../../texts.ts";
import { DateRange } from "../../../ui/date-range.tsx";
import { Failure } from "../../../ui/failure.tsx";
import { SelectField } from "../../../ui/field.tsx";
import { useQuestion } from "../answer/answer-query.ts";
import { Settled } from "../answer/settled.tsx";
import { SplitField } from "../funnel/funnel.tsx";
import { SourceFields } from "../question/source-fields.tsx";
import { questionTexts } from "../question-texts.ts";
import { sourcesOf, type TabProps } from "../sources.ts";
import { completed } from "../state.ts";
import { Cohorts } from "./retention-answer.tsx";

const PERIODS = ["7", "14", "30", "60", "90"];

/** Who comes back: from any event to any event. */
export function Retention({ url, days, onChange }: TabProps) {
  const text = useTexts(questionTexts);
  const known = useKnownNames();
  const [first, back] = sourcesOf(url.from_to, [{ source: "event" }, { source: "event" }]) as [Source, Source];
  const change = (next: readonly Source[]) => onChange({ from_to: JSON.stringify(next) });
  const by = url.periods_by === "week" ? "week" : "day";
  const periods = PERIODS.includes(url.periods) ? url.periods : "7";
  const question: RetentionQuestion = {
    date_list: [days.from, days.to],
    by,
    periods: Number(periods),
    first: completed(first),
    back: completed(back),
    ...(url.users_by !== "" && { split: url.users_by, top: 10 }),
  };
  const query = useQuestion<RetentionQuestion, RetentionAnswer>("retention", question);
  return (
    <>
      <section className="card stack question">
        <Part title={text.first} about={text.firstAbout}>
          <SourceFields source={first} known={known} onChange={(next) => change([next, back])} />
        </Part>
        <Part title={text.back} about={text.backAbout}>
          <SourceFields source={back} known={known} onChange={(next) => change([first, next])} />
        </Part>
        <div className="row fields">
          <DateRange days={days} today={useToday()} onChange={onChange} />
          <SelectField
            label={text.by}
            value={by}
            choices={Object.entries(text.bys).map(([value, label]) => ({ value, label }))}
            onChange={(next) => onChange({ periods_by: next })}
          />
          <SelectField
            label={text.periods}
            value={periods}
            choices={PERIODS.map((value) => ({ value, label: value }))}
            onChange={(next) => onChange({ periods: next })}
          />
          <SplitField url={url} onChange={onChange} />
        </div>
        {query.error && <Failure error={query.error} />}
      </section>
      <Settled query={query}>{(asked) => <Cohorts asked={asked} />}</Settled>
    </>
  );
}

function Part({ title, about, children }: { title: string; about: string; children: ReactNode }) {
  return (
    <section className="stack tight question-part" aria-label={title}>
      <h3>{title}</h3>
      <p className="soft small">{about}</p>
      {children}
    </section>
  );
}
