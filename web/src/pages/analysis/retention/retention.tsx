import type { Source } from "../../../../../src/contract/analysis/question.ts";
import type { RetentionAnswer, RetentionQuestion } from "../../../../../src/contract/analysis/retention.ts";
import { useKnownNames } from "../../../analysis/known-names.ts";
import type { KnownNames } from "../../../analysis/names.ts";
import { useTexts } from "../../../texts.ts";
import { Failure } from "../../../ui/failure.tsx";
import { SelectField } from "../../../ui/field.tsx";
import { useQuestion } from "../answer/answer-query.ts";
import { Settled } from "../answer/settled.tsx";
import { DaysAndUsers } from "../question/days-and-users.tsx";
import { lacksNumber, measureOf, measureText } from "../question/number-of.ts";
import { NumberSelect } from "../question/number-select.tsx";
import { Part } from "../question/part.tsx";
import { SourceFields } from "../question/source-fields.tsx";
import { SplitField } from "../question/split-field.tsx";
import { questionTexts } from "../question-texts.ts";
import { sourcesOf, type TabProps } from "../sources.ts";
import { completed, usersOf } from "../state.ts";
import { Cohorts } from "./retention-answer.tsx";

const PERIODS = ["7", "14", "30", "60", "90"];
const VALUES = ["count", "sum"] as const;

/** Who comes back, from any event to any event, and what they are worth. */
export function Retention({ url, days, onChange }: TabProps) {
  const text = useTexts(questionTexts);
  const known = useKnownNames();
  const [first, back] = sourcesOf(url.from_to, [{ source: "event" }, { source: "event" }]) as [Source, Source];
  const value = measureOf(url.value, VALUES);
  const change = (next: readonly [Source, Source]) => {
    // A number of orders means nothing for events.
    const kept = value && next[1].source !== back.source ? { measure: value.measure } : value;
    onChange({ from_to: JSON.stringify(next), value: kept ? measureText(kept) : "" });
  };
  const by = url.periods_by === "week" ? "week" : "day";
  const periods = PERIODS.includes(url.periods) ? url.periods : "7";
  const question: RetentionQuestion = {
    date_list: [days.from, days.to],
    by,
    periods: Number(periods),
    first: completed(first),
    back: completed(back),
    ...(value && { value }),
    ...(url.users_by !== "" && { split: url.users_by, top: 10 }),
    ...usersOf(url.segment),
  };
  const lacks = value !== undefined && lacksNumber(value);
  const query = useQuestion<RetentionQuestion, RetentionAnswer>(
    "retention",
    question,
    lacks ? "incomplete" : "complete",
  );
  return (
    <>
      <section className="card stack question">
        <Part title={text.first} about={text.firstAbout}>
          <SourceFields source={first} known={known} onChange={(next) => change([next, back])} />
        </Part>
        <Part title={text.back} about={text.backAbout}>
          <SourceFields source={back} known={known} onChange={(next) => change([first, next])}>
            <ValueFields source={back} value={value} known={known} onChange={onChange} />
          </SourceFields>
        </Part>
        <div className="row fields">
          <DaysAndUsers days={days} segment={url.segment} onChange={onChange} />
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
      {lacks ? (
        <p className="notice warn">{text.chooseNumber}</p>
      ) : (
        <Settled query={query}>{(asked) => <Cohorts asked={asked} />}</Settled>
      )}
    </>
  );
}

type Value = RetentionQuestion["value"];
type ValueFieldsProps = Pick<TabProps, "onChange"> & { source: Source; value: Value; known: KnownNames };

/** Whether users are counted, or what they are worth. */
function ValueFields({ source: { source }, value, known, onChange }: ValueFieldsProps) {
  const text = useTexts(questionTexts);
  return (
    <>
      <SelectField
        label={text.value}
        value={value?.measure ?? "returned"}
        choices={(["returned", ...VALUES] as const).map((name) => ({ value: name, label: text.values[name] }))}
        onChange={(next) => onChange({ value: next === "returned" ? "" : next })}
      />
      {value?.measure === "sum" && (
        <NumberSelect
          source={source}
          number={value}
          known={known}
          onChange={(number) => onChange({ value: measureText({ measure: value.measure, ...number }) })}
        />
      )}
    </>
  );
}
