import type { FunnelAnswer, FunnelQuestion } from "../../../../../src/contract/analysis/funnel.ts";
import type { Source } from "../../../../../src/contract/analysis/question.ts";
import { useKnownNames } from "../../../analysis/known-names.ts";
import { useTexts } from "../../../texts.ts";
import { Button } from "../../../ui/button.tsx";
import { Failure } from "../../../ui/failure.tsx";
import { SelectField } from "../../../ui/field.tsx";
import { useQuestion } from "../answer/answer-query.ts";
import { Settled } from "../answer/settled.tsx";
import { DaysAndUsers } from "../question/days-and-users.tsx";
import { SourceFields } from "../question/source-fields.tsx";
import { SplitField } from "../question/split-field.tsx";
import { questionTexts } from "../question-texts.ts";
import { sourcesOf, type TabProps } from "../sources.ts";
import { completed, usersOf } from "../state.ts";
import { FunnelSteps } from "./funnel-answer.tsx";

const STEPS_MAX = 10;

/** How many users take steps in order. */
export function Funnel({ url, days, onChange }: TabProps) {
  const text = useTexts(questionTexts);
  const steps = sourcesOf(url.steps, [{ source: "event" }, { source: "order" }]);
  const change = (next: readonly Source[]) => onChange({ steps: JSON.stringify(next) });
  const window = url.window in text.windows ? url.window : "10080";
  const question: FunnelQuestion = {
    date_list: [days.from, days.to],
    steps: steps.map(completed),
    window_minutes: Number(window),
    ...(url.users_by !== "" && { split: url.users_by, top: 10 }),
    ...usersOf(url.segment),
  };
  const query = useQuestion<FunnelQuestion, FunnelAnswer>("funnel", question);
  return (
    <>
      <section className="card stack question">
        <StepRows steps={steps} onChange={change} />
        <div className="row fields">
          <DaysAndUsers days={days} segment={url.segment} onChange={onChange} />
          <SelectField
            label={text.window}
            value={window}
            choices={Object.entries(text.windows).map(([value, label]) => ({ value, label }))}
            onChange={(next) => onChange({ window: next })}
          />
          <SplitField url={url} onChange={onChange} />
        </div>
        {query.error && <Failure error={query.error} />}
      </section>
      <Settled query={query}>{(asked) => <FunnelSteps asked={asked} />}</Settled>
    </>
  );
}

function StepRows({ steps, onChange }: { steps: readonly Source[]; onChange: (steps: readonly Source[]) => void }) {
  const text = useTexts(questionTexts);
  const known = useKnownNames();
  return (
    <>
      {steps.map((step, index) => (
        <div key={index} className="series">
          <span className="series-letter">{index + 1}</span>
          <div className="grow stack tight">
            <SourceFields
              source={step}
              known={known}
              onChange={(next) => onChange(steps.map((old, at) => (at === index ? next : old)))}
            />
          </div>
          {steps.length > 2 && (
            <Button
              look="quiet"
              size="small"
              aria-label={text.removeStep(index + 1)}
              onClick={() => onChange(steps.filter((_, at) => at !== index))}
            >
              ×
            </Button>
          )}
        </div>
      ))}
      {steps.length < STEPS_MAX && (
        <div className="row">
          <Button size="small" onClick={() => onChange([...steps, { source: "event" }])}>
            {text.addStep}
          </Button>
        </div>
      )}
    </>
  );
}
