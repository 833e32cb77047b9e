import { useMemo, useState } from "react";
import { useTexts } from "../../../texts.ts";
import { Chart } from "../../../ui/chart.tsx";
import { Empty } from "../../../ui/empty.tsx";
import { SelectField } from "../../../ui/field.tsx";
import { AnswerHead } from "../answer/answer-head.tsx";
import { useGroupName } from "../answer/group-name.ts";
import { questionTexts } from "../question-texts.ts";
import { type AskedRetention, useFigure } from "./figure.ts";
import { HeatMap } from "./heat-map.tsx";
import { retentionRows } from "./retention-csv.ts";

/** A curve for each group, and a heat map of the chosen one. Every number opens to its users. */
export function Cohorts({ asked }: { asked: AskedRetention }) {
  const text = useTexts(questionTexts);
  const groupName = useGroupName(asked.question.split);
  const { groups } = asked.answer;
  const [chosen, setChosen] = useState("0");
  const group = groups[Number(chosen)] ?? groups[0];
  if (!group || groups[0]?.total.users === 0) {
    return (
      <section className="card">
        <Empty title={text.noUsers}>
          <p>{text.noUsersHelp}</p>
        </Empty>
      </section>
    );
  }
  return (
    <>
      <section className="card stack tight">
        <AnswerHead asked={asked} rows={() => retentionRows(group, text)} file="retention">
          {groups.length > 1 && (
            <SelectField
              label={text.group}
              value={groups.includes(group) ? String(groups.indexOf(group)) : "0"}
              choices={groups.map((one, index) => ({ value: String(index), label: groupName(one) }))}
              onChange={setChosen}
            />
          )}
        </AnswerHead>
        <Curves asked={asked} />
      </section>
      <HeatMap asked={asked} group={group} />
    </>
  );
}

function Curves({ asked }: { asked: AskedRetention }) {
  const text = useTexts(questionTexts);
  const groupName = useGroupName(asked.question.split);
  const { by, periods } = asked.question;
  const figure = useFigure(asked.question);
  const option = useMemo(() => {
    const shown = (value: number | null) => (value === null ? "–" : figure.shown(value));
    return {
      legend: {},
      xAxis: {
        type: "category",
        boundaryGap: false,
        data: Array.from({ length: periods + 1 }, (_, period) => text.period[by](period)),
      },
      yAxis: { type: "value", axisLabel: { formatter: shown } },
      series: asked.answer.groups.map((group) => ({
        type: "line",
        name: groupName(group),
        data: group.total.returned.map((_, period) => figure.over(group, period) ?? null),
        tooltip: { valueFormatter: shown },
      })),
    };
  }, [asked, text, figure.shown]);
  return (
    <>
      <Chart label={figure.kind === "share" ? text.chart : text.valueChart} option={option} height={260} />
      {figure.kind === "value" && <p className="soft small">{text.valueAbout}</p>}
    </>
  );
}
