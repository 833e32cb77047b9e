import { type CSSProperties, useMemo, useState } from "react";
import type {
  RetentionAnswer,
  RetentionCell,
  RetentionGroup,
  RetentionQuestion,
} from "../../../../../src/contract/analysis/retention.ts";
import type { CsvRow } from "../../../analysis/csv-text.ts";
import { addDays, useFormat } from "../../../format.ts";
import { useToday } from "../../../report/days.ts";
import { useTexts } from "../../../texts.ts";
import { Chart } from "../../../ui/chart.tsx";
import { Empty } from "../../../ui/empty.tsx";
import { SelectField } from "../../../ui/field.tsx";
import { AnswerHead } from "../answer/answer-head.tsx";
import type { Asked } from "../answer/answer-query.ts";
import { type Opened, UsersDialog } from "../answer/users-dialog.tsx";
import { useGroupName } from "../funnel/funnel-answer.tsx";
import { questionTexts } from "../question-texts.ts";
import { type IsBegun, shareOver } from "./retention-share.ts";
import "../../overview/overview.css";

type AskedRetention = Asked<RetentionQuestion, RetentionAnswer>;
type Cohort = Pick<RetentionGroup["total"], "users" | "returned"> & { cohort?: string };

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
  const heads = { cohort: text.cohort, users: text.users };
  return (
    <>
      <section className="card stack tight">
        <AnswerHead asked={asked} rows={() => csvRows(group, heads)} file="retention">
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
  const { percent } = useFormat();
  const { by, periods } = asked.question;
  const isBegun = useIsBegun(by);
  const option = useMemo(() => {
    const shown = (value: number | null) => (value === null ? "–" : percent(value));
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
        data: group.total.returned.map((_, period) => shareOver(group, period, isBegun) ?? null),
        tooltip: { valueFormatter: shown },
      })),
    };
  }, [asked, text, percent]);
  return <Chart label={text.chart} option={option} height={260} />;
}

function HeatMap({ asked, group }: { asked: AskedRetention; group: RetentionGroup }) {
  const text = useTexts(questionTexts);
  const groupName = useGroupName(asked.question.split);
  const [opened, setOpened] = useState<Opened>();
  const { by, periods } = asked.question;
  const numbers = Array.from({ length: periods + 1 }, (_, period) => period);
  const isBegun = useIsBegun(by);
  const { kind } = group;
  const open = (cell: Pick<RetentionCell, "cohort" | "period">, title: string) => {
    const named: RetentionCell = { ...cell, kind, ...(kind === "group" && { group: group.group }) };
    setOpened({ name: "retention", question: asked.question, cell: named, title: `${groupName(group)} · ${title}` });
  };
  return (
    <section className="card stack tight">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled must be reachable by keyboard */}
      <section className="heat-frame" aria-label={text.retention} tabIndex={0}>
        <table className="heat-map">
          <thead>
            <tr>
              <th scope="col">{text.cohort}</th>
              <th scope="col" className="number">
                {text.users}
              </th>
              {numbers.map((period) => (
                <th key={period} scope="col">
                  {text.period[by](period)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            <CohortRow
              cohort={group.total}
              shares={numbers.map((period) => shareOver(group, period, isBegun))}
              by={by}
              onOpen={open}
            />
            {group.cohorts.map((cohort) => (
              <CohortRow
                key={cohort.cohort}
                cohort={cohort}
                shares={numbers.map((period) => shareOver({ cohorts: [cohort] }, period, isBegun))}
                by={by}
                onOpen={open}
              />
            ))}
          </tbody>
        </table>
      </section>
      {opened && <UsersDialog opened={opened} onClose={() => setOpened(undefined)} />}
    </section>
  );
}

type CohortRowProps = {
  cohort: Cohort;
  /** Of each period; undefined: it has not begun. */
  shares: readonly (number | undefined)[];
  by: RetentionQuestion["by"];
  onOpen: (cell: Pick<RetentionCell, "cohort" | "period">, title: string) => void;
};

function CohortRow({ cohort: { cohort, users, returned }, shares, by, onOpen }: CohortRowProps) {
  const text = useTexts(questionTexts);
  const { number, percent } = useFormat();
  const name = cohort ?? text.allCohorts;
  const of = cohort === undefined ? {} : { cohort };
  return (
    <tr className={cohort === undefined ? "heat-all" : undefined}>
      <th scope="row">{name}</th>
      <td className="number">
        <button
          type="button"
          className="number-button"
          aria-label={text.entered(name, number(users))}
          onClick={() => onOpen(of, name)}
        >
          {number(users)}
        </button>
      </td>
      {shares.map((value, period) => {
        if (value === undefined) return <td key={period} />;
        const back = returned[period] ?? 0;
        const heat = { "--heat": value } as CSSProperties;
        const title = text.period[by](period);
        const share = percent(value);
        return (
          <td key={period} className="heat" style={heat}>
            <button
              type="button"
              className="number-button"
              aria-label={text.returned(share, { cohort: name, period: title, users: number(back) })}
              onClick={() => onOpen({ ...of, period }, `${name} · ${title}`)}
            >
              {share}
            </button>
          </td>
        );
      })}
    </tr>
  );
}

function useIsBegun(by: RetentionQuestion["by"]): IsBegun {
  const today = useToday();
  return (cohort, period) => addDays(cohort, period * (by === "week" ? 7 : 1)) <= today;
}

function csvRows({ total, cohorts }: RetentionGroup, heads: { cohort: string; users: string }): CsvRow[] {
  const header = [heads.cohort, heads.users, ...total.returned.map((_, period) => period)];
  return [
    header,
    ["", total.users, ...total.returned],
    ...cohorts.map((one) => [one.cohort, one.users, ...one.returned]),
  ];
}
