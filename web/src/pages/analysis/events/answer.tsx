import type { UseQueryResult } from "@tanstack/react-query";
import type { Series } from "../../../../../src/contract/analysis/events.ts";
import { useTexts } from "../../../texts.ts";
import { Empty } from "../../../ui/empty.tsx";
import { SelectField } from "../../../ui/field.tsx";
import { AnswerHead } from "../answer/answer-head.tsx";
import type { AskedEvents } from "../answer/answer-query.ts";
import { Settled } from "../answer/settled.tsx";
import { incompleteSeries, letterOf, type UrlState } from "../state.ts";
import { texts } from "../texts.ts";
import { AnswerChart } from "./answer-chart.tsx";
import { answerRows } from "./answer-csv.ts";
import { AnswerTable } from "./answer-table.tsx";
import { useLineNames } from "./line-names.ts";

type AnswerProps = {
  query: UseQueryResult<AskedEvents>;
  chart: string;
  series: readonly Series[];
  onChange: (changes: Partial<UrlState>) => void;
};

/** The answer, or what the question still lacks. A refusal is shown in the question. */
export function Answer({ query, chart, series, onChange }: AnswerProps) {
  const text = useTexts(texts);
  const incomplete = incompleteSeries(series);
  if (incomplete !== undefined) return <p className="notice warn">{text.incomplete(letterOf(incomplete))}</p>;
  return <Settled query={query}>{(asked) => <Shown asked={asked} chart={chart} onChange={onChange} />}</Settled>;
}

function Shown({ asked, chart, onChange }: { asked: AskedEvents } & Pick<AnswerProps, "chart" | "onChange">) {
  const text = useTexts(texts);
  const names = useLineNames(asked.question);
  const { lines } = asked.answer;
  const isEmpty = lines.every(({ total, earlier }) => !total && !earlier?.total);
  const heads = { series: text.line, total: text.total, earlier: text.earlier };
  return (
    <>
      <section className="card stack tight">
        <AnswerHead asked={asked} rows={() => answerRows(asked, names, heads)} file="analysis">
          <SelectField
            label={text.chart}
            value={chart in text.charts ? chart : "line"}
            choices={Object.entries(text.charts).map(([value, label]) => ({ value, label }))}
            onChange={(value) => onChange({ chart: value })}
          />
        </AnswerHead>
        {isEmpty ? (
          <Empty title={text.empty}>
            <p>{text.emptyHelp}</p>
          </Empty>
        ) : (
          chart !== "none" && <AnswerChart asked={asked} type={chart} names={names} />
        )}
      </section>
      {!isEmpty && <AnswerTable asked={asked} names={names} />}
    </>
  );
}
