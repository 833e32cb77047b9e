import type { CSSProperties } from "react";
import { addDays } from "../../format.ts";
import { useValueTexts } from "../../report/value.ts";
import { useTexts } from "../../texts.ts";
import { type Asked, numberOf, type OverviewAnswers, RETENTION_DAYS, retentionOf } from "./questions.ts";
import { texts } from "./texts.ts";

const COHORTS_MAX = 60;

/** A table rather than a chart, so that each number can be read; the colours only show the pattern. */
export function HeatMap({ answers, asked }: { answers: OverviewAnswers; asked: Asked }) {
  const text = useTexts(texts);
  const { value } = useValueTexts();
  const { items, total } = answers.report("range")!;
  const cohorts = items.filter((item) => numberOf(item, "AppActivateStandard") > 0).reverse();
  const shown = cohorts.slice(0, COHORTS_MAX);
  const greatest = Math.max(...shown.flatMap((item) => RETENTION_DAYS.map((day) => numberOf(item, retentionOf(day)))));
  return (
    <section className="card stack tight titled">
      <h2>{text.retention}</h2>
      <p className="soft small">
        {text.retentionAbout} {cohorts.length > COHORTS_MAX && text.lastCohorts(COHORTS_MAX)}
      </p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what can be scrolled must be reachable by keyboard */}
      <section className="heat-frame" aria-label={text.retention} tabIndex={0}>
        <table className="heat-map">
          <thead>
            <tr>
              <th scope="col">{text.cohort}</th>
              <th scope="col" className="number">
                {text.users}
              </th>
              {RETENTION_DAYS.map((day) => (
                <th key={day} scope="col">
                  {text.dayNumber(day)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            <tr className="heat-all">
              <th scope="row">{text.all}</th>
              <td className="number">{value("count", numberOf(total[0], "AppActivateStandard"))}</td>
              {RETENTION_DAYS.map((day) => {
                const row = answers.report(`day ${day}`)?.total[0];
                return <HeatCell key={day} share={row && numberOf(row, retentionOf(day))} greatest={greatest} />;
              })}
            </tr>
            {shown.map((item) => (
              <tr key={item.date}>
                <th scope="row">{item.date}</th>
                <td className="number">{value("count", numberOf(item, "AppActivateStandard"))}</td>
                {RETENTION_DAYS.map((day) => {
                  const on = addDays(String(item.date), day);
                  const share = on > asked.today ? undefined : numberOf(item, retentionOf(day));
                  return <HeatCell key={day} share={share} greatest={greatest} isOpen={on === asked.today} />;
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}

type HeatCellProps = { share: number | undefined; greatest: number; isOpen?: boolean };

/** `isOpen`: the day is today, so the number may still grow. */
function HeatCell({ share, greatest, isOpen = false }: HeatCellProps) {
  const text = useTexts(texts);
  const { value } = useValueTexts();
  if (share === undefined) return <td />;
  const heat = { "--heat": greatest === 0 ? 0 : Math.min(1, share / greatest) } as CSSProperties;
  return (
    <td className={`heat ${isOpen ? "open" : ""}`} style={heat} title={isOpen ? text.notOver : undefined}>
      {value("rate", share)}
    </td>
  );
}
