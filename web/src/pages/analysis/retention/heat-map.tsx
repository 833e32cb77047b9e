import { type CSSProperties, useState } from "react";
import type { RetentionCell, RetentionGroup } from "../../../../../src/contract/analysis/retention.ts";
import { useFormat } from "../../../format.ts";
import { useTexts } from "../../../texts.ts";
import { useGroupName } from "../answer/group-name.ts";
import { type Opened, UsersDialog } from "../answer/users-dialog.tsx";
import { questionTexts } from "../question-texts.ts";
import { type AskedRetention, type Figure, useFigure } from "./figure.ts";
import "../../overview/overview.css";

type Cohort = Pick<RetentionGroup["total"], "users" | "returned"> & { cohort?: string };

/** A row for each cohort, a column for each period. Every number opens to its users. */
export function HeatMap({ asked, group }: { asked: AskedRetention; group: RetentionGroup }) {
  const text = useTexts(questionTexts);
  const groupName = useGroupName(asked.question.split);
  const [opened, setOpened] = useState<Opened>();
  const { by, periods } = asked.question;
  const numbers = Array.from({ length: periods + 1 }, (_, period) => period);
  const figure = useFigure(asked.question);
  const label = figure.kind === "share" ? text.retention : text.valueMap;
  const { kind } = group;
  const open = (cell: Pick<RetentionCell, "cohort" | "period">, title: string) => {
    const named: RetentionCell = { ...cell, kind, ...(kind === "group" && { group: group.group }) };
    setOpened({ name: "retention", question: asked.question, cell: named, title: `${groupName(group)} · ${title}` });
  };
  const rows = [
    { cohort: group.total, of: group },
    ...group.cohorts.map((cohort) => ({ cohort, of: { cohorts: [cohort] } })),
  ].map(({ cohort, of }) => ({ cohort, values: numbers.map((period) => figure.over(of, period)) }));
  const hottest =
    figure.kind === "share" ? 1 : Math.max(0, ...rows.flatMap(({ values }) => values.map((one) => one ?? 0)));
  return (
    <section className="card stack tight">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled must be reachable by keyboard */}
      <section className="heat-frame" aria-label={label} tabIndex={0}>
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
            {rows.map(({ cohort, values }, index) => (
              <CohortRow
                key={index}
                cohort={cohort}
                values={values}
                figure={figure}
                hottest={hottest}
                periodName={text.period[by]}
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
  values: readonly (number | undefined)[];
  figure: Figure;
  /** The value that is coloured most. */
  hottest: number;
  periodName: (period: number) => string;
  onOpen: (cell: Pick<RetentionCell, "cohort" | "period">, title: string) => void;
};

function CohortRow({
  cohort: { cohort, users, returned },
  values,
  figure,
  hottest,
  periodName,
  onOpen,
}: CohortRowProps) {
  const text = useTexts(questionTexts);
  const { number } = useFormat();
  const name = cohort ?? text.allCohorts;
  const of = cohort === undefined ? {} : { cohort };
  const described = figure.kind === "share" ? text.returned : text.worth;
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
      {values.map((value, period) => {
        if (value === undefined) return <td key={period} />;
        // A value can be below zero, such as refunds; nothing is colder than none.
        const heat = { "--heat": hottest === 0 ? 0 : Math.max(0, value / hottest) } as CSSProperties;
        const title = periodName(period);
        const shown = figure.shown(value);
        const back = number(returned[period] ?? 0);
        return (
          <td key={period} className="heat" style={heat}>
            <button
              type="button"
              className="number-button"
              aria-label={described(shown, { cohort: name, period: title, users: back })}
              onClick={() => onOpen({ ...of, period }, `${name} · ${title}`)}
            >
              {shown}
            </button>
          </td>
        );
      })}
    </tr>
  );
}
