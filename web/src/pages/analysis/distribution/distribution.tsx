import type { DistributionAnswer, DistributionQuestion } from "../../../../../src/contract/analysis/distribution.ts";
import type { Source } from "../../../../../src/contract/analysis/question.ts";
import { useKnownNames } from "../../../analysis/known-names.ts";
import { useTexts } from "../../../texts.ts";
import { Failure } from "../../../ui/failure.tsx";
import { SelectField } from "../../../ui/field.tsx";
import { SettledField } from "../../../ui/settled-field.tsx";
import { useQuestion } from "../answer/answer-query.ts";
import { Settled } from "../answer/settled.tsx";
import { DaysAndUsers } from "../question/days-and-users.tsx";
import { lacksNumber, measureOf, measureText } from "../question/number-of.ts";
import { NumberSelect } from "../question/number-select.tsx";
import { Part } from "../question/part.tsx";
import { SourceFields } from "../question/source-fields.tsx";
import { questionTexts } from "../question-texts.ts";
import { sourcesOf, type TabProps } from "../sources.ts";
import { completed, usersOf } from "../state.ts";
import { edgesOf } from "./buckets.ts";
import { Histogram } from "./distribution-answer.tsx";
import { distributionTexts } from "./distribution-texts.ts";

type Measured = Pick<DistributionQuestion, "measure" | "property" | "amount">;
const MEASURES = ["times", "days", "sum"] as const;

/** Users by how often, on how many days or for how much they did something. */
export function Distribution({ url, days, onChange }: TabProps) {
  const text = useTexts(distributionTexts);
  const { chooseNumber } = useTexts(questionTexts);
  const [source] = sourcesOf(url.counted, [{ source: "event" }]) as [Source];
  const measured: Measured = measureOf(url.per_user, MEASURES) ?? { measure: "times" };
  const edges = edgesOf(url.edges);
  const question: DistributionQuestion = {
    date_list: [days.from, days.to],
    ...completed(source),
    ...measured,
    ...(edges && edges.length > 0 && { edges }),
    ...usersOf(url.segment),
  };
  const isComplete = !lacksNumber(measured) && edges !== undefined;
  const query = useQuestion<DistributionQuestion, DistributionAnswer>(
    "distribution",
    question,
    isComplete ? "complete" : "incomplete",
  );
  const sentence = query.error?.message ?? "";
  const isOfEdges = /\bedges\b/.test(sentence);
  const problem = edges === undefined ? text.edgesProblem : isOfEdges ? sentence : undefined;
  return (
    <>
      <section className="card stack question">
        <Part title={text.counted} about={text.about}>
          <CountedFields source={source} measured={measured} onChange={onChange} />
        </Part>
        <div className="row fields">
          <DaysAndUsers days={days} segment={url.segment} onChange={onChange} />
          <SettledField
            label={text.edges}
            value={url.edges}
            placeholder={text.edgesChosen}
            inputMode="decimal"
            problem={problem}
            onChange={(typed) => onChange({ edges: typed.trim() })}
          />
        </div>
        {query.error && !isOfEdges && <Failure error={query.error} />}
      </section>
      {lacksNumber(measured) && <p className="notice warn">{chooseNumber}</p>}
      {isComplete && <Settled query={query}>{(asked) => <Histogram asked={asked} />}</Settled>}
    </>
  );
}

type CountedProps = { source: Source; measured: Measured } & Pick<TabProps, "onChange">;

function CountedFields({ source, measured, onChange }: CountedProps) {
  const text = useTexts(distributionTexts);
  const known = useKnownNames();
  const { measure } = measured;
  return (
    <SourceFields
      source={source}
      known={known}
      onChange={(next) => {
        // A number of orders means nothing for events.
        const kept = next.source === source.source ? measured : { measure };
        onChange({ counted: JSON.stringify([next]), per_user: measureText(kept) });
      }}
    >
      <SelectField
        label={text.measure}
        value={measure}
        choices={MEASURES.map((value) => ({ value, label: text.measures[value] }))}
        onChange={(next) => onChange({ per_user: next })}
      />
      {measure === "sum" && (
        <NumberSelect
          source={source.source}
          number={measured}
          known={known}
          onChange={(number) => onChange({ per_user: measureText({ measure, ...number }) })}
        />
      )}
    </SourceFields>
  );
}
