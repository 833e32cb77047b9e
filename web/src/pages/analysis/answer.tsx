import type { UseQueryResult } from "@tanstack/react-query";
import { useLocation } from "wouter";
import type { Series } from "../../../../src/contract/analysis/events.ts";
import { Freshness } from "../../analysis/freshness.tsx";
import { saveCsv } from "../../analysis/save-csv.ts";
import { sqlDraft } from "../../analysis/sql-draft.ts";
import { useApp } from "../../chosen-app.tsx";
import { Refreshing } from "../../report/refreshing.tsx";
import { useTexts } from "../../texts.ts";
import { Button } from "../../ui/button.tsx";
import { CopyBlock } from "../../ui/copy-block.tsx";
import { Empty } from "../../ui/empty.tsx";
import { SelectField } from "../../ui/field.tsx";
import { Progress } from "../../ui/progress.tsx";
import { AnswerChart } from "./answer-chart.tsx";
import { answerRows } from "./answer-csv.ts";
import type { Asked } from "./answer-query.ts";
import { AnswerTable } from "./answer-table.tsx";
import { useLineNames } from "./line-names.ts";
import { incompleteSeries, letterOf, type UrlState } from "./state.ts";
import { texts } from "./texts.ts";

type AnswerProps = {
  query: UseQueryResult<Asked>;
  chart: string;
  series: readonly Series[];
  onChange: (changes: Partial<UrlState>) => void;
};

/** The answer, or what the question still lacks. A refusal is shown in the question. */
export function Answer({ query, chart, series, onChange }: AnswerProps) {
  const text = useTexts(texts);
  const incomplete = incompleteSeries(series);
  if (incomplete !== undefined) return <p className="notice warn">{text.incomplete(letterOf(incomplete))}</p>;
  if (query.isError) return null;
  if (query.data === undefined) return <Progress />;
  return (
    <Refreshing query={query}>
      <Shown asked={query.data} chart={chart} onChange={onChange} />
    </Refreshing>
  );
}

function Shown({ asked, chart, onChange }: { asked: Asked } & Pick<AnswerProps, "chart" | "onChange">) {
  const text = useTexts(texts);
  const { app_id } = useApp();
  const names = useLineNames(asked.question);
  const { lines } = asked.answer;
  const [from, to] = asked.question.date_list;
  const isEmpty = lines.every(({ total, earlier }) => !total && !earlier?.total);
  const download = () =>
    saveCsv(
      answerRows(asked, names, { series: text.line, total: text.total, earlier: text.earlier }),
      `analysis-${app_id}-${from}-${to}.csv`,
    );
  return (
    <>
      <section className="card stack tight">
        <div className="row apart">
          <SelectField
            label={text.chart}
            value={chart in text.charts ? chart : "line"}
            choices={Object.entries(text.charts).map(([value, label]) => ({ value, label }))}
            onChange={(value) => onChange({ chart: value })}
          />
          <div className="row">
            <Freshness received_until={asked.received_until} took_ms={asked.took_ms} />
            <Button onClick={download}>{text.download}</Button>
          </div>
        </div>
        {isEmpty ? (
          <Empty title={text.empty}>
            <p>{text.emptyHelp}</p>
          </Empty>
        ) : (
          chart !== "none" && <AnswerChart asked={asked} type={chart} names={names} />
        )}
      </section>
      {!isEmpty && <AnswerTable asked={asked} names={names} />}
      <AsSql sql={asked.sql} />
    </>
  );
}

function AsSql({ sql }: { sql: string }) {
  const text = useTexts(texts);
  const { app_id } = useApp();
  const [, navigate] = useLocation();
  const open = () => {
    sqlDraft.write(sql);
    navigate(`/sql?app=${app_id}`);
  };
  return (
    <details className="card">
      <summary>{text.asSql}</summary>
      <div className="stack tight as-sql">
        <CopyBlock value={sql} />
        <div className="row">
          <Button onClick={open}>{text.openSql}</Button>
        </div>
      </div>
    </details>
  );
}
